package berth

// #include "berth.h"
import "C"

import (
	"context"
	"os"
	"time"
)

// AbilityState says whether this machine has something.
type AbilityState int32

// States.
const (
	AbilityOK      AbilityState = 0
	AbilityWeaker  AbilityState = 1
	AbilityMissing AbilityState = 2
)

func (s AbilityState) String() string { return C.GoString(C.berth_ability_state_name(C.int32_t(s))) }

// Ability is one thing that a policy can need: what there is, why not, and what to do.
type Ability struct {
	Area, Name             string // "kernel", "sandbox", "engines", …; unique
	State                  AbilityState
	Detail, Reason, Remedy string
}

// Doctor tells what this machine gives berth. The state directory, "" for the default one, is made if it is missing;
// nothing else is changed.
func Doctor(ctx context.Context, stateDir string) ([]Ability, error) {
	var raw *C.berth_abilities
	data, size := view(stateDir)
	if err := call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_doctor(&raw, data, size, e) }); err != nil {
		return nil, err
	}
	defer C.berth_abilities_free(raw)
	var all []Ability
	for i := C.size_t(0); i < C.berth_abilities_count(raw); i++ {
		var it C.berth_ability
		if C.berth_abilities_at(&it, raw, i, nil) != C.BERTH_OK {
			break
		}
		all = append(all, Ability{viewed(it.area, it.area_size), viewed(it.name, it.name_size), AbilityState(it.state), viewed(it.detail, it.detail_size),
			viewed(it.reason, it.reason_size), viewed(it.remedy, it.remedy_size)})
	}
	return all, nil
}

// Identity says which process is meant, for as long as the machine runs: another one with its pid is not taken for it.
type Identity struct{ raw C.berth_identity }

// Identify is NotFound if there is no such process or it is a zombie.
func Identify(pid int) (Identity, error) {
	var it Identity
	err := call(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_identify(&it.raw, C.int32_t(pid), e)
	})
	return it, err
}

// Pid is its pid.
func (i Identity) Pid() int { return int(i.raw.pid) }

// BootID is the boot of the machine that it belongs to.
func (i Identity) BootID() string { return C.GoString(&i.raw.boot_id[0]) }

// Liveness says whether it lives; Dead is a proof.
func (i Identity) Liveness() (Liveness, error) {
	var liveness C.int32_t
	err := call(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_identity_liveness(&liveness, &i.raw, e)
	})
	return Liveness(liveness), err
}

// Open gives a pidfd that is proven to be of it.
func (i Identity) Open() (*os.File, error) {
	var fd C.int32_t
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_identity_open(&fd, &i.raw, e) })
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// ProcessState is as /proc tells it; its words are those of String.
type ProcessState int32

// States. Later versions may have more.
const (
	ProcessUnknown              ProcessState = 0
	ProcessNotFound             ProcessState = 1 // it has ended, or its pid is another's now
	ProcessRunning              ProcessState = 2
	ProcessInterruptibleSleep   ProcessState = 3
	ProcessUninterruptibleSleep ProcessState = 4
	ProcessStopped              ProcessState = 5
	ProcessZombie               ProcessState = 6
	ProcessDead                 ProcessState = 7
	ProcessTracingStop          ProcessState = 8
	ProcessIdle                 ProcessState = 9
	ProcessParked               ProcessState = 10
	ProcessWaking               ProcessState = 11
)

func (s ProcessState) String() string { return C.GoString(C.berth_process_state_name(C.int32_t(s))) }

// Tracked is what the kernel says of one process.
type Tracked struct {
	State       ProcessState
	CPU         time.Duration
	MemoryBytes int64 // negative: not known
}

// Track tells its state, CPU time and memory now.
func (i Identity) Track() (Tracked, error) {
	var raw C.berth_tracked
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_track(&raw, &i.raw, e) })
	return Tracked{ProcessState(raw.state), time.Duration(raw.cpu_ns), int64(raw.memory_bytes)}, err
}
