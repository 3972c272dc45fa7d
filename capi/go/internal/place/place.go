// Package place is what tests of adapters share.
package place

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth.dev/berth"
)

// Must ends the test if err is an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// New is a runtime of its own, the folder that its state directory is in, and a context for what may take a minute. All
// end with the test.
func New(t *testing.T) (*berth.Runtime, string, context.Context) {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv("TEST_TMPDIR"), "a")
	Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	runtime, err := berth.NewRuntime(filepath.Join(dir, "state"))
	Must(t, err)
	t.Cleanup(func() { runtime.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return runtime, dir, ctx
}
