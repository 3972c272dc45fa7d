package berth

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// said is a line of an agent's that is one event.
func said(text string) string {
	return `echo '{"type":"assistant","session_id":"s-1","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` +
		text + `"}]}}'` + "\n"
}

// onlooker is a subscriber from the first event on.
func onlooker(t *testing.T, ctx context.Context, run *AgentRun) *AgentSubscription {
	t.Helper()
	subscription, err := run.Subscribe(ctx, 1)
	must(t, err)
	t.Cleanup(func() { subscription.Close() })
	return subscription
}

func TestALateSubscriberIsGivenWhatHasBeen(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state,
		Command: agentProgram(t, agentInit+agentResult)})
	must(t, err)
	defer run.Close()
	var events []*AgentEvent
	for {
		event, err := run.Next(ctx)
		must(t, err)
		if event == nil {
			break
		}
		events = append(events, event)
	}
	late := onlooker(t, ctx, run)
	for i, expected := range events {
		if late.Position() != int64(i+1) {
			t.Fatal(i, late.Position())
		}
		event, missed, err := late.Next(ctx)
		if err != nil || missed != 0 || event.JSON != expected.JSON || !strings.Contains(event.JSON, event.Kind.String()) {
			t.Fatal(event, missed, err)
		}
	}
	if event, missed, err := late.Next(ctx); err != io.EOF || missed != 0 {
		t.Fatal(event, missed, err)
	}
	if _, err := run.Subscribe(ctx, -1); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
}

func TestASlowSubscriberIsToldWhatItMissed(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state, KeptEvents: 2,
		Command: agentProgram(t, agentInit+said("one")+said("two")+said("three")+agentResult)})
	must(t, err)
	defer run.Close()
	slow := onlooker(t, ctx, run)
	_, err = run.Drive(ctx)
	must(t, err)
	must(t, run.Close()) // which it outlives
	first, missed, err := slow.Next(ctx)
	if err != nil || missed < 3 || first.Sequence != missed+1 {
		t.Fatal(first, missed, err)
	}
	last, none, err := slow.Next(ctx)
	if err != nil || none != 0 || last.Kind != AgentResulted || last.Sequence != missed+2 {
		t.Fatal(last, none, err)
	}
	if _, _, err := slow.Next(ctx); err != io.EOF {
		t.Fatal(err)
	}
}

func TestASubscriberWaitsUntilTheRunGoesOn(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state,
		Command: agentProgram(t, agentInit+agentResult)})
	must(t, err)
	defer run.Close()
	subscription := onlooker(t, ctx, run)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if event, _, err := subscription.Next(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(event, err) // nobody drives it
	}
	count := make(chan int64)
	go func() {
		seen := int64(0)
		for {
			if _, missed, err := subscription.Next(ctx); err != nil || missed != 0 {
				count <- seen
				return
			}
			seen++
		}
	}()
	_, err = run.Drive(ctx)
	must(t, err)
	if seen := <-count; seen < 3 || subscription.Position() != seen+1 {
		t.Fatal(seen, subscription.Position())
	}
}

func TestASubscriptionThatIsClosedEndsAWait(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state,
		Command: agentProgram(t, agentInit+"exec sleep 1000\n")})
	must(t, err)
	defer run.Close()
	subscription, err := run.Subscribe(ctx, 0)
	must(t, err)
	ended := make(chan error)
	go func() {
		_, _, err := subscription.Next(context.Background())
		ended <- err
	}()
	must(t, subscription.Close())
	if err := <-ended; !errors.Is(err, Cancelled) {
		t.Fatal(err)
	}
	if _, _, err := subscription.Next(ctx); !errors.Is(err, Cancelled) || subscription.Position() != -1 {
		t.Fatal(err)
	}
	must(t, subscription.Close())
}
