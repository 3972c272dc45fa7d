package berth

// #include "berth.h"
import "C"

import (
	"context"
	"errors"
	"io"
	"runtime"
)

// ViolationFeed tells what a session's policy stops, as it happens.
type ViolationFeed struct {
	*closing
	raw *C.berth_violation_feed
}

// WatchViolations tells of those from number seen + 1 on, and of those to come. FailedPrecondition if it has no policy.
func (s *Session) WatchViolations(ctx context.Context, seen int64) (*ViolationFeed, error) {
	var raw *C.berth_violation_feed
	err := s.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_session_watch_violations(&raw, s.raw, C.int64_t(seen), e)
	})
	if err != nil {
		return nil, err
	}
	f := &ViolationFeed{newClosing(), raw}
	runtime.SetFinalizer(f, func(f *ViolationFeed) { f.Close() })
	return f, nil
}

// Close ends the feed; a Next that waits returns Cancelled.
func (f *ViolationFeed) Close() error {
	f.close(func() {
		runtime.SetFinalizer(f, nil)
		C.berth_violation_feed_free(f.raw)
	})
	return nil
}

// Next waits for the next ones; io.EOF once nothing of the session runs any more.
func (f *ViolationFeed) Next(ctx context.Context) ([]Violation, error) {
	defer runtime.KeepAlive(f)
	for {
		var raw *C.berth_violations
		err := f.call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_violation_feed_next(&raw, f.raw, e) })
		if errors.Is(err, OutOfRange) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		if all := takeViolations(raw); len(all) > 0 {
			return all, nil
		}
		err = f.wait(ctx, "berth violations", func(fd *C.int32_t, e **C.berth_error) C.int32_t {
			return C.berth_violation_feed_fd(fd, f.raw, e)
		})
		if err != nil {
			return nil, err
		}
	}
}
