package berth

// #include "berth.h"
import "C"

import (
	"syscall"
	"time"
)

// EndReason says why a process ended.
type EndReason int32

// Reasons. Later versions may have more.
const (
	EndUnknown    EndReason = 0 // it is gone, and nobody is left who saw how
	EndExited     EndReason = 1 // by itself, with a code
	EndSignaled   EndReason = 2 // by a signal that berth did not send
	EndStopped    EndReason = 3 // by Stop, Destroy or Signal
	EndWall       EndReason = 4
	EndInactivity EndReason = 5
	EndOOM        EndReason = 6
	EndPids       EndReason = 7
	EndViolation  EndReason = 8
)

// Exit is how a process ended. A death by signal is told as a signal, never as a code over 128.
type Exit struct {
	Code   int            // meaningful if Signal is 0
	Signal syscall.Signal // 0: it exited
	Reason EndReason
}

func (e Exit) raw() C.berth_exit {
	return C.berth_exit{code: C.int32_t(e.Code), signal: C.int32_t(e.Signal), reason: C.int32_t(e.Reason)}
}

// Success reports whether it exited by itself with code 0.
func (e Exit) Success() bool {
	raw := e.raw()
	return C.berth_exit_success(&raw) == 1
}

// ShellCode is what a shell would give as its code: 128 + signal for a death by signal.
func (e Exit) ShellCode() int {
	raw := e.raw()
	return int(C.berth_exit_shell_code(&raw))
}

// String is "exited with code 3", "killed by signal 9 (Killed)", ….
func (e Exit) String() string {
	raw := e.raw()
	var text *C.berth_string
	if C.berth_exit_describe(&text, &raw, nil) != C.BERTH_OK {
		return "unknown"
	}
	return takeString(text)
}

func toExit(raw *C.berth_exit) Exit {
	return Exit{int(raw.code), syscall.Signal(raw.signal), EndReason(raw.reason)}
}

// StartTiming is when each step of a start was reached, of the monotonic clock. 0: not on this engine.
type StartTiming struct {
	Requested, Received, Started, Replied time.Duration
}

// Stats is what a session or a process tree uses. Negative: not known here.
type Stats struct {
	CPU                   time.Duration
	MemoryBytes           int64
	Processes             int64
	ReadBytes, WriteBytes int64
	Source                string // "cgroup", "proc" or the engine's name
}

func toStats(raw *C.berth_stats) Stats {
	return Stats{time.Duration(raw.cpu_ns), int64(raw.memory_bytes), int64(raw.processes),
		int64(raw.read_bytes), int64(raw.write_bytes), C.GoString(&raw.source[0])}
}
