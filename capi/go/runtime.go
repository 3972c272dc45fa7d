package berth

// #include "berth.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
)

// Runtime is the way in: it makes sessions and processes, finds the ones that exist, and tells what happens to them.
type Runtime struct {
	raw  *C.berth_runtime
	once sync.Once
}

// NewRuntime opens a state directory; "" is $BERTH_STATE_DIR, else $XDG_STATE_HOME/berth, else ~/.local/state/berth.
func NewRuntime(stateDir string) (*Runtime, error) {
	var raw *C.berth_runtime
	data, size := view(stateDir)
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_runtime_new(&raw, data, size, e) })
	if err != nil {
		return nil, err
	}
	r := &Runtime{raw: raw}
	runtime.SetFinalizer(r, func(r *Runtime) { r.Close() })
	return r, nil
}

// Close ends what the runtime spawned and its ephemeral sessions; durable sessions go on. Any number of times.
func (r *Runtime) Close() error {
	r.once.Do(func() {
		runtime.SetFinalizer(r, nil)
		C.berth_runtime_free(r.raw)
	})
	return nil
}

// do makes a call on it.
func (r *Runtime) do(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	defer runtime.KeepAlive(r)
	return call(ctx, f)
}

func (r *Runtime) session(ctx context.Context, give func(**C.berth_session, **C.berth_error) C.int32_t) (*Session, error) {
	var raw *C.berth_session
	if err := r.do(ctx, func(e **C.berth_error) C.int32_t { return give(&raw, e) }); err != nil {
		return nil, err
	}
	s := &Session{raw: raw, owner: r}
	runtime.SetFinalizer(s, func(s *Session) { s.Close() })
	return s, nil
}

// CreateSession makes a session and runs its program. After a failure nothing has run and nothing is left.
func (r *Runtime) CreateSession(ctx context.Context, name string, options ...SessionOption) (*Session, error) {
	spec, err := newSessionSpec(name, options)
	if err != nil {
		return nil, err
	}
	defer C.berth_session_spec_free(spec)
	return r.session(ctx, func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_session_create(s, r.raw, spec, e)
	})
}

// Open opens a session by the handle that Session.Handle gave, in this process or another one.
func (r *Runtime) Open(ctx context.Context, handle string) (*Session, error) {
	data, size := view(handle)
	return r.session(ctx, func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_session_open(s, r.raw, data, size, e)
	})
}

// Find finds a session by its name, exactly.
func (r *Runtime) Find(ctx context.Context, name string) (*Session, error) {
	data, size := view(name)
	return r.session(ctx, func(s **C.berth_session, e **C.berth_error) C.int32_t {
		return C.berth_session_find(s, r.raw, data, size, e)
	})
}

// List tells of all sessions of the state directory, by name.
func (r *Runtime) List(ctx context.Context) ([]SessionInfo, error) {
	var infos *C.berth_infos
	err := r.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_list(&infos, r.raw, e) })
	if err != nil {
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
	EventExited    EventKind = 1 // the main process ended
	EventLost      EventKind = 2 // its engine does not answer any more: whether it lives is not known
	EventViolation EventKind = 3 // its policy stopped something; the session goes on
)

// Event is something that happened to a session made or opened through a runtime.
type Event struct {
	Kind         EventKind
	Handle, Name string
	Exit         Exit
	Detail       string
	Violation    *Violation // of EventViolation
}

// NextEvent waits for the next event.
func (r *Runtime) NextEvent(ctx context.Context) (Event, error) {
	for {
		var raw *C.berth_event
		err := r.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_runtime_next_event(&raw, r.raw, 0, e) })
		if err != nil {
			return Event{}, err
		}
		if raw != nil {
			return takeEvent(raw), nil
		}
		var fd C.int32_t
		err = r.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_runtime_event_fd(&fd, r.raw, e) })
		if err != nil {
			return Event{}, err
		}
		if err := readable(ctx, int(fd), "berth events"); err != nil {
			return Event{}, err
		}
	}
}

func takeEvent(raw *C.berth_event) Event {
	defer C.berth_event_free(raw)
	event := Event{
		Kind:   EventKind(C.berth_event_kind(raw)),
		Handle: text(func(size *C.size_t) *C.char { return C.berth_event_handle(raw, size) }),
		Name:   text(func(size *C.size_t) *C.char { return C.berth_event_name(raw, size) }),
		Detail: text(func(size *C.size_t) *C.char { return C.berth_event_detail(raw, size) }),
	}
	var exit C.berth_exit
	if C.berth_event_exit(&exit, raw, nil) == C.BERTH_OK {
		event.Exit = toExit(&exit)
	}
	var violations *C.berth_violations
	if C.berth_event_violations(&violations, raw, nil) == C.BERTH_OK {
		if all := takeViolations(violations); len(all) > 0 {
			event.Violation = &all[0]
		}
	}
	return event
}

// Choose tells the backend that CreateSession would use, and why.
func (r *Runtime) Choose(ctx context.Context, options ...SessionOption) (backend, reason string, err error) {
	spec, err := newSessionSpec("choice", options)
	if err != nil {
		return "", "", err
	}
	defer C.berth_session_spec_free(spec)
	var name, why *C.berth_string
	err = r.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_choose(&name, &why, r.raw, spec, e) })
	if err != nil {
		return "", "", err
	}
	return takeString(name), takeString(why), nil
}
