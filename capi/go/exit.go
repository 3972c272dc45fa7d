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

// Success reports whether it exited by itself with code 0.
func (e Exit) Success() bool { return e.Reason == EndExited && e.Signal == 0 && e.Code == 0 }

// String is "exited with code 3", "killed by signal 9 (Killed)", ….
func (e Exit) String() string {
	raw := C.berth_exit{code: C.int32_t(e.Code), signal: C.int32_t(e.Signal), reason: C.int32_t(e.Reason)}
	var text *C.berth_string
	if C.berth_exit_describe(&text, &raw, nil) != C.BERTH_OK {
		return "unknown"
	}
	return takeString(text)
}

func toExit(raw *C.berth_exit) Exit {
	return Exit{int(raw.code), syscall.Signal(raw.signal), EndReason(raw.reason)}
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
