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

// Verdict is what was decided.
type Verdict int32

// Verdicts.
const (
	Keep  Verdict = 0
	Reap  Verdict = 1 // end it and remove everything
	Clear Verdict = 2 // end and remove what is left, but for the record
	Doubt Verdict = 3 // touch nothing: its state is not known
)

func (v Verdict) String() string { return C.GoString(C.berth_verdict_name(C.int32_t(v))) }

// SweepResult is whether it was done.
type SweepResult int32

// Results.
const (
	SweptNothing   SweepResult = 0 // nothing was to be done, or it was a dry run
	SweptDone      SweepResult = 1 // and proven
	SweptFailed    SweepResult = 2
	SweptOutOfTime SweepResult = 3
)

func (r SweepResult) String() string { return C.GoString(C.berth_sweep_result_name(C.int32_t(r))) }

// SweepItem is one thing that a sweep looked at.
type SweepItem struct {
	Kind, ID, Name string // "session", "record", "lease", …; uid, file name or path; of a session
	Verdict        Verdict
	Result         SweepResult
	Deed           string // what was done or, in a dry run, would be
	Error          string // why it failed
	Because        []string
	Evidence       []string
}

// SweepReport is what a sweep found, decided and did.
type SweepReport struct {
	Items                                          []SweepItem
	Kept, Done, Doubts, Failed, OutOfTime, Planned int
	JSON                                           string // all of it, as berth-reaper --json prints it
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

func takeReport(raw *C.berth_sweep_report) SweepReport {
	defer C.berth_sweep_report_free(raw)
	number := func(field C.int32_t) int { return int(C.berth_sweep_report_number(raw, field)) }
	report := SweepReport{
		Kept: number(C.BERTH_SWEEP_KEPT), Done: number(C.BERTH_SWEEP_DONE), Doubts: number(C.BERTH_SWEEP_DOUBTS),
		Failed: number(C.BERTH_SWEEP_FAILED), OutOfTime: number(C.BERTH_SWEEP_OUT_OF_TIME),
		Planned: number(C.BERTH_SWEEP_PLANNED),
	}
	for i := C.size_t(0); i < C.size_t(number(C.BERTH_SWEEP_ITEMS)); i++ {
		var it C.berth_sweep_item
		var because, evidence *C.berth_strings
		if C.berth_sweep_report_at(&it, raw, i, nil) != C.BERTH_OK ||
			C.berth_sweep_report_because(&because, &evidence, raw, i, nil) != C.BERTH_OK {
			break
		}
		report.Items = append(report.Items, SweepItem{viewed(it.kind, it.kind_size), viewed(it.id, it.id_size),
			viewed(it.name, it.name_size), Verdict(it.verdict), SweepResult(it.result), viewed(it.deed, it.deed_size),
			viewed(it.error, it.error_size), takeStrings(because), takeStrings(evidence)})
	}
	var json *C.berth_string
	if C.berth_sweep_report_format(&json, raw, C.BERTH_SWEEP_JSON, nil) == C.BERTH_OK {
		report.JSON = takeString(json)
	}
	return report
}
