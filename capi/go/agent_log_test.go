package berth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestALogIsFollowedWhileItsRunGoesOn(t *testing.T) {
	runtime, state, ctx := place(t)
	before := time.Now()
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state, SessionName: "fix-42",
		StoryID: "story-9", Name: "tester", Command: agentProgram(t, agentInit+agentResult)})
	must(t, err)
	defer run.Close()
	log, err := OpenAgentLog(ctx, state, "fix-42")
	must(t, err)
	defer log.Close()
	if log.RunID != run.RunID() || log.SessionName != "fix-42" || log.Agent != "claude" || log.AgentName != "tester" ||
		log.StoryID != "story-9" || log.Started.Before(before.Add(-time.Second)) || log.Abandoned() {
		t.Fatalf("%+v", log)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if event, err := log.Next(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(event, err) // nobody drives the run
	}
	followed := make(chan error)
	var kinds []AgentEventKind
	go func() {
		for {
			event, err := log.Next(ctx)
			if err != nil {
				followed <- err
				return
			}
			kinds = append(kinds, event.Kind)
		}
	}()
	result, err := run.Drive(ctx)
	must(t, err)
	if err := <-followed; err != io.EOF || !slices.Contains(kinds, AgentText) || kinds[len(kinds)-1] != AgentResulted {
		t.Fatal(kinds, err)
	}
	end, err := log.End()
	if err != nil || end == nil || end.Text != result.Text || !strings.Contains(end.JSON, `"session_id":"s-1"`) {
		t.Fatal(end, err)
	}
	if runs, err := AgentRuns(ctx, state); err != nil || len(runs) != 1 || runs[0] != run.RunID() {
		t.Fatal(runs, err)
	}
	if _, err := OpenAgentLog(ctx, state, "nobody"); !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
}

func TestLinesOfALogThatMeanNothingAreCounted(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state,
		Command: agentProgram(t, agentInit+agentResult)})
	must(t, err)
	_, err = run.Drive(ctx)
	must(t, err)
	id := run.RunID()
	must(t, run.Close())
	file, err := os.OpenFile(filepath.Join(state, "agents", id+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString("not a line of ours\n")
	must(t, err)
	must(t, file.Close())
	log, err := OpenAgentLog(ctx, state, id)
	must(t, err)
	for err == nil {
		_, err = log.Next(ctx)
	}
	if err != io.EOF || log.Unreadable() != 1 || !log.Abandoned() {
		t.Fatal(err, log.Unreadable())
	}
	must(t, log.Close())
	if _, err := log.Next(ctx); !errors.Is(err, Cancelled) {
		t.Fatal(err)
	}
}

// TestAgentOwner is not a test of its own: it is the program that is killed in the next one.
func TestAgentOwner(t *testing.T) {
	state := os.Getenv("BERTH_AGENT_OWNER_STATE")
	if state == "" {
		return
	}
	runtime, err := NewRuntime(state)
	must(t, err)
	ctx := context.Background()
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", StateDir: state, SessionName: "orphan",
		Command: os.Getenv("BERTH_AGENT_OWNER_PROGRAM")})
	must(t, err)
	_, err = run.Next(ctx)
	must(t, err)
	fmt.Println("\nstarted", run.RunID())
	run.Next(ctx)
}

func TestTheLogOfAKilledOwnerIsAbandoned(t *testing.T) {
	runtime, state, ctx := place(t)
	owner := exec.Command(os.Args[0], "-test.run=^TestAgentOwner$", "-test.v")
	owner.Env = append(os.Environ(), "BERTH_AGENT_OWNER_STATE="+state,
		"BERTH_AGENT_OWNER_PROGRAM="+agentProgram(t, agentInit+"exec sleep 1000\n"))
	output, err := owner.StdoutPipe()
	must(t, err)
	must(t, owner.Start())
	id := ""
	for lines := bufio.NewScanner(output); id == "" && lines.Scan(); {
		id, _ = strings.CutPrefix(lines.Text(), "started ")
		if id == lines.Text() {
			id = ""
		}
	}
	session, err := runtime.Find(ctx, "orphan")
	must(t, err)
	log, err := OpenAgentLog(ctx, state, id)
	must(t, err)
	defer log.Close()
	if event, err := log.Next(ctx); err != nil || event.Kind != AgentStarted || log.Abandoned() {
		t.Fatal(event, err)
	}
	kill(t, owner)
	if event, err := log.Next(ctx); err != io.EOF || !log.Abandoned() {
		t.Fatal(event, err)
	}
	if end, err := log.End(); end != nil || err != nil {
		t.Fatal(end, err)
	}
	must(t, session.Destroy(ctx, 0))
}
