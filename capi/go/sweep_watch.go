package berth

// #include "berth.h"
import "C"

import (
	"context"
	"runtime"
	"sync/atomic"
)

// SweepWatch sweeps whenever there may be something to do: at once, and then when an owner or the keeper of a durable
// session ends, when a new one appears, when an engine tells of something of ours. Nothing is polled.
type SweepWatch struct {
	raw    *C.berth_sweep_watch
	closed atomic.Bool
}

// WatchSweeps watches a state directory, "" for the default one. The sweeps are done by Next.
func WatchSweeps(ctx context.Context, stateDir string, options SweepOptions) (*SweepWatch, error) {
	var raw *C.berth_sweep_watch
	data, size := view(stateDir)
	err := call(ctx, func(e **C.berth_error) C.int32_t {
		return options.use(e, func(how *C.berth_sweep_options) C.int32_t {
			return C.berth_sweep_watch_new(&raw, data, size, how, e)
		})
	})
	if err != nil {
		return nil, err
	}
	w := &SweepWatch{raw: raw}
	runtime.SetFinalizer(w, func(w *SweepWatch) { w.Close() })
	return w, nil
}

// Close ends the watch; a Next that waits returns Cancelled. A sweep that has begun is finished.
func (w *SweepWatch) Close() error {
	if !w.closed.Swap(true) {
		runtime.SetFinalizer(w, nil)
		C.berth_sweep_watch_free(w.raw) // which stops it
	}
	return nil
}

// Next waits until a sweep is due and does it. A sweep that has begun when ctx is done is finished. What fails is tried
// again at the next event (Aborted: another reaper was at work); only Cancelled and FailedPrecondition stay.
func (w *SweepWatch) Next(ctx context.Context) (SweepReport, error) {
	defer runtime.KeepAlive(w)
	for {
		var raw *C.berth_sweep_report
		err := call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_sweep_watch_next(&raw, w.raw, 0, e) })
		if raw != nil {
			return takeReport(raw), nil
		}
		var fd C.int32_t
		if err == nil {
			err = call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_sweep_watch_fd(&fd, w.raw, e) })
		}
		if err == nil {
			err = readable(ctx, int(fd), "berth watch")
		}
		if err != nil && w.closed.Load() {
			err = &Error{Cancelled, "the watch was closed"}
		}
		if err != nil {
			return SweepReport{}, err
		}
	}
}
