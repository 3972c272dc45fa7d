package codefly

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth.dev/berth"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryOperationOfAProc(t *testing.T) {
	dir, err := os.MkdirTemp(os.Getenv("TEST_TMPDIR"), "cf")
	must(t, err)
	defer os.RemoveAll(dir)
	runtime, err := berth.NewRuntime(filepath.Join(dir, "state"))
	must(t, err)
	defer runtime.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	environment, err := New(runtime, "runner", berth.Backend("native"))
	must(t, err)
	must(t, environment.Init(ctx))
	must(t, environment.WithBinary(ctx, "sh"))
	if err := environment.WithBinary(ctx, "no-such-thing"); !errors.Is(err, berth.NotFound) {
		t.Fatal(err)
	}

	var log bytes.Buffer
	build := environment.NewProcess("build", "sh", "-c", `echo "$A $B $PWD"; echo bad >&2; exit 3`)
	build.WithDir(dir)
	build.WithOutput(&log)
	build.WithEnvironmentVariables(ctx, &EnvironmentVariable{"A", "1"}, &EnvironmentVariable{"B", "2"})
	build.WithEnvironmentVariablesAppend(ctx, &EnvironmentVariable{"B", "3"}, ":")
	var failed *ExitError
	if err := build.Run(ctx); !errors.As(err, &failed) || failed.Code != 3 {
		t.Fatal(err)
	}
	if text := log.String(); text != "1 2:3 "+dir+"\nbad\n" && text != "bad\n1 2:3 "+dir+"\n" {
		t.Fatalf("%q", text)
	}
	if err := build.Wait(ctx); !errors.As(err, &failed) {
		t.Fatal(err) // again
	}

	echo := environment.NewProcess("", "cat")
	echo.WaitOn("build")
	input, err := echo.StdinPipe()
	must(t, err)
	output, err := echo.StdoutPipe()
	must(t, err)
	must(t, echo.Start(ctx))
	if running, err := echo.IsRunning(ctx); err != nil || !running {
		t.Fatal(running, err)
	}
	_, err = io.WriteString(input, "through")
	must(t, err)
	must(t, input.Close())
	text, err := io.ReadAll(output)
	must(t, err)
	must(t, echo.Wait(ctx))
	if running, err := echo.IsRunning(ctx); string(text) != "through" || err != nil || running {
		t.Fatalf("%q %v %v", text, running, err)
	}

	server := environment.NewProcess("server", "sleep", "1000")
	must(t, server.Start(ctx))
	must(t, server.Stop(ctx))
	must(t, environment.Stop(ctx))
	must(t, environment.Shutdown(ctx))
	if err := environment.NewProcess("", "true").Start(ctx); !errors.Is(err, berth.FailedPrecondition) {
		t.Fatal(err)
	}
}
