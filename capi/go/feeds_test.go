package berth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestViolationsAreToldAsTheyHappen(t *testing.T) {
	runtime, _, ctx := place(t)
	work := t.TempDir()
	policy, err := AgentPolicy(work)
	must(t, err)
	session, err := runtime.CreateSession(ctx, "held", Pipes(), Dir(work), WithPolicy(policy),
		Shell("while read line; do unshare -U true; done"))
	must(t, err)
	feed, err := session.WatchViolations(ctx, 0)
	must(t, err)
	defer feed.Close()
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if early, err := feed.Next(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(early, err)
	}
	_, err = session.Send(ctx, "try it")
	must(t, err)
	violations, err := feed.Next(ctx)
	if err != nil || violations[0].Layer != LayerSyscall || violations[0].Number != 1 {
		t.Fatal(violations, err)
	}
	event, err := runtime.NextEvent(ctx)
	if err != nil || event.Kind != EventViolation || !strings.Contains(event.Violation.What, "unshare") {
		t.Fatal(event, err)
	}
	must(t, session.CloseStdin(ctx))
	for err == nil {
		_, err = feed.Next(ctx)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	must(t, feed.Close())
	if _, err := feed.Next(ctx); !errors.Is(err, Cancelled) {
		t.Fatal(err)
	}
	plain, err := runtime.CreateSession(ctx, "plain", Argv("cat"))
	must(t, err)
	if _, err := plain.WatchViolations(ctx, 0); !errors.Is(err, FailedPrecondition) {
		t.Fatal(err)
	}
}

// engine is a container engine that knows of one image, once it has pulled, loaded or imported it; where it is.
func engine(t *testing.T, pull http.HandlerFunc) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine.sock")
	listener, err := net.Listen("unix", path)
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		switch request.Method + " " + request.URL.Path {
		case "GET /_ping":
			answer.Header().Set("Api-Version", "1.41")
		case "POST /v1.41/images/create":
			pull(answer, request)
		case "POST /v1.41/images/load":
			if tar, err := io.ReadAll(request.Body); err != nil || string(tar) != "a tar" {
				fmt.Fprintln(answer, `{"error":"not a tar"}`)
			}
		case "GET /v1.41/images/small:1/json":
			fmt.Fprintln(answer, `{"Id":"sha256:1","Architecture":"amd64","Config":{"Env":["A=b"]}}`)
		default:
			answer.WriteHeader(http.StatusNotFound)
		}
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return "unix://" + path
}

func TestAPullTellsHowFarItIs(t *testing.T) {
	_, _, ctx := place(t)
	at := engine(t, func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(answer, `{"id":"l1","status":"Downloading","progressDetail":{"current":25,"total":100}}`)
		fmt.Fprintln(answer, `{"id":"l1","status":"Pull complete"}`)
	})
	var told []PullProgress
	info, err := PullImage(ctx, at, "small:1", func(progress PullProgress) { told = append(told, progress) })
	if err != nil || info.ID != "sha256:1" || info.Architecture != "amd64" || info.Env[0] != "A=b" {
		t.Fatal(info, err)
	}
	if len(told) != 2 || told[0] != (PullProgress{"l1", "Downloading", 25, 100, 1, 0, 25}) || told[1].Percent != 100 {
		t.Fatal(told)
	}
	_, err = PullImage(ctx, at, "small:1", nil)
	must(t, err)
	must(t, LoadImage(ctx, at, []byte("a tar")))
	if err := LoadImage(ctx, at, nil); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
	info, err = ImportImage(ctx, at, []byte("a tar"), "small:1", "ENV A=b")
	if err != nil || info.ID != "sha256:1" {
		t.Fatal(info, err)
	}
}

func TestAPullEndsWithItsContext(t *testing.T) {
	_, _, ctx := place(t)
	gone := make(chan struct{})
	at := engine(t, func(answer http.ResponseWriter, request *http.Request) {
		defer close(gone)
		// Lines without end, so that the caller is asked whether it still wants them.
		for request.Context().Err() == nil {
			fmt.Fprintln(answer, `{"id":"l1","status":"Downloading","progressDetail":{"current":1,"total":100}}`)
		}
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err := PullImage(ctx, at, "small:1", func(PullProgress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-gone // the engine sees that nobody wants it any more
}
