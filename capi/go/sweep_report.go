package berth

// #include "berth.h"
import "C"

import (
	"context"
	"time"
)

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
	Sessions                                       int // that there were at the beginning
	Kept, Done, Doubts, Failed, OutOfTime, Planned int
	Passes                                         int
	Took                                           time.Duration
	ExitCode                                       int    // what berth-reaper would exit with
	JSON                                           string // all of it, as berth-reaper --json prints it
	Text, Metrics                                  string // for people; for Prometheus
}

// ParseSweepReport reads the report of a sweep that another process did: SweepReport.JSON, or berth-reaper --json.
func ParseSweepReport(json string) (SweepReport, error) {
	var raw *C.berth_sweep_report
	data, size := view(json)
	err := call(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_sweep_report_from_json(&raw, data, size, e)
	})
	if err != nil {
		return SweepReport{}, err
	}
	return takeReport(raw), nil
}

func takeReport(raw *C.berth_sweep_report) SweepReport {
	defer C.berth_sweep_report_free(raw)
	number := func(field C.int32_t) int { return int(C.berth_sweep_report_number(raw, field)) }
	report := SweepReport{
		Sessions: number(C.BERTH_SWEEP_SESSIONS), Passes: number(C.BERTH_SWEEP_PASSES),
		Took:     time.Duration(C.berth_sweep_report_number(raw, C.BERTH_SWEEP_TOOK_NS)),
		ExitCode: number(C.BERTH_SWEEP_EXIT_CODE),
		Kept:     number(C.BERTH_SWEEP_KEPT), Done: number(C.BERTH_SWEEP_DONE), Doubts: number(C.BERTH_SWEEP_DOUBTS),
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
	for format, place := range map[C.int32_t]*string{
		C.BERTH_SWEEP_TEXT: &report.Text, C.BERTH_SWEEP_JSON: &report.JSON, C.BERTH_SWEEP_METRICS: &report.Metrics,
	} {
		var told *C.berth_string
		if C.berth_sweep_report_format(&told, raw, format, nil) == C.BERTH_OK {
			*place = takeString(told)
		}
	}
	return report
}
