package berth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestOrphaner is not a test of its own: it is the program that is killed in the next one.
func TestOrphaner(t *testing.T) {
	state := os.Getenv("BERTH_ORPHANER_STATE")
	if state == "" {
		return
	}
	runtime, err := NewRuntime(state)
	must(t, err)
	ctx := context.Background()
	session, err := runtime.CreateSession(ctx, "orphan", Ephemeral(),
		Shell("setsid sleep 1000 & (setsid sleep 1000 &); echo $!; exec sleep 1000"))
	must(t, err)
	output, err := session.Stdout(ctx)
	must(t, err)
	daemon, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	fmt.Println("\ndaemon", strings.TrimSpace(daemon))
	select {}
}

// startOwner starts that program; it has made its session, of which the pid is one process.
func startOwner(t *testing.T, state string) (owner *exec.Cmd, pid int) {
	t.Helper()
	owner = exec.Command(os.Args[0], "-test.run=^TestOrphaner$", "-test.v")
	owner.Env = append(os.Environ(), "BERTH_ORPHANER_STATE="+state)
	output, err := owner.StdoutPipe()
	must(t, err)
	must(t, owner.Start())
	for lines := bufio.NewScanner(output); pid == 0 && lines.Scan(); {
		if number, found := strings.CutPrefix(lines.Text(), "daemon "); found {
			pid, err = strconv.Atoi(number)
			must(t, err)
		}
	}
	return owner, pid
}

func kill(t *testing.T, owner *exec.Cmd) {
	t.Helper()
	must(t, owner.Process.Kill())
	owner.Wait()
}

func TestOrphansOfAKilledOwnerAreGoneAfterOneSweepAndTheLivingStay(t *testing.T) {
	runtime, state, ctx := place(t)
	mine, err := runtime.CreateSession(ctx, "mine", Argv("cat"))
	must(t, err)
	owner, pid := startOwner(t, state)
	daemon, err := Identify(pid)
	must(t, err)
	kill(t, owner)
	report, err := Sweep(ctx, state, SweepOptions{Grace: time.Millisecond})
	if err != nil || report.Failed != 0 {
		t.Fatal(report.JSON, err)
	}
	if dead, err := daemon.Liveness(); err != nil || dead != Dead {
		t.Fatal(dead, err)
	}
	if _, err := runtime.Find(ctx, "orphan"); !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
	if alive, _, err := mine.Liveness(ctx); err != nil || alive != Alive {
		t.Fatal(alive, err)
	}
	item, err := ExplainSweep(ctx, state, "mine", SweepOptions{})
	if err != nil || item.Verdict != Keep || len(item.Because) == 0 {
		t.Fatal(item, err)
	}
}

// removedALease: of a killed owner, which nobody but a sweep removes.
func removedALease(report SweepReport) bool {
	return slices.ContainsFunc(report.Items, func(item SweepItem) bool {
		return item.Kind == "lease" && item.Result == SweptDone
	})
}

func TestAWatchSweepsWhenAnOwnerEnds(t *testing.T) {
	_, state, ctx := place(t)
	watch, err := WatchSweeps(ctx, state, SweepOptions{Settle: 10 * time.Millisecond})
	must(t, err)
	defer watch.Close()
	first, err := watch.Next(ctx)
	if err != nil || first.Failed != 0 || removedALease(first) {
		t.Fatal(first.JSON, err)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := watch.Next(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	owner, _ := startOwner(t, state)
	if _, err := watch.Next(ctx); err != nil { // of the new owner
		t.Fatal(err)
	}
	kill(t, owner)
	for {
		report, err := watch.Next(ctx)
		must(t, err)
		if removedALease(report) {
			break
		}
	}
}

func TestAWatchThatIsClosedEndsAWait(t *testing.T) {
	_, state, ctx := place(t)
	watch, err := WatchSweeps(ctx, state, SweepOptions{})
	must(t, err)
	_, err = watch.Next(ctx)
	must(t, err)
	ended := make(chan error)
	go func() {
		_, err := watch.Next(context.Background())
		ended <- err
	}()
	watch.Close()
	if err := <-ended; !errors.Is(err, Cancelled) {
		t.Fatal(err)
	}
	if _, err := WatchSweeps(ctx, state, SweepOptions{Only: []string{"("}}); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
}

func TestAReportIsReadByAnotherProcess(t *testing.T) {
	runtime, state, ctx := place(t)
	_, err := runtime.CreateSession(ctx, "mine", Argv("cat"))
	must(t, err)
	report, err := Sweep(ctx, state, SweepOptions{DryRun: true, ShowKept: true})
	must(t, err)
	if report.Sessions != 1 || report.Passes < 1 || report.Took <= 0 || report.ExitCode != 0 {
		t.Fatal(report.JSON)
	}
	if !strings.Contains(report.Text, "mine") || !strings.Contains(report.Metrics, "# TYPE berth_reaper") {
		t.Fatal(report.Text, report.Metrics)
	}
	again, err := ParseSweepReport(report.JSON)
	if err != nil || !reflect.DeepEqual(again.Items, report.Items) || again.Kept != 1 || again.Sessions != 1 {
		t.Fatal(again.JSON, err)
	}
	// A dry run that had nothing to plan is one all the same.
	if again.JSON != report.JSON || !strings.Contains(again.JSON, `"dry_run":true`) {
		t.Fatal(again.JSON, report.JSON)
	}
	if _, err := ParseSweepReport("[]"); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
}
