package berth_test

import (
	"context"
	"fmt"
	"io"

	"berth.dev/berth"
)

func ExampleEnv_Beneath() {
	project := berth.CleanEnv().Set("LEVEL", "project").Set("COLOUR", "no")
	entries, err := berth.CleanEnv().Set("LEVEL", "task").Beneath(project).Resolve()
	fmt.Println(entries, err)
	// Output: [LEVEL=task COLOUR=no] <nil>
}

func ExamplePolicy_Limit() {
	policy, err := berth.NewPolicy("", "", berth.WithLimit(berth.Pids, 256))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.Limit(berth.Pids), policy.Limit(berth.Memory), policy.Tier())
	// Output: 256 -1 auto
}

// One goroutine drives the run, others look on.
func ExampleAgentRun_Subscribe() {
	lookOn := func(ctx context.Context, run *berth.AgentRun) error {
		events, err := run.Subscribe(ctx, 1)
		if err != nil {
			return err
		}
		defer events.Close()
		for {
			event, missed, err := events.Next(ctx)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			fmt.Println(missed, "missed, then", event.Kind, event.Text)
		}
	}
	_ = lookOn
}

// What the runs of a state directory did, also those of other processes.
func ExampleOpenAgentLog() {
	show := func(ctx context.Context, stateDir string) error {
		runs, err := berth.AgentRuns(ctx, stateDir)
		for _, run := range runs {
			events, end, err := berth.AgentEvents(ctx, stateDir, run)
			if err != nil {
				return err
			}
			fmt.Println(run, len(events), "events")
			if end != nil {
				fmt.Println(end.Reason, end.Usage.CostUSD)
			}
		}
		return err
	}
	_ = show
}
