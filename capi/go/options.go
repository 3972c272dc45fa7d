package berth

// #include "berth.h"
import "C"

import "time"

// SessionOption is a part of a session's description. Unless told: a terminal of 24 rows and 80 columns, durable,
// BasicEnv, no limits.
type SessionOption func(*C.berth_session_spec) error

func newSessionSpec(name string, options []SessionOption) (*C.berth_session_spec, error) {
	var spec *C.berth_session_spec
	var object *C.berth_error
	data, size := view(name)
	if err := failed(C.berth_session_spec_new(&spec, data, size, &object), object); err != nil {
		return nil, err
	}
	for _, option := range options {
		if err := option(spec); err != nil {
			C.berth_session_spec_free(spec)
			return nil, err
		}
	}
	return spec, nil
}

// plain makes an option of a setter: what is wrong is kept by the spec, and told by the create.
func plain(set func(*C.berth_session_spec)) SessionOption {
	return func(spec *C.berth_session_spec) error {
		set(spec)
		return nil
	}
}

// Argv is the program and its arguments.
func Argv(argv ...string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		for _, arg := range argv {
			data, size := view(arg)
			C.berth_session_spec_add_arg(spec, data, size)
		}
	})
}

// Shell is one line for /bin/sh.
func Shell(line string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(line)
		C.berth_session_spec_set_shell(spec, data, size)
	})
}

// Backend is "native", "tmux", "docker" or "nix"; berth chooses unless told.
func Backend(name string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(name)
		C.berth_session_spec_set_backend(spec, data, size)
	})
}

// WithEnv is the program's environment.
func WithEnv(env Env) SessionOption {
	return func(spec *C.berth_session_spec) error {
		return env.use(func(raw *C.berth_env) { C.berth_session_spec_set_env(spec, raw) })
	}
}

// Dir is the working directory, absolute.
func Dir(path string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(path)
		C.berth_session_spec_set_cwd(spec, data, size)
	})
}

// Terminal is the size of its terminal.
func Terminal(rows, cols uint16) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		C.berth_session_spec_set_terminal(spec, C.uint16_t(rows), C.uint16_t(cols))
	})
}

// Pipes gives it three pipes in place of a terminal.
func Pipes() SessionOption { return Terminal(0, 0) }

// Ephemeral makes it end with its runtime.
func Ephemeral() SessionOption {
	return plain(func(spec *C.berth_session_spec) { C.berth_session_spec_set_durable(spec, 0) })
}

// TimeLimits are the longest that it may run and be without output, 0 for no limit, and the time between TERM and KILL.
func TimeLimits(wall, inactivity, grace time.Duration) SessionOption {
	limit := func(d time.Duration) C.int64_t {
		if d <= 0 {
			return -1
		}
		return C.int64_t(millis(d))
	}
	return plain(func(spec *C.berth_session_spec) {
		C.berth_session_spec_set_time_limits(spec, limit(wall), limit(inactivity), C.int64_t(millis(grace)))
	})
}

// Kept is how many lines of scrollback and bytes of output are kept.
func Kept(scrollbackLines int, outputBytes int64) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		C.berth_session_spec_set_kept(spec, C.int32_t(scrollbackLines), C.int64_t(outputBytes))
	})
}

// Log writes all output to a file too, which is rotated when it passes the cap.
func Log(path string, capBytes int64) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(path)
		C.berth_session_spec_set_log(spec, data, size, C.int64_t(capBytes))
	})
}

// Label is seen in SessionInfo.
func Label(key, value string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		k, kSize := view(key)
		v, vSize := view(value)
		C.berth_session_spec_set_label(spec, k, kSize, v, vSize)
	})
}
