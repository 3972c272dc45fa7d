package berth

// #include "berth.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Environment is a place in which several processes run side by side, on any backend. Close ends nothing: the place ends
// with Stop, Shutdown or its runtime.
type Environment struct {
	raw   *C.berth_environment
	owner *Runtime // kept alive
	once  sync.Once
}

// NewEnvironment describes one; of the options, command and terminal are not looked at. Nothing is started before Init.
func (r *Runtime) NewEnvironment(name string, options ...SessionOption) (*Environment, error) {
	spec, err := newSessionSpec(name, options)
	if err != nil {
		return nil, err
	}
	defer C.berth_session_spec_free(spec)
	var raw *C.berth_environment
	err = r.do(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_environment_new(&raw, r.raw, spec, e)
	})
	if err != nil {
		return nil, err
	}
	v := &Environment{raw: raw, owner: r}
	runtime.SetFinalizer(v, func(v *Environment) { v.Close() })
	return v, nil
}

// Close lets go of it. The place goes on.
func (v *Environment) Close() error {
	v.once.Do(func() {
		runtime.SetFinalizer(v, nil)
		C.berth_environment_free(v.raw)
	})
	return nil
}

func (v *Environment) do(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	defer runtime.KeepAlive(v)
	return call(ctx, f)
}

// Init starts the place; fine if it is up. After Stop it starts it again.
func (v *Environment) Init(ctx context.Context) error {
	return v.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_environment_init(v.raw, e) })
}

// Start starts a process in the place, once those that it waits on have ended.
func (v *Environment) Start(ctx context.Context, command Command) (*Process, error) {
	defer runtime.KeepAlive(v)
	limit, err := timeout(ctx)
	if err != nil {
		return nil, err
	}
	var place *C.berth_process_place
	data, size := view(command.Name)
	err = call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_process_place_new(&place, data, size, e) })
	if err != nil {
		return nil, err
	}
	defer C.berth_process_place_free(place)
	for _, other := range command.WaitOn {
		data, size := view(other)
		C.berth_process_place_add_wait_on(place, data, size)
	}
	C.berth_process_place_set_timeout(place, C.int64_t(limit))
	return start(ctx, v.owner, command, func(p **C.berth_process, spec *C.berth_process_spec, e **C.berth_error) C.int32_t {
		return C.berth_environment_start(p, v.raw, spec, place, e)
	})
}

// Run is Start and Wait; if ctx is done first, the process is killed. Nobody reads its pipes: one that writes much wants
// Null or a File.
func (v *Environment) Run(ctx context.Context, command Command) (Exit, error) {
	process, err := v.Start(ctx, command)
	if err != nil {
		return Exit{}, err
	}
	defer process.Close()
	return process.Wait(ctx)
}

// CheckBinary is NotFound if a program of that name is not on the place's PATH.
func (v *Environment) CheckBinary(ctx context.Context, name string) error {
	data, size := view(name)
	return v.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_environment_check_binary(v.raw, data, size, e) })
}

// HostPort is the host's port that leads to inside.
func (v *Environment) HostPort(inside uint16) (uint16, error) {
	var port C.uint16_t
	err := v.do(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_environment_host_port(&port, v.raw, C.uint16_t(inside), e)
	})
	return uint16(port), err
}

// Stop ends everything in it. It can be started again. If ctx is done first, the stop goes on by itself.
func (v *Environment) Stop(ctx context.Context, grace time.Duration) error {
	return aside(ctx, func(e **C.berth_error) C.int32_t {
		defer runtime.KeepAlive(v)
		return C.berth_environment_stop(v.raw, C.int64_t(millis(grace)), e)
	})
}

// Shutdown ends everything in it and removes what it had. Any number of times.
func (v *Environment) Shutdown(ctx context.Context, grace time.Duration) error {
	return aside(ctx, func(e **C.berth_error) C.int32_t {
		defer runtime.KeepAlive(v)
		return C.berth_environment_shutdown(v.raw, C.int64_t(millis(grace)), e)
	})
}

// Session is the one behind it. NotFound if it is not up.
func (v *Environment) Session(ctx context.Context) (*Session, error) {
	defer runtime.KeepAlive(v)
	return v.owner.session(ctx, func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_environment_session(s, v.raw, e)
	})
}
