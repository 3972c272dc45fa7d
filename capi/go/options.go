package berth

// #include "berth.h"
import "C"

import (
	"context"
	"time"
)

// SessionOption is a part of a session's description. Unless told: a terminal of 24 rows and 80 columns, durable,
// BasicEnv, no limits.
type SessionOption func(*C.berth_session_spec) error

func newSessionSpec(name string, options []SessionOption) (*C.berth_session_spec, error) {
	var spec *C.berth_session_spec
	data, size := view(name)
	err := call(context.Background(), func(e **C.berth_error) C.int32_t {
		return C.berth_session_spec_new(&spec, data, size, e)
	})
	if err != nil {
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

// WithPolicy is what it may see, write, call, reach and use up; without one: what this program may.
func WithPolicy(policy *Policy) SessionOption {
	return plain(func(spec *C.berth_session_spec) { C.berth_session_spec_set_policy(spec, policy.raw) })
}

// PullMode says when an image is pulled.
type PullMode int32

// Modes.
const (
	PullIfMissing PullMode = 0
	PullNever     PullMode = 1
	PullAlways    PullMode = 2
)

// Image is the container's.
func Image(name string, pull PullMode) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(name)
		C.berth_session_spec_set_image(spec, data, size, C.int32_t(pull))
	})
}

// Mount shows a folder or file of the host in the container.
func Mount(source, target string, readOnly bool) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		s, sSize := view(source)
		t, tSize := view(target)
		C.berth_session_spec_add_mount(spec, s, sSize, t, tSize, flag(readOnly))
	})
}

// Port is one inside that the host reaches on loopback; host 0: by one that is free.
func Port(inside, host uint16) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		C.berth_session_spec_add_port(spec, C.uint16_t(inside), C.uint16_t(host), nil, 0, 0)
	})
}

// PortOn is the same on another address of the host's, and for UDP if told.
func PortOn(address string, inside, host uint16, udp bool) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(address)
		C.berth_session_spec_add_port(spec, C.uint16_t(inside), C.uint16_t(host), data, size, flag(udp))
	})
}

// User is the container's: "uid:gid" or a name of the image's.
func User(user string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(user)
		C.berth_session_spec_set_user(spec, data, size)
	})
}

// Network is the container's.
func Network(network string) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		data, size := view(network)
		C.berth_session_spec_set_network(spec, data, size)
	})
}

// Container says whose user it runs as, whether berth's pid 1 is in it, and whether it is kept for the next of its name.
func Container(hostUser, init, reuse bool) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		flags := C.uint32_t(0)
		if hostUser {
			flags |= C.BERTH_CONTAINER_HOST_USER
		}
		if !init {
			flags |= C.BERTH_CONTAINER_NO_INIT
		}
		if reuse {
			flags |= C.BERTH_CONTAINER_REUSE
		}
		C.berth_session_spec_set_container_flags(spec, flags)
	})
}

// Flake is the folder with the flake.nix, and its dev shell ("" is the default).
func Flake(folder, shell string) SessionOption { return flake(folder, shell, false) }

// WrappedFlake is the same, but runs nix develop each time instead of what was kept of it.
func WrappedFlake(folder, shell string) SessionOption { return flake(folder, shell, true) }

func flake(folder, shell string, wrapped bool) SessionOption {
	return plain(func(spec *C.berth_session_spec) {
		f, fSize := view(folder)
		s, sSize := view(shell)
		C.berth_session_spec_set_flake(spec, f, fSize, s, sSize, flag(wrapped))
	})
}

func flag(value bool) C.int32_t {
	if value {
		return 1
	}
	return 0
}
