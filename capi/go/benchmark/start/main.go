// How long a start takes, from a Go program with as many threads as GOMAXPROCS, and 32 more: start COUNT STATE_DIR prints
// the median in nanoseconds.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"berth.dev/berth"
)

func run(count int, state string) error {
	hold := make(chan struct{})
	defer close(hold)
	for i := 0; i < runtime.GOMAXPROCS(0)+32; i++ {
		ready := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(ready)
			<-hold
		}()
		<-ready
	}
	r, err := berth.NewRuntime(state)
	if err != nil {
		return err
	}
	defer r.Close()
	ctx := context.Background()
	command := berth.Command{Args: []string{"/bin/true"}, Stdout: berth.Null(), Stderr: berth.Null()}
	var times []time.Duration
	for i := 0; i < 20+count; i++ {
		begin := time.Now()
		process, err := r.Spawn(ctx, command)
		if err != nil {
			return err
		}
		times = append(times, time.Since(begin))
		if _, err := process.Wait(ctx); err != nil {
			return err
		}
		process.Close()
	}
	times = times[20:] // the first ones warm up
	slices.Sort(times)
	fmt.Println(times[count/2].Nanoseconds())
	return nil
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = run(count, os.Args[2])
	}
	if err != nil {
		log.Fatal(err)
	}
}
