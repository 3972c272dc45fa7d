package berth

// #include "berth.h"
import "C"

import (
	"context"
	"time"
)

// SweepOptions say what a sweep does. The zero value sweeps everything, as berth-reaper does.
type SweepOptions struct {
	DryRun   bool // decide and tell, change nothing
	ShowKept bool // report what is kept, too
	// Regular expressions that are looked for in names and labels: one of Only must match, none of Except may.
	Only, Except []string
	AdoptCodefly bool          // sweep what codefly left, too
	Grace        time.Duration // between TERM and KILL; 0: 5 s
	OlderThan    time.Duration // leave alone what is younger
	ForgetEnded  time.Duration // ended durable sessions are forgotten after this; 0: never
	PerObject    time.Duration // to end one and prove it gone; 0: 30 s
	Total        time.Duration // for everything; 0: 5 min
	LockWait     time.Duration // for another reaper to finish; 0: 10 s
	Settle       time.Duration // of a watch: how long after an event the sweep begins; 0: 100 ms
	Every        time.Duration // of a watch: a sweep even if nothing happened; 0: never
}

// Sweep ends and removes what dead owners left behind in a state directory, "" for the default one. If ctx is done
// first, the sweep goes on by itself.
func Sweep(ctx context.Context, stateDir string, options SweepOptions) (SweepReport, error) {
	data, size := view(stateDir)
	return swept(ctx, options, func(r **C.berth_sweep_report, o *C.berth_sweep_options, e **C.berth_error) C.int32_t {
		return C.berth_sweep(r, data, size, o, e)
	})
}

// ExplainSweep tells what would become of one session, by name or uid, and why.
func ExplainSweep(ctx context.Context, stateDir, id string, options SweepOptions) (SweepItem, error) {
	data, size := view(stateDir)
	name, nameSize := view(id)
	report, err := swept(ctx, options, func(r **C.berth_sweep_report, o *C.berth_sweep_options, e **C.berth_error) C.int32_t {
		return C.berth_sweep_explain(r, data, size, name, nameSize, o, e)
	})
	if err != nil {
		return SweepItem{}, err
	}
	return report.Items[0], nil
}

func swept(ctx context.Context, options SweepOptions,
	sweep func(**C.berth_sweep_report, *C.berth_sweep_options, **C.berth_error) C.int32_t) (SweepReport, error) {
	var report SweepReport
	done := func(e **C.berth_error) C.int32_t {
		var swept *C.berth_sweep_report
		code := options.use(e, func(raw *C.berth_sweep_options) C.int32_t { return sweep(&swept, raw, e) })
		if code == C.BERTH_OK {
			report = takeReport(swept)
		}
		return code
	}
	if err := aside(ctx, done); err != nil {
		return SweepReport{}, err
	}
	return report, nil
}

// use has them for the time of a call.
func (o SweepOptions) use(e **C.berth_error, do func(*C.berth_sweep_options) C.int32_t) C.int32_t {
	var raw *C.berth_sweep_options
	if code := C.berth_sweep_options_new(&raw, e); code != C.BERTH_OK {
		return code
	}
	defer C.berth_sweep_options_free(raw)
	o.set(raw)
	return do(raw)
}

func (o SweepOptions) set(raw *C.berth_sweep_options) {
	flags := C.uint32_t(0)
	if o.DryRun {
		flags |= C.BERTH_SWEEP_DRY_RUN
	}
	if o.ShowKept {
		flags |= C.BERTH_SWEEP_SHOW_KEPT
	}
	if o.AdoptCodefly {
		flags |= C.BERTH_SWEEP_ADOPT_CODEFLY
	}
	C.berth_sweep_options_set_flags(raw, flags)
	for which, d := range map[C.int32_t]time.Duration{
		C.BERTH_SWEEP_GRACE: o.Grace, C.BERTH_SWEEP_OLDER_THAN: o.OlderThan, C.BERTH_SWEEP_FORGET_ENDED: o.ForgetEnded,
		C.BERTH_SWEEP_PER_OBJECT: o.PerObject, C.BERTH_SWEEP_TOTAL: o.Total, C.BERTH_SWEEP_LOCK_WAIT: o.LockWait,
		C.BERTH_SWEEP_SETTLE: o.Settle, C.BERTH_SWEEP_EVERY: o.Every,
	} {
		if d > 0 {
			C.berth_sweep_options_set_time(raw, which, C.int64_t(millis(d)))
		}
	}
	withStrings(o.Only, func(only *C.berth_strings) error {
		return withStrings(o.Except, func(except *C.berth_strings) error {
			C.berth_sweep_options_set_filter(raw, only, except)
			return nil
		})
	})
}
