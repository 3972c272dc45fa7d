package berth

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	agentInit = `echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m"}'
`
	agentResult = `echo '{"type":"assistant","session_id":"s-1","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":3,"output_tokens":4}}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s-1","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":3,"output_tokens":4}}'
`
)

func agentProgram(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	must(t, os.WriteFile(path, []byte("#!/bin/sh\ncat >/dev/null\n"+text), 0o700))
	return path
}

func TestAPolicyIsWhatWasSaidAndDangersAreNamed(t *testing.T) {
	policy, err := AgentPolicy("/srv/project", AllowDomains("github.com"), WithLimit(Memory, 1<<30))
	must(t, err)
	again, err := ParsePolicy(policy.String())
	must(t, err)
	if again.Hash() != policy.Hash() {
		t.Fatal(policy, again)
	}
	other, err := policy.With(WithLimit(Pids, 7))
	must(t, err)
	if other.Hash() == policy.Hash() {
		t.Fatal(other)
	}
	_, err = AgentPolicy("/srv/project", Path(ReadWrite, "/a/../b", ""))
	if !errors.Is(err, InvalidArgument) || !strings.Contains(err.Error(), "..") {
		t.Fatal(err)
	}
	weak, err := NewPolicy("strict", "", DangerousSeccompOff())
	must(t, err)
	if _, err := ParsePolicy(weak.String()); !errors.Is(err, PermissionDenied) {
		t.Fatal(err)
	}
	_, err = DangerousParsePolicy(weak.String())
	must(t, err)
	abilities, err := Doctor(context.Background(), filepath.Join(t.TempDir(), "state"))
	if err != nil || len(abilities) == 0 {
		t.Fatal(abilities, err)
	}
}

func TestAProcessUnderAPolicyIsHeldByIt(t *testing.T) {
	runtime, _, ctx := place(t)
	work := t.TempDir()
	policy, err := AgentPolicy(work)
	must(t, err)
	_, _, err = policy.Check(ctx)
	must(t, err)
	process, err := runtime.Spawn(ctx, Command{Shell: "unshare -U true 2>/dev/null; touch made; echo end", Dir: work, Policy: policy})
	must(t, err)
	defer process.Close()
	output, err := process.TakeStdout()
	must(t, err)
	text, err := io.ReadAll(output)
	must(t, err)
	if string(text) != "end\n" {
		t.Fatalf("%q", text)
	}
	_, err = process.Wait(ctx)
	must(t, err)
	violations, err := process.Violations(ctx)
	must(t, err)
	if len(violations) == 0 || violations[0].Layer != LayerSyscall || !strings.Contains(violations[0].What, "unshare") {
		t.Fatal(violations)
	}
}

func TestChangesAreKeptApartUntilTheyAreWanted(t *testing.T) {
	runtime, _, ctx := place(t)
	work := t.TempDir()
	policy, err := AgentPolicy(work, Path(CopyOnWrite, work, ""))
	must(t, err)
	session, err := runtime.CreateSession(ctx, "apart", Shell("printf abc >new"), Dir(work), WithPolicy(policy))
	must(t, err)
	_, err = session.Wait(ctx)
	must(t, err)
	changes, err := session.Changes(ctx)
	must(t, err)
	if len(changes) != 1 || changes[0] != (Change{Added, work, "new", 3, TypeFile}) {
		t.Fatal(changes)
	}
	if _, err := os.Stat(filepath.Join(work, "new")); err == nil {
		t.Fatal("it is there already")
	}
	must(t, session.KeepChanges(ctx))
	_, err = os.Stat(filepath.Join(work, "new"))
	must(t, err)
}

func TestAnAgentRunsToItsEndAndTellsWhatItUsed(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "do it", Command: agentProgram(t, agentInit+agentResult),
		SessionName: "fix-42", StateDir: state, MaxTime: time.Minute})
	must(t, err)
	defer run.Close()
	seen := map[AgentEventKind]bool{}
	count := 0
	for {
		event, err := run.Next(ctx)
		must(t, err)
		if event == nil {
			break
		}
		count++
		seen[event.Kind] = true
	}
	if !run.Finished() || !seen[AgentStarted] || !seen[AgentText] || !seen[AgentResulted] {
		t.Fatal(seen)
	}
	result, err := run.Result()
	must(t, err)
	if result.Reason != AgentEndSuccess || result.Text != "ok" || result.Usage.CostUSD != 0.25 || result.Tallied.Output != 4 {
		t.Fatalf("%+v", result)
	}
	logged, end, err := AgentEvents(ctx, state, run.RunID())
	must(t, err)
	if len(logged) != count || end == nil || end.SessionID != "s-1" {
		t.Fatal(len(logged), count, end)
	}
}

func TestAnAgentIsStoppedAndItsContextEndsAWait(t *testing.T) {
	runtime, state, ctx := place(t)
	run, err := runtime.StartAgent(ctx, Agent{Driver: "claude", Prompt: "x", Command: agentProgram(t, agentInit+"exec sleep 1000\n"),
		StateDir: state})
	must(t, err)
	defer run.Close()
	event, err := run.Next(ctx)
	if err != nil || event.Kind != AgentStarted {
		t.Fatal(event, err)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := run.Next(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	must(t, run.Stop())
	result, err := run.Drive(ctx)
	if err != nil || result.Reason != AgentEndStopped {
		t.Fatal(result, err)
	}
}

func TestALeasedPortIsNobodyElses(t *testing.T) {
	_, state, ctx := place(t)
	lease, err := LeasePort(state, 0)
	must(t, err)
	if IsFreePort(lease.Port()) || !IsBoundPort(lease.Port()) {
		t.Fatal(lease.Port())
	}
	if _, err := LeasePort(state, lease.Port()); !errors.Is(err, AlreadyExists) {
		t.Fatal(err)
	}
	listener, err := lease.Listen()
	must(t, err)
	client, err := net.Dial("tcp4", listener.Addr().String())
	must(t, err)
	client.Close()
	listener.Close()
	must(t, lease.ReleaseSocket())
	must(t, WaitUnbound(ctx, lease.Port()))
	port := lease.Port()
	must(t, lease.Close())
	must(t, lease.Close())
	again, err := LeasePort(state, port)
	must(t, err)
	must(t, again.Close())
	if port, err := FindFreePort(); err != nil || !IsFreePort(port) {
		t.Fatal(port, err)
	}
}

func TestAnEnvironmentHoldsSeveralProcesses(t *testing.T) {
	runtime, _, ctx := place(t)
	tools, err := runtime.NewEnvironment("tools", Backend("native"))
	must(t, err)
	defer tools.Close()
	if _, err := tools.Start(ctx, Command{Shell: "true"}); !errors.Is(err, FailedPrecondition) {
		t.Fatal(err)
	}
	must(t, tools.Init(ctx))
	first, err := tools.Start(ctx, Command{Shell: "exit 3", Name: "install"})
	must(t, err)
	defer first.Close()
	second, err := tools.Start(ctx, Command{Shell: "exit 4", WaitOn: []string{"install"}})
	must(t, err)
	defer second.Close()
	if exit, err := second.Wait(ctx); err != nil || exit.Code != 4 {
		t.Fatal(exit, err)
	}
	if exit, err := tools.Run(ctx, Command{Shell: "exit 5", WaitOn: []string{"install"}}); err != nil || exit.Code != 5 {
		t.Fatal(exit, err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if exit, err := tools.Run(short, Command{Args: []string{"sleep", "1000"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(exit, err)
	}
	if err := tools.CheckBinary(ctx, "no-such-thing"); !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
	must(t, tools.Shutdown(ctx, 0))
	if backend, reason, err := runtime.Choose(ctx, Backend("native")); err != nil || backend != "native" || reason == "" {
		t.Fatal(backend, reason, err)
	}
}

func TestAProcessIsKnownByMoreThanItsPid(t *testing.T) {
	runtime, _, ctx := place(t)
	process, err := runtime.Spawn(ctx, Command{Args: []string{"sleep", "1000"}})
	must(t, err)
	identity, err := Identify(process.Pid())
	must(t, err)
	if tracked, err := identity.Track(); err != nil || tracked.MemoryBytes < 0 || tracked.State == ProcessNotFound {
		t.Fatal(tracked, err)
	}
	process.Close()
	if dead, err := identity.Liveness(); err != nil || dead != Dead {
		t.Fatal(dead, err)
	}
	if _, err := InspectImage(ctx, "unix:///nonexistent/docker.sock", "alpine"); !errors.Is(err, Unavailable) {
		t.Fatal(err)
	}
}
