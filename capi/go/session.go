package berth

// #include "berth.h"
import "C"

import (
	"context"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Session is a named place with one main process. It is a view: Close ends nothing.
type Session struct {
	raw   *C.berth_session
	owner *Runtime // kept alive
	once  sync.Once
}

// Close lets go of the view. The session goes on.
func (s *Session) Close() error {
	s.once.Do(func() {
		runtime.SetFinalizer(s, nil)
		C.berth_session_free(s.raw)
	})
	return nil
}

// do makes a call on it.
func (s *Session) do(ctx context.Context, f func(**C.berth_error) C.int32_t) error {
	defer runtime.KeepAlive(s)
	return call(ctx, f)
}

// Handle is opaque and stays the same through a rename. Any process of the same user opens the session by it.
func (s *Session) Handle() string {
	defer runtime.KeepAlive(s)
	return text(func(size *C.size_t) *C.char { return C.berth_session_handle(s.raw, size) })
}

// Name is its name now.
func (s *Session) Name(ctx context.Context) (string, error) {
	var name *C.berth_string
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_name(&name, s.raw, e) })
	if err != nil {
		return "", err
	}
	return takeString(name), nil
}

// Info is what is known of it.
func (s *Session) Info(ctx context.Context) (SessionInfo, error) {
	var infos *C.berth_infos
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_info(&infos, s.raw, e) })
	if err != nil {
		return SessionInfo{}, err
	}
	return takeInfos(infos)[0], nil
}

// Liveness says whether a session lives.
type Liveness int32

// Nothing may be declared dead on LivenessUnknown.
const (
	LivenessUnknown Liveness = 0
	Alive           Liveness = 1
	Dead            Liveness = 2
)

func (l Liveness) String() string { return C.GoString(C.berth_liveness_name(C.int32_t(l))) }

// Liveness says whether it lives, and the reason in words.
func (s *Session) Liveness(ctx context.Context) (Liveness, string, error) {
	var liveness C.int32_t
	var reason *C.berth_string
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_liveness(&liveness, &reason, s.raw, e) })
	if err != nil {
		return LivenessUnknown, "", err
	}
	return Liveness(liveness), takeString(reason), nil
}

// Delivery is what is known of a sent message. Each includes the ones before it.
type Delivery int32

// Deliveries.
const (
	Queued    Delivery = 0 // accepted whole; the program has not been given all of it
	Written   Delivery = 1 // all bytes are in the program's terminal or pipe
	Submitted Delivery = 2 // and the submit key after them
	Confirmed Delivery = 3 // and the program answered with output after it
)

func (d Delivery) String() string { return C.GoString(C.berth_delivery_name(C.int32_t(d))) }

// SendOptions say how a message is sent. DefaultSend presses Enter and waits until it is submitted.
type SendOptions struct {
	Submit string // the key behind the text; "" for none
	Paste  bool   // bracketed paste when the program asked for it
	Until  Delivery
}

// DefaultSend is what Send uses.
var DefaultSend = SendOptions{Submit: "Enter", Paste: true, Until: Submitted}

// Send sends one message and presses Enter.
func (s *Session) Send(ctx context.Context, message string) (Delivery, error) {
	return s.SendWith(ctx, message, DefaultSend)
}

// SendWith sends one message, whole or not at all. After an error nothing of it was sent.
func (s *Session) SendWith(ctx context.Context, message string, o SendOptions) (Delivery, error) {
	limit, err := timeout(ctx)
	if err != nil {
		return 0, err
	}
	var options *C.berth_send_options
	err = call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_send_options_new(&options, e) })
	if err != nil {
		return 0, err
	}
	defer C.berth_send_options_free(options)
	submit, submitSize := view(o.Submit)
	C.berth_send_options_set_submit(options, submit, submitSize)
	C.berth_send_options_set_paste(options, flag(o.Paste))
	C.berth_send_options_set_await(options, C.int32_t(o.Until))
	var delivery C.int32_t
	data, size := view(message)
	err = s.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_session_send(&delivery, s.raw, data, size, options, C.int64_t(limit), e)
	})
	return Delivery(delivery), err
}

// SendKeys presses keys by name: "Enter", "C-c", "Up", "F5", "M-x".
func (s *Session) SendKeys(ctx context.Context, keys ...string) error {
	return withStrings(keys, func(list *C.berth_strings) error {
		return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_send_keys(s.raw, list, e) })
	})
}

// CloseStdin is an end of file for a program on pipes.
func (s *Session) CloseStdin(ctx context.Context) error {
	return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_close_stdin(s.raw, e) })
}

// Capture is what a person would see: the last lines, 0 for all that is kept.
func (s *Session) Capture(ctx context.Context, lines int) (string, error) {
	return s.capture(ctx, lines, 0)
}

// CaptureColour is the same with SGR sequences.
func (s *Session) CaptureColour(ctx context.Context, lines int) (string, error) {
	return s.capture(ctx, lines, C.BERTH_CAPTURE_COLOUR)
}

func (s *Session) capture(ctx context.Context, lines int, flags C.uint32_t) (string, error) {
	var screen *C.berth_string
	err := s.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_session_capture(&screen, s.raw, C.int32_t(lines), flags, e)
	})
	if err != nil {
		return "", err
	}
	return takeString(screen), nil
}

// Stdout is the bytes that the program writes, from the first one, to be read until end of file.
func (s *Session) Stdout(ctx context.Context) (*os.File, error) {
	file, _, err := s.Output(ctx, OutputOptions{})
	return file, err
}

// Stderr is the same for stderr, of a session on pipes.
func (s *Session) Stderr(ctx context.Context) (*os.File, error) {
	file, _, err := s.Output(ctx, OutputOptions{Stderr: true})
	return file, err
}

// StdoutFrom begins at that offset (-1: from now on) and tells where it really begins: later if older bytes are gone.
func (s *Session) StdoutFrom(ctx context.Context, offset int64) (*os.File, int64, error) {
	return s.Output(ctx, OutputOptions{From: offset})
}

// OutputOptions say what of a session's output is read, and how far a reader may lag.
type OutputOptions struct {
	Stderr bool  // of a session on pipes
	From   int64 // -1: from now on
	// Bytes that it may lag before the program waits for it; 0: 64 MiB. -1: the program never waits, the reader misses bytes.
	Lag int64
}

// Output is what the options say, and where it really begins: later if older bytes are gone.
func (s *Session) Output(ctx context.Context, options OutputOptions) (*os.File, int64, error) {
	stream, name := C.int32_t(C.BERTH_STDOUT), "stdout"
	if options.Stderr {
		stream, name = C.BERTH_STDERR, "stderr"
	}
	lag := C.int64_t(options.Lag)
	switch options.Lag {
	case 0:
		lag = -1
	case -1:
		lag = 0
	}
	var fd C.int32_t
	var begins C.int64_t
	err := s.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_session_output_fd(&fd, &begins, s.raw, stream, C.int64_t(options.From), lag, e)
	})
	if err != nil {
		return nil, 0, err
	}
	return newFile(int(fd), name), int64(begins), nil
}

// Resize gives its terminal another size.
func (s *Session) Resize(ctx context.Context, rows, cols uint16) error {
	return s.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_session_resize(s.raw, C.uint16_t(rows), C.uint16_t(cols), e)
	})
}

// Attach is a viewer: a socket that carries the screen now and all output after it, and takes input.
func (s *Session) Attach(ctx context.Context) (*os.File, error) {
	var fd C.int32_t
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_attach_fd(&fd, s.raw, e) })
	if err != nil {
		return nil, err
	}
	return newFile(int(fd), "berth viewer"), nil
}

// AttachCommand is the command that attaches a person's terminal.
func (s *Session) AttachCommand(ctx context.Context) ([]string, error) {
	var argv *C.berth_strings
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_attach_command(&argv, s.raw, e) })
	if err != nil {
		return nil, err
	}
	return takeStrings(argv), nil
}

// SetLog starts, moves or ("") ends the log.
func (s *Session) SetLog(ctx context.Context, path string, capBytes int64) error {
	data, size := view(path)
	return s.do(ctx, func(e **C.berth_error) C.int32_t {
		return C.berth_session_set_log(s.raw, data, size, C.int64_t(capBytes), e)
	})
}

// SetEnv is for programs that Exec starts from now on.
func (s *Session) SetEnv(ctx context.Context, key, value string) error {
	k, kSize := view(key)
	v, vSize := view(value)
	return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_set_env(s.raw, k, kSize, v, vSize, e) })
}

// Exec starts one more process in the session's place; its environment is on top of the session's.
func (s *Session) Exec(ctx context.Context, command Command) (*Process, error) {
	return start(ctx, s.owner, command, func(p **C.berth_process, spec *C.berth_process_spec, e **C.berth_error) C.int32_t {
		return C.berth_session_exec(p, s.raw, spec, e)
	})
}

// Stats is what it uses.
func (s *Session) Stats(ctx context.Context) (Stats, error) {
	var raw C.berth_stats
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_stats(&raw, s.raw, e) })
	if err != nil {
		return Stats{}, err
	}
	return toStats(&raw), nil
}

// Violations are what its policy has stopped, oldest first: the last ones, if there are many.
func (s *Session) Violations(ctx context.Context) ([]Violation, error) {
	var raw *C.berth_violations
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_violations(&raw, s.raw, e) })
	if err != nil {
		return nil, err
	}
	return takeViolations(raw), nil
}

// Changes are what it did to the folders that its policy shows copy-on-write; while it runs, so far.
func (s *Session) Changes(ctx context.Context) ([]Change, error) {
	var raw *C.berth_changes
	err := s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_changes(&raw, s.raw, e) })
	if err != nil {
		return nil, err
	}
	return takeChanges(raw), nil
}

// KeepChanges makes them where the folders really are: those at and below the paths, all without any.
func (s *Session) KeepChanges(ctx context.Context, paths ...string) error {
	keep := func(list *C.berth_strings) error {
		return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_keep_changes(s.raw, list, e) })
	}
	if len(paths) == 0 {
		return keep(nil)
	}
	return withStrings(paths, keep)
}

// DiscardChanges throws them away.
func (s *Session) DiscardChanges(ctx context.Context) error {
	return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_discard_changes(s.raw, e) })
}

// Signal is sent to the main process.
func (s *Session) Signal(ctx context.Context, signal syscall.Signal) error {
	return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_signal(s.raw, C.int32_t(signal), e) })
}

// Stop sends TERM to the whole tree and KILL after the grace; it returns when all of it is gone. If ctx is done first,
// the stop goes on by itself; so does Destroy.
func (s *Session) Stop(ctx context.Context, grace time.Duration) (Exit, error) {
	exit := new(C.berth_exit)
	err := aside(ctx, func(e **C.berth_error) C.int32_t {
		defer runtime.KeepAlive(s)
		return C.berth_session_stop(exit, s.raw, C.int64_t(millis(grace)), e)
	})
	if err != nil {
		return Exit{}, err
	}
	return toExit(exit), nil
}

// Wait waits for the end of the main process: any number of callers, any number of times.
func (s *Session) Wait(ctx context.Context) (Exit, error) {
	defer runtime.KeepAlive(s)
	return wait(ctx,
		func(fd *C.int32_t, e **C.berth_error) C.int32_t { return C.berth_session_exit_fd(fd, s.raw, e) },
		func(exit *C.berth_exit, e **C.berth_error) C.int32_t { return C.berth_session_wait(exit, s.raw, 0, e) })
}

// Rename gives it another name; the handle stays.
func (s *Session) Rename(ctx context.Context, name string) error {
	data, size := view(name)
	return s.do(ctx, func(e **C.berth_error) C.int32_t { return C.berth_session_rename(s.raw, data, size, e) })
}

// Destroy stops it and removes all that it had. Any number of times.
func (s *Session) Destroy(ctx context.Context, grace time.Duration) error {
	return aside(ctx, func(e **C.berth_error) C.int32_t {
		defer runtime.KeepAlive(s)
		return C.berth_session_destroy(s.raw, C.int64_t(millis(grace)), e)
	})
}
