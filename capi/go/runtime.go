package berth

// #include "berth.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"syscall"
)

// Runtime is the way in: it makes sessions and processes, finds the ones that exist, and tells what happens to them.
type Runtime struct {
	raw  *C.berth_runtime
	once sync.Once
}

// NewRuntime opens a state directory; "" is $BERTH_STATE_DIR, else $XDG_STATE_HOME/berth, else ~/.local/state/berth.
func NewRuntime(stateDir string) (*Runtime, error) {
	var raw *C.berth_runtime
	var object *C.berth_error
	data, size := view(stateDir)
	if err := failed(C.berth_runtime_new(&raw, data, size, &object), object); err != nil {
		return nil, err
	}
	r := &Runtime{raw: raw}
	runtime.SetFinalizer(r, func(r *Runtime) { r.Close() })
	return r, nil
}

// Close ends what the runtime spawned and its ephemeral sessions; durable sessions go on. Any number of times.
func (r *Runtime) Close() error {
	r.once.Do(func() { C.berth_runtime_free(r.raw) })
	return nil
}

func (r *Runtime) session(call func(**C.berth_session, **C.berth_error) C.int32_t) (*Session, error) {
	var raw *C.berth_session
	var object *C.berth_error
	if err := failed(call(&raw, &object), object); err != nil {
		return nil, err
	}
	s := &Session{raw: raw, runtime: r}
	runtime.SetFinalizer(s, func(s *Session) { s.Close() })
	return s, nil
}

// CreateSession makes a session and runs its program. After a failure nothing has run and nothing is left.
func (r *Runtime) CreateSession(ctx context.Context, name string, options ...SessionOption) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	spec, err := newSessionSpec(name, options)
	if err != nil {
		return nil, err
	}
	defer C.berth_session_spec_free(spec)
	return r.session(func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_session_create(s, r.raw, spec, e)
	})
}

// Open opens a session by the handle that Session.Handle gave, in this process or another one.
func (r *Runtime) Open(handle string) (*Session, error) {
	data, size := view(handle)
	return r.session(func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_session_open(s, r.raw, data, size, e)
	})
}

// Find finds a session by its name, exactly.
func (r *Runtime) Find(name string) (*Session, error) {
	data, size := view(name)
	return r.session(func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_session_find(s, r.raw, data, size, e)
	})
}

// List tells of all sessions of the state directory, by name.
func (r *Runtime) List() ([]SessionInfo, error) {
	var infos *C.berth_infos
	var object *C.berth_error
	if err := failed(C.berth_session_list(&infos, r.raw, &object), object); err != nil {
		return nil, err
	}
	return takeInfos(infos), nil
}

// Spawn starts a process of its own: no name, no record, it ends with Close.
func (r *Runtime) Spawn(ctx context.Context, command Command) (*Process, error) {
	return start(ctx, r, command, func(p **C.berth_process, spec *C.berth_process_spec, e **C.berth_error) C.int32_t {
		return C.berth_process_spawn(p, r.raw, spec, e)
	})
}

// EventKind says what happened.
type EventKind int32

// Kinds. Later versions may have more.
const (
	EventExited EventKind = 1 // the main process ended
	EventLost   EventKind = 2 // its engine does not answer any more: whether it lives is not known
)

// Event is something that happened to a session made or opened through a runtime.
type Event struct {
	Kind         EventKind
	Handle, Name string
	Exit         Exit
	Detail       string
}

// NextEvent waits for the next event.
func (r *Runtime) NextEvent(ctx context.Context) (Event, error) {
	for {
		var raw *C.berth_event
		var object *C.berth_error
		if err := failed(C.berth_runtime_next_event(&raw, r.raw, 0, &object), object); err != nil {
			return Event{}, err
		}
		if raw != nil {
			return takeEvent(raw), nil
		}
		var fd C.int32_t
		if err := failed(C.berth_runtime_event_fd(&fd, r.raw, &object), object); err != nil {
			return Event{}, err
		}
		own, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
		if errno != 0 {
			return Event{}, errno
		}
		if err := readable(ctx, int(own), "berth events"); err != nil {
			return Event{}, err
		}
	}
}

func takeEvent(raw *C.berth_event) Event {
	defer C.berth_event_free(raw)
	var size C.size_t
	event := Event{Kind: EventKind(C.berth_event_kind(raw))}
	text := C.berth_event_handle(raw, &size)
	event.Handle = C.GoStringN(text, C.int(size))
	text = C.berth_event_name(raw, &size)
	event.Name = C.GoStringN(text, C.int(size))
	text = C.berth_event_detail(raw, &size)
	event.Detail = C.GoStringN(text, C.int(size))
	var exit C.berth_exit
	if C.berth_event_exit(&exit, raw, nil) == C.BERTH_OK {
		event.Exit = toExit(&exit)
	}
	return event
}
