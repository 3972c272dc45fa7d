// A mini orchestrator: three agents side by side, each in a sandbox of its own; send, stream, kill, sweep.
//
//	orchestrator STATE_DIR WORKSPACE
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"berth.dev/berth"
)

// An agent is any program that talks on its terminal; here a line reader stands for one.
const program = `while read -r task; do echo "$0 did $task"; done`

func run(ctx context.Context, state, workspace string) error {
	runtime, err := berth.NewRuntime(state)
	if err != nil {
		return err
	}
	defer runtime.Close()
	policy, err := berth.AgentPolicy(workspace, berth.WithLimit(berth.Memory, 1<<30), berth.WithLimit(berth.Pids, 64))
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var agents []*berth.Session
	for _, name := range []string{"ada", "grace", "linus"} {
		agent, err := runtime.CreateSession(ctx, name, berth.Argv("/bin/sh", "-c", program, name), berth.Dir(workspace),
			berth.WithPolicy(policy))
		if err != nil {
			return err
		}
		agents = append(agents, agent)
		output, err := agent.Stdout(ctx)
		if err != nil {
			return err
		}
		if deadline, ok := ctx.Deadline(); ok {
			output.SetReadDeadline(deadline)
		}
		group.Add(1)
		go func(name string) {
			defer group.Done()
			defer output.Close()
			for lines := bufio.NewScanner(output); lines.Scan(); {
				if strings.Contains(lines.Text(), name+" did the tests") {
					fmt.Println(name + ": said so")
					return
				}
			}
		}(name)
		if _, err := agent.Send(ctx, "the tests"); err != nil {
			return err
		}
	}
	group.Wait()

	// One is stopped, all are destroyed; then nothing may be left to sweep.
	exit, err := agents[0].Stop(ctx, time.Second)
	if err != nil {
		return err
	}
	fmt.Println("ada:", exit)
	for _, agent := range agents {
		if err := agent.Destroy(ctx, time.Second); err != nil {
			return err
		}
	}
	report, err := berth.Sweep(ctx, state, berth.SweepOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("swept: %d done, %d failed\n", report.Done, report.Failed)
	return nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatalf("usage: %s STATE_DIR WORKSPACE", os.Args[0])
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
