package berth

// #include "berth.h"
import "C"

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Stdio is where one of the three standard streams of a process leads. The zero value is the default: null for stdin,
// pipes for stdout and stderr.
type Stdio struct {
	kind C.int32_t
	set  bool
	file *os.File
}

// Null is /dev/null.
func Null() Stdio { return Stdio{kind: C.BERTH_STDIO_NULL, set: true} }

// Pipe is to be taken from the Process.
func Pipe() Stdio { return Stdio{kind: C.BERTH_STDIO_PIPE, set: true} }

// File is a file of the caller's, who keeps it.
func File(file *os.File) Stdio { return Stdio{kind: C.BERTH_STDIO_FD, set: true, file: file} }

// Command is what to run: Args, or one line for /bin/sh.
type Command struct {
	Args                  []string
	Shell                 string
	Env                   Env
	Dir                   string // absolute
	Stdin, Stdout, Stderr Stdio
	Rows, Cols            uint16  // not 0: one terminal in place of the three streams
	Policy                *Policy // of a process of its own; another is under its session's
	// In an environment: a name for the others to wait on, and those that it waits for.
	Name   string
	WaitOn []string
}

func start(ctx context.Context, owner *Runtime, command Command,
	begin func(**C.berth_process, *C.berth_process_spec, **C.berth_error) C.int32_t) (*Process, error) {
	var spec *C.berth_process_spec
	if err := call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_process_spec_new(&spec, e) }); err != nil {
		return nil, err
	}
	defer C.berth_process_spec_free(spec)
	for _, arg := range command.Args {
		data, size := view(arg)
		C.berth_process_spec_add_arg(spec, data, size)
	}
	if command.Shell != "" {
		data, size := view(command.Shell)
		C.berth_process_spec_set_shell(spec, data, size)
	}
	if err := command.Env.use(func(env *C.berth_env) { C.berth_process_spec_set_env(spec, env) }); err != nil {
		return nil, err
	}
	data, size := view(command.Dir)
	C.berth_process_spec_set_cwd(spec, data, size)
	for stream, stdio := range []Stdio{command.Stdin, command.Stdout, command.Stderr} {
		if !stdio.set {
			continue
		}
		fd := -1
		if stdio.file != nil {
			fd = int(stdio.file.Fd())
		}
		C.berth_process_spec_set_stdio(spec, C.int32_t(stream), stdio.kind, C.int32_t(fd))
	}
	if command.Rows != 0 || command.Cols != 0 {
		C.berth_process_spec_set_terminal(spec, C.uint16_t(command.Rows), C.uint16_t(command.Cols))
	}
	if command.Policy != nil {
		C.berth_process_spec_set_policy(spec, command.Policy.raw)
	}
	var raw *C.berth_process
	err := call(ctx, func(e **C.berth_error) C.int32_t { return begin(&raw, spec, e) })
	runtime.KeepAlive(command)
	runtime.KeepAlive(owner)
	if err != nil {
		return nil, err
	}
	p := &Process{raw: raw, runtime: owner}
	runtime.SetFinalizer(p, func(p *Process) { p.Close() })
	return p, nil
}

// Process is one running program and everything that it starts.
type Process struct {
	raw     *C.berth_process
	runtime *Runtime // kept alive
	once    sync.Once
}

// Close kills the whole tree and returns once it is gone.
func (p *Process) Close() error {
	p.once.Do(func() {
		runtime.SetFinalizer(p, nil)
		C.berth_process_free(p.raw)
	})
	return nil
}

// Pid is the main process as this machine's /proc shows it; 0 where the engine runs it elsewhere.
func (p *Process) Pid() int {
	defer runtime.KeepAlive(p)
	return int(C.berth_process_pid(p.raw))
}

// IsPty reports whether it has a terminal.
func (p *Process) IsPty() bool {
	defer runtime.KeepAlive(p)
	return C.berth_process_is_pty(p.raw) == 1
}

// Timing is when each step of its start was reached.
func (p *Process) Timing() (StartTiming, error) {
	var raw C.berth_start_timing
	err := p.do(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_process_timing(&raw, p.raw, e) })
	return StartTiming{time.Duration(raw.requested_ns), time.Duration(raw.received_ns), time.Duration(raw.started_ns),
		time.Duration(raw.replied_ns)}, err
}

// newFile makes a file of the poller's, so that reads and writes park goroutines and take deadlines.
func newFile(fd int, name string) *os.File {
	syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// do makes a call on it.
func (p *Process) do(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	defer runtime.KeepAlive(p)
	return call(ctx, f)
}

func (p *Process) take(name string, give func(*C.int32_t, **C.berth_error) C.int32_t) (*os.File, error) {
	var fd C.int32_t
	err := p.do(context.Background(), func(e **C.berth_error) C.int32_t { return give(&fd, e) })
	if err != nil {
		return nil, err
	}
	return newFile(int(fd), name), nil
}

// TakeStdin gives its input; once, then FailedPrecondition.
func (p *Process) TakeStdin() (*os.File, error) {
	return p.take("stdin", func(fd *C.int32_t, e **C.berth_error) C.int32_t {
		return C.berth_process_take_stdin_fd(fd, p.raw, e)
	})
}

// TakeStdout gives its output; once. With a terminal: what is written there.
func (p *Process) TakeStdout() (*os.File, error) {
	return p.take("stdout", func(fd *C.int32_t, e **C.berth_error) C.int32_t {
		return C.berth_process_take_stdout_fd(fd, p.raw, e)
	})
}

// TakeStderr gives its errors; once. There are none with a terminal.
func (p *Process) TakeStderr() (*os.File, error) {
	return p.take("stderr", func(fd *C.int32_t, e **C.berth_error) C.int32_t {
		return C.berth_process_take_stderr_fd(fd, p.raw, e)
	})
}

// Resize gives its terminal another size.
func (p *Process) Resize(ctx context.Context, rows, cols uint16) error {
	return p.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_process_resize(p.raw, C.uint16_t(rows), C.uint16_t(cols), e)
	})
}

// Signal is sent to the main process.
func (p *Process) Signal(ctx context.Context, signal syscall.Signal) error {
	return p.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_process_signal(p.raw, C.int32_t(signal), e) })
}

// Stop sends TERM to the whole tree and KILL after the grace; it returns when all of it is gone. If ctx is done first,
// the stop goes on by itself.
func (p *Process) Stop(ctx context.Context, grace time.Duration) (Exit, error) {
	exit := new(C.berth_exit)
	err := aside(ctx, func(e **C.berth_error) C.int32_t {
		defer runtime.KeepAlive(p)
		return C.berth_process_stop(exit, p.raw, C.int64_t(millis(grace)), e)
	})
	if err != nil {
		return Exit{}, err
	}
	return toExit(exit), nil
}

// Wait waits for the end of the main process: any number of callers, any number of times.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	defer runtime.KeepAlive(p)
	return wait(ctx,
		func(fd *C.int32_t, e **C.berth_error) C.int32_t { return C.berth_process_exit_fd(fd, p.raw, e) },
		func(exit *C.berth_exit, e **C.berth_error) C.int32_t { return C.berth_process_wait(exit, p.raw, 0, e) })
}

// Stats is what the tree uses.
func (p *Process) Stats(ctx context.Context) (Stats, error) {
	var raw C.berth_stats
	err := p.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_process_stats(&raw, p.raw, e) })
	if err != nil {
		return Stats{}, err
	}
	return toStats(&raw), nil
}

// Violations are what its policy has stopped, oldest first; also for a while after its end.
func (p *Process) Violations(ctx context.Context) ([]Violation, error) {
	var raw *C.berth_violations
	err := p.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_process_violations(&raw, p.raw, e) })
	if err != nil {
		return nil, err
	}
	return takeViolations(raw), nil
}

// wait asks, parks in the poller until the exit descriptor is readable, and asks again.
func wait(ctx context.Context, exitFd func(*C.int32_t, **C.berth_error) C.int32_t,
	ask func(*C.berth_exit, **C.berth_error) C.int32_t) (Exit, error) {
	for {
		var exit C.berth_exit
		err := call(ctx, func(e **C.berth_error) C.int32_t { return ask(&exit, e) })
		if err == nil {
			return toExit(&exit), nil
		}
		if ctx.Err() != nil || !errors.Is(err, DeadlineExceeded) {
			return Exit{}, err
		}
		var fd C.int32_t
		if err := call(ctx, func(e **C.berth_error) C.int32_t { return exitFd(&fd, e) }); err != nil {
			return Exit{}, err
		}
		if err := readable(ctx, int(fd), "berth exit"); err != nil {
			return Exit{}, err
		}
	}
}
