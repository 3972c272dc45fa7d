package bc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth.dev/berth"
	"berth.dev/berth/internal/place"
)

func TestEveryOperationOfTheBackend(t *testing.T) {
	runtime, state, ctx := place.New(t)
	b := New(runtime, "native", "bc-")
	if !b.IsRunning(ctx) || b.HasSession(ctx, "one") || b.SessionName("one") != "bc-one" || b.AttachCmd(ctx, "one") != nil {
		t.Fatal("before there is one")
	}
	place.Must(t, b.CreateSession(ctx, "shell", "/"))
	place.Must(t, b.CreateSessionWithEnv(ctx, "one", "/", `echo "$WHO"; exec cat`, map[string]string{"WHO": "it's $me"}))
	if err := b.CreateSessionWithCommand(ctx, "one", "/", "true"); !errors.Is(err, berth.AlreadyExists) {
		t.Fatal(err)
	}
	place.Must(t, b.RenameSession(ctx, "one", "two"))
	if b.HasSession(ctx, "one") || !b.HasSession(ctx, "two") {
		t.Fatal("renamed")
	}
	log := filepath.Join(state, "log")
	place.Must(t, b.PipePane(ctx, "two", log))
	place.Must(t, b.SetEnvironment(ctx, "two", "LATER", "1"))
	place.Must(t, b.SendKeys(ctx, "two", "hello"))
	place.Must(t, b.SendKeysWithSubmit(ctx, "two", "again", "C-m"))
	session, err := runtime.Find(ctx, "bc-two")
	place.Must(t, err)
	output, err := session.Stdout(ctx)
	place.Must(t, err)
	defer output.Close()
	place.Must(t, output.SetReadDeadline(time.Now().Add(time.Minute)))
	said := ""
	for buffer := make([]byte, 4096); strings.Count(said, "again") < 2; {
		n, err := output.Read(buffer)
		place.Must(t, err)
		said += string(buffer[:n])
	}
	screen, err := b.Capture(ctx, "two", 10)
	if err != nil || !strings.Contains(screen, "it's $me\n") || strings.Count(screen, "hello\n") != 2 {
		t.Fatalf("%q %v", screen, err)
	}
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "hello") {
		t.Fatalf("%q %v", text, err)
	}
	if attach := b.AttachCmd(ctx, "two"); attach == nil || len(attach.Args) == 0 {
		t.Fatal(attach)
	}
	sessions, err := b.ListSessions(ctx)
	if err != nil || len(sessions) != 2 || sessions[1].Name != "two" || sessions[1].Directory != "/" || sessions[1].Attached {
		t.Fatal(sessions, err)
	}
	place.Must(t, b.KillSession(ctx, "two"))
	if err := b.KillSession(ctx, "two"); !errors.Is(err, berth.NotFound) {
		t.Fatal(err)
	}
	place.Must(t, b.KillServer(ctx))
	if sessions, err := b.ListSessions(ctx); err != nil || len(sessions) != 0 {
		t.Fatal(sessions, err)
	}
}
