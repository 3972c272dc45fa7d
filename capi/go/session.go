package berth

// #include "berth.h"
import "C"

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// Session is a named place with one main process. It is a view: Close ends nothing.
type Session struct {
	raw     *C.berth_session
	runtime *Runtime // kept alive
	once    sync.Once
}

// Close lets go of the view. The session goes on.
func (s *Session) Close() error {
	s.once.Do(func() { C.berth_session_free(s.raw) })
	return nil
}

// Handle is opaque and stays the same through a rename. Any process of the same user opens the session by it.
func (s *Session) Handle() string {
	var size C.size_t
	text := C.berth_session_handle(s.raw, &size)
	return C.GoStringN(text, C.int(size))
}

// Name is its name now.
func (s *Session) Name() (string, error) {
	var name *C.berth_string
	var object *C.berth_error
	if err := failed(C.berth_session_name(&name, s.raw, &object), object); err != nil {
		return "", err
	}
	return takeString(name), nil
}

// Info is what is known of it.
func (s *Session) Info() (SessionInfo, error) {
	var infos *C.berth_infos
	var object *C.berth_error
	if err := failed(C.berth_session_info(&infos, s.raw, &object), object); err != nil {
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

// Liveness says whether it lives, and the reason in words.
func (s *Session) Liveness() (Liveness, string, error) {
	var liveness C.int32_t
	var reason *C.berth_string
	var object *C.berth_error
	if err := failed(C.berth_session_liveness(&liveness, &reason, s.raw, &object), object); err != nil {
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
	var object *C.berth_error
	if err := failed(C.berth_send_options_new(&options, &object), object); err != nil {
		return 0, err
	}
	defer C.berth_send_options_free(options)
	submit, submitSize := view(o.Submit)
	C.berth_send_options_set_submit(options, submit, submitSize)
	paste := C.int32_t(0)
	if o.Paste {
		paste = 1
	}
	C.berth_send_options_set_paste(options, paste)
	C.berth_send_options_set_await(options, C.int32_t(o.Until))
	var delivery C.int32_t
	data, size := view(message)
	err = failed(C.berth_session_send(&delivery, s.raw, data, size, options, C.int64_t(limit), &object), object)
	return Delivery(delivery), err
}

// SendKeys presses keys by name: "Enter", "C-c", "Up", "F5", "M-x".
func (s *Session) SendKeys(keys ...string) error {
	return withStrings(keys, func(list *C.berth_strings) error {
		var object *C.berth_error
		return failed(C.berth_session_send_keys(s.raw, list, &object), object)
	})
}

// CloseStdin is an end of file for a program on pipes.
func (s *Session) CloseStdin() error {
	var object *C.berth_error
	return failed(C.berth_session_close_stdin(s.raw, &object), object)
}

// Capture is what a person would see: the last lines, 0 for all that is kept.
func (s *Session) Capture(lines int) (string, error) { return s.capture(lines, 0) }

// CaptureColour is the same with SGR sequences.
func (s *Session) CaptureColour(lines int) (string, error) {
	return s.capture(lines, C.BERTH_CAPTURE_COLOUR)
}

func (s *Session) capture(lines int, flags C.uint32_t) (string, error) {
	var screen *C.berth_string
	var object *C.berth_error
	if err := failed(C.berth_session_capture(&screen, s.raw, C.int32_t(lines), flags, &object), object); err != nil {
		return "", err
	}
	return takeString(screen), nil
}

// Stdout is the bytes that the program writes, from the first one, to be read until end of file.
func (s *Session) Stdout() (*os.File, error) {
	file, _, err := s.output(C.BERTH_STDOUT, 0, "stdout")
	return file, err
}

// Stderr is the same for stderr, of a session on pipes.
func (s *Session) Stderr() (*os.File, error) {
	file, _, err := s.output(C.BERTH_STDERR, 0, "stderr")
	return file, err
}

// StdoutFrom begins at that offset (-1: from now on) and tells where it really begins: later if older bytes are gone.
func (s *Session) StdoutFrom(offset int64) (*os.File, int64, error) {
	return s.output(C.BERTH_STDOUT, offset, "stdout")
}

func (s *Session) output(stream C.int32_t, from int64, name string) (*os.File, int64, error) {
	var fd C.int32_t
	var begins C.int64_t
	var object *C.berth_error
	code := C.berth_session_output_fd(&fd, &begins, s.raw, stream, C.int64_t(from), -1, &object)
	if err := failed(code, object); err != nil {
		return nil, 0, err
	}
	return newFile(int(fd), name), int64(begins), nil
}

// Resize gives its terminal another size.
func (s *Session) Resize(rows, cols uint16) error {
	var object *C.berth_error
	return failed(C.berth_session_resize(s.raw, C.uint16_t(rows), C.uint16_t(cols), &object), object)
}

// Attach is a viewer: a socket that carries the screen now and all output after it, and takes input.
func (s *Session) Attach() (*os.File, error) {
	var fd C.int32_t
	var object *C.berth_error
	if err := failed(C.berth_session_attach_fd(&fd, s.raw, &object), object); err != nil {
		return nil, err
	}
	return newFile(int(fd), "berth viewer"), nil
}

// AttachCommand is the command that attaches a person's terminal.
func (s *Session) AttachCommand() ([]string, error) {
	var argv *C.berth_strings
	var object *C.berth_error
	if err := failed(C.berth_session_attach_command(&argv, s.raw, &object), object); err != nil {
		return nil, err
	}
	return takeStrings(argv), nil
}

// SetLog starts, moves or ("") ends the log.
func (s *Session) SetLog(path string, capBytes int64) error {
	var object *C.berth_error
	data, size := view(path)
	return failed(C.berth_session_set_log(s.raw, data, size, C.int64_t(capBytes), &object), object)
}

// SetEnv is for programs that Exec starts from now on.
func (s *Session) SetEnv(key, value string) error {
	var object *C.berth_error
	k, kSize := view(key)
	v, vSize := view(value)
	return failed(C.berth_session_set_env(s.raw, k, kSize, v, vSize, &object), object)
}

// Exec starts one more process in the session's place; its environment is on top of the session's.
func (s *Session) Exec(ctx context.Context, command Command) (*Process, error) {
	return start(ctx, s.runtime, command, func(p **C.berth_process, spec *C.berth_process_spec, e **C.berth_error) C.int32_t {
		return C.berth_session_exec(p, s.raw, spec, e)
	})
}

// Stats is what it uses.
func (s *Session) Stats() (Stats, error) {
	var raw C.berth_stats
	var object *C.berth_error
	if err := failed(C.berth_session_stats(&raw, s.raw, &object), object); err != nil {
		return Stats{}, err
	}
	return toStats(&raw), nil
}

// Signal is sent to the main process.
func (s *Session) Signal(signal syscall.Signal) error {
	var object *C.berth_error
	return failed(C.berth_session_signal(s.raw, C.int32_t(signal), &object), object)
}

// Stop sends TERM to the whole tree and KILL after the grace; it returns when all of it is gone.
func (s *Session) Stop(grace time.Duration) (Exit, error) {
	var exit C.berth_exit
	var object *C.berth_error
	err := failed(C.berth_session_stop(&exit, s.raw, C.int64_t(millis(grace)), &object), object)
	return toExit(&exit), err
}

// Wait waits for the end of the main process: any number of callers, any number of times.
func (s *Session) Wait(ctx context.Context) (Exit, error) {
	return wait(ctx,
		func(fd *C.int32_t, e **C.berth_error) C.int32_t { return C.berth_session_exit_fd(fd, s.raw, e) },
		func(exit *C.berth_exit, e **C.berth_error) C.int32_t { return C.berth_session_wait(exit, s.raw, 0, e) })
}

// Rename gives it another name; the handle stays.
func (s *Session) Rename(name string) error {
	var object *C.berth_error
	data, size := view(name)
	return failed(C.berth_session_rename(s.raw, data, size, &object), object)
}

// Destroy stops it and removes all that it had. Any number of times.
func (s *Session) Destroy(grace time.Duration) error {
	var object *C.berth_error
	return failed(C.berth_session_destroy(s.raw, C.int64_t(millis(grace)), &object), object)
}
