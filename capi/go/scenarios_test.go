package berth

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// place is a runtime in a state directory of its own; at its end no session may be left.
func place(t *testing.T) (*Runtime, string, context.Context) {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv("TEST_TMPDIR"), "g")
	must(t, err)
	state := filepath.Join(dir, "state")
	runtime, err := NewRuntime(state)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		cancel()
		infos, err := runtime.List(context.Background())
		must(t, err)
		for _, info := range infos {
			session, err := runtime.Open(context.Background(), info.Handle)
			must(t, err)
			must(t, session.Destroy(context.Background(), 0))
		}
		runtime.Close()
		left, _ := os.ReadDir(filepath.Join(state, "sessions"))
		if len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		os.RemoveAll(dir)
	})
	return runtime, state, ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readUntil(t *testing.T, file io.ReadCloser, text string) string {
	t.Helper()
	defer file.Close()
	var all bytes.Buffer
	buffer := make([]byte, 65536)
	for !strings.Contains(all.String(), text) {
		n, err := file.Read(buffer)
		all.Write(buffer[:n])
		if err != nil {
			t.Fatalf("%v; got %q", err, all.String())
		}
	}
	return all.String()
}

func TestLifecycle(t *testing.T) {
	runtime, _, ctx := place(t)
	session, err := runtime.CreateSession(ctx, "one", Argv("cat"))
	must(t, err)
	if alive, reason, err := session.Liveness(ctx); err != nil || alive != Alive {
		t.Fatal(alive, reason, err)
	}
	if delivery, err := session.Send(ctx, "hello there"); err != nil || delivery != Submitted {
		t.Fatal(delivery, err)
	}
	output, err := session.Stdout(ctx)
	must(t, err)
	readUntil(t, output, "hello there\r\nhello there\r\n")
	if screen, err := session.Capture(ctx, 0); err != nil || screen != "hello there\nhello there\n" {
		t.Fatalf("%q %v", screen, err)
	}
	must(t, session.Destroy(ctx, 5*time.Second))
	if dead, _, err := session.Liveness(ctx); err != nil || dead != Dead {
		t.Fatal(dead, err)
	}
	must(t, session.Destroy(ctx, 5*time.Second))
	if _, err := session.Send(ctx, "x"); !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
	if _, err := runtime.Open(ctx, session.Handle()); !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
	if _, err := runtime.Open(ctx, "native:nobody"); !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
}

func TestNamesAndKeysThatAreWrongAreRefused(t *testing.T) {
	runtime, _, ctx := place(t)
	for _, name := range []string{"../x", "a b", "", "$(id)", "a\nb"} {
		if _, err := runtime.CreateSession(ctx, name, Shell("true")); !errors.Is(err, InvalidArgument) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, key := range []string{"A;B", "`id`", "$(id)", "1A", "A B", "", "=", "A\"B"} {
		command := Command{Shell: "true", Env: BasicEnv().Set(key, "value")}
		if _, err := runtime.Spawn(ctx, command); !errors.Is(err, InvalidArgument) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestValuesOfTheEnvironmentArriveByteByByte(t *testing.T) {
	runtime, _, ctx := place(t)
	values := []string{"\"double\" 'single' `back` $(id)", "two\nlines", "\xff\x80", strings.Repeat("x", 100<<10), ""}
	env := CleanEnv()
	expected := ""
	for i, value := range values {
		key := fmt.Sprintf("V%d", i)
		env = env.Set(key, value)
		expected += key + "=" + value + "\x00"
	}
	process, err := runtime.Spawn(ctx, Command{Args: []string{"/bin/cat", "/proc/self/environ"}, Env: env})
	must(t, err)
	defer process.Close()
	output, err := process.TakeStdout()
	must(t, err)
	entries, err := io.ReadAll(output)
	must(t, err)
	if string(entries) != expected {
		t.Fatalf("%d bytes for %d", len(entries), len(expected))
	}
}

func TestWhatIsSentArrivesByteExactOnceAndInOrder(t *testing.T) {
	runtime, _, ctx := place(t)
	session, err := runtime.CreateSession(ctx, "sink", Argv("cat"), Pipes(), Kept(0, 4<<20))
	must(t, err)
	million := make([]byte, 1<<20)
	for i := range million {
		million[i] = byte(uint32(i) * 2654435761 >> 24)
	}
	output, err := session.Stdout(ctx)
	must(t, err)
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(output)
		got <- all
	}()
	expected := ""
	for _, text := range []string{"Enter", "-x", "abc;", "~", "", string(million)} {
		_, err := session.SendWith(ctx, text, SendOptions{Until: Written})
		must(t, err)
		expected += text
	}
	must(t, session.CloseStdin(ctx))
	if string(<-got) != expected {
		t.Fatal("not what was sent")
	}
	exit, err := session.Wait(ctx)
	must(t, err)
	if !exit.Success() {
		t.Fatal(exit)
	}
}

func TestAWaitThatTimedOutThenAKillThenAWait(t *testing.T) {
	runtime, _, ctx := place(t)
	process, err := runtime.Spawn(ctx, Command{Args: []string{"sleep", "1000"}})
	must(t, err)
	defer process.Close()
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := process.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	must(t, process.Signal(ctx, syscall.SIGKILL))
	var group sync.WaitGroup
	for i := 0; i < 10; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if exit, err := process.Wait(ctx); err != nil || exit.Signal != syscall.SIGKILL || exit.Reason != EndStopped {
				t.Error(exit, err)
			}
		}()
	}
	group.Wait()
}

func TestFastExitsLoseNothing(t *testing.T) {
	runtime, _, ctx := place(t)
	for i := 0; i < 1000; i++ {
		process, err := runtime.Spawn(ctx, Command{Shell: fmt.Sprintf("echo %d; exit %d", i, i%256)})
		must(t, err)
		output, err := process.TakeStdout()
		must(t, err)
		text, err := io.ReadAll(output)
		must(t, err)
		output.Close()
		exit, err := process.Wait(ctx)
		must(t, err)
		if string(text) != fmt.Sprintf("%d\n", i) || exit.Code != i%256 {
			t.Fatalf("%d: %q %v", i, text, exit)
		}
		process.Close()
	}
}

func TestStreamsAreTakenOnceAndStayApart(t *testing.T) {
	runtime, _, ctx := place(t)
	process, err := runtime.Spawn(ctx, Command{Shell: "cat; echo err >&2; exit 3", Stdin: Pipe()})
	must(t, err)
	defer process.Close()
	input, err := process.TakeStdin()
	must(t, err)
	_, err = input.WriteString("text")
	must(t, err)
	must(t, input.Close())
	output, err := process.TakeStdout()
	must(t, err)
	errors_, err := process.TakeStderr()
	must(t, err)
	out, _ := io.ReadAll(output)
	errs, _ := io.ReadAll(errors_)
	if string(out) != "text" || string(errs) != "err\n" {
		t.Fatalf("%q %q", out, errs)
	}
	if _, err := process.TakeStdout(); !errors.Is(err, FailedPrecondition) {
		t.Fatal(err)
	}
	if exit, err := process.Wait(ctx); err != nil || exit.String() != "exited with code 3" {
		t.Fatal(exit, err)
	}
}

func TestOutputIsReadFromWhereItIsSaid(t *testing.T) {
	runtime, _, ctx := place(t)
	session, err := runtime.CreateSession(ctx, "two", Pipes(), Shell("printf 0123456789; printf abcdef >&2"),
		PortOn("127.0.0.1", 53, 0, true), WrappedFlake("/srv/project", ""), Backend("native"))
	must(t, err)
	_, err = session.Wait(ctx)
	must(t, err)
	for options, expected := range map[OutputOptions]string{
		{From: 4}: "456789", {Stderr: true, From: 2, Lag: 1 << 20}: "cdef", {Lag: -1}: "0123456789",
	} {
		file, begins, err := session.Output(ctx, options)
		must(t, err)
		text, err := io.ReadAll(file)
		if err != nil || string(text) != expected || begins != options.From {
			t.Errorf("%+v: %q from %d, %v", options, text, begins, err)
		}
		file.Close()
	}
}

func TestTheEndOfASessionIsAnEvent(t *testing.T) {
	runtime, _, ctx := place(t)
	session, err := runtime.CreateSession(ctx, "brief", Shell("exit 7"))
	must(t, err)
	event, err := runtime.NextEvent(ctx)
	must(t, err)
	if event.Kind != EventExited || event.Handle != session.Handle() || event.Name != "brief" || event.Exit.Code != 7 {
		t.Fatalf("%+v", event)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := runtime.NextEvent(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestManyGoroutinesUseOneRuntime(t *testing.T) {
	runtime, _, ctx := place(t)
	var group sync.WaitGroup
	for i := 0; i < 64; i++ {
		group.Add(1)
		go func(code int) {
			defer group.Done()
			process, err := runtime.Spawn(ctx, Command{Shell: fmt.Sprintf("exit %d", code)})
			if err != nil {
				t.Error(err)
				return
			}
			defer process.Close()
			if exit, err := process.Wait(ctx); err != nil || exit.Code != code {
				t.Error(exit, err)
			}
		}(i)
	}
	group.Wait()
}

// TestCreator is not a test of its own: it is the program that is killed in TestSurvival.
func TestCreator(t *testing.T) {
	state := os.Getenv("BERTH_CREATOR_STATE")
	if state == "" {
		return
	}
	runtime, err := NewRuntime(state)
	must(t, err)
	ctx := context.Background()
	lasting, err := runtime.CreateSession(ctx, "lasting", Shell("echo before; read line; echo got $line; exit 9"))
	must(t, err)
	brief, err := runtime.CreateSession(ctx, "brief", Argv("cat"), Ephemeral())
	must(t, err)
	fmt.Println("\nhandles", lasting.Handle(), brief.Handle())
	select {}
}

func TestSurvival(t *testing.T) {
	runtime, state, ctx := place(t)
	creator := exec.Command(os.Args[0], "-test.run=^TestCreator$", "-test.v")
	creator.Env = append(os.Environ(), "BERTH_CREATOR_STATE="+state)
	output, err := creator.StdoutPipe()
	must(t, err)
	must(t, creator.Start())
	var handles []string
	for lines := bufio.NewScanner(output); handles == nil && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "handles ") {
			handles = strings.Fields(lines.Text())
		}
	}
	if len(handles) != 3 {
		t.Fatal(handles)
	}
	brief, err := runtime.Open(ctx, handles[2])
	must(t, err)
	must(t, creator.Process.Kill())
	creator.Wait()
	lasting, err := runtime.Open(ctx, handles[1])
	must(t, err)
	file, err := lasting.Stdout(ctx)
	must(t, err)
	readUntil(t, file, "before")
	must(t, lasting.Resize(ctx, 50, 100))
	_, err = lasting.Send(ctx, "on")
	must(t, err)
	file, err = lasting.Stdout(ctx)
	must(t, err)
	readUntil(t, file, "got on")
	if exit, err := lasting.Wait(ctx); err != nil || exit.Code != 9 {
		t.Fatal(exit, err)
	}
	// Its keeper saw the owner go and ended it.
	if _, err := brief.Wait(ctx); err != nil && !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
	must(t, brief.Destroy(ctx, 0)) // returns once nothing is left of it
}
