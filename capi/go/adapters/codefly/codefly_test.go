package codefly

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"berth.dev/berth"
	"berth.dev/berth/internal/place"
)

func TestEveryOperationOfAProc(t *testing.T) {
	runtime, dir, ctx := place.New(t)
	environment, err := New(runtime, "runner", berth.Backend("native"))
	place.Must(t, err)
	place.Must(t, environment.Init(ctx))
	place.Must(t, environment.WithBinary(ctx, "sh"))
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
	place.Must(t, err)
	output, err := echo.StdoutPipe()
	place.Must(t, err)
	place.Must(t, echo.Start(ctx))
	if running, err := echo.IsRunning(ctx); err != nil || !running {
		t.Fatal(running, err)
	}
	_, err = io.WriteString(input, "through")
	place.Must(t, err)
	place.Must(t, input.Close())
	text, err := io.ReadAll(output)
	place.Must(t, err)
	place.Must(t, echo.Wait(ctx))
	if running, err := echo.IsRunning(ctx); string(text) != "through" || err != nil || running {
		t.Fatalf("%q %v %v", text, running, err)
	}

	server := environment.NewProcess("server", "sleep", "1000")
	place.Must(t, server.Start(ctx))
	place.Must(t, server.Stop(ctx))
	place.Must(t, environment.Stop(ctx))
	place.Must(t, environment.Shutdown(ctx))
	if err := environment.NewProcess("", "true").Start(ctx); !errors.Is(err, berth.FailedPrecondition) {
		t.Fatal(err)
	}
}
