package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"berth.dev/berth"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	runtime := must(berth.NewRuntime(""))
	defer runtime.Close()
	session := must(runtime.CreateSession(ctx, "fix-42", berth.Shell("read order; echo agent: $order")))
	defer session.Destroy(ctx, 5*time.Second)
	must(session.Send(ctx, "run the tests"))
	end := must(session.Wait(ctx))
	fmt.Print(must(session.Capture(ctx, 10)), end, "\n")
}
