package berth

// #include "berth.h"
import "C"

import (
	"context"
	"errors"
	"runtime"
)

// ParseTier is the tier of a name: "auto", "namespaces", "pooled", "landlock".
func ParseTier(name string) (Tier, error) {
	var tier C.int32_t
	data, size := view(name)
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_tier_from_name(&tier, data, size, e) })
	return Tier(tier), err
}

// Reach is what a policy lets a program reach.
type Reach int32

// Reaches.
const (
	ReachNothing Reach = 0 // its own loopback and nothing else
	ReachHost    Reach = 1 // the host's network
	ReachDomains Reach = 2 // the listed domains, through berth's proxy
)

func (p *Policy) number(field C.int32_t) int64 {
	defer runtime.KeepAlive(p)
	return int64(C.berth_policy_number(p.raw, field))
}

// Tier is how it is to be enforced.
func (p *Policy) Tier() Tier { return Tier(p.number(C.BERTH_POLICY_TIER)) }

// Network is what it lets a program reach.
func (p *Policy) Network() Reach { return Reach(p.number(C.BERTH_POLICY_NETWORK)) }

// System reports whether /usr, /bin, /lib and the like are shown.
func (p *Policy) System() bool { return p.number(C.BERTH_POLICY_SYSTEM) == 1 }

// PrivateHome reports whether it has a home directory of its own.
func (p *Policy) PrivateHome() bool { return p.number(C.BERTH_POLICY_PRIVATE_HOME) == 1 }

// Debugging reports whether ptrace and the like are allowed.
func (p *Policy) Debugging() bool { return p.number(C.BERTH_POLICY_DEBUGGING) == 1 }

// ReportFiles reports whether files that it is kept from are told as violations.
func (p *Policy) ReportFiles() bool { return p.number(C.BERTH_POLICY_REPORT_FILES) == 1 }

// HostPidNamespace reports whether the host's processes are seen.
func (p *Policy) HostPidNamespace() bool { return p.number(C.BERTH_POLICY_HOST_PID_NAMESPACE) == 1 }

// InheritedEnvironment reports whether InheritEnv is allowed.
func (p *Policy) InheritedEnvironment() bool {
	return p.number(C.BERTH_POLICY_INHERITED_ENVIRONMENT) == 1
}

// DockerSocket reports whether the Docker engine's socket is shown.
func (p *Policy) DockerSocket() bool { return p.number(C.BERTH_POLICY_DOCKER_SOCKET) == 1 }

// SeccompOff reports whether every system call is allowed.
func (p *Policy) SeccompOff() bool { return p.number(C.BERTH_POLICY_SECCOMP_OFF) == 1 }

// NestedUserNamespaces reports whether namespaces may be made inside.
func (p *Policy) NestedUserNamespaces() bool {
	return p.number(C.BERTH_POLICY_NESTED_USER_NAMESPACES) == 1
}

// Limit is what it may use up; -1: no limit of berth's.
func (p *Policy) Limit(limit Limit) int64 {
	defer runtime.KeepAlive(p)
	return int64(C.berth_policy_limit(p.raw, C.int32_t(limit)))
}

// Hostname is the name of the machine inside.
func (p *Policy) Hostname() string {
	defer runtime.KeepAlive(p)
	return text(func(size *C.size_t) *C.char { return C.berth_policy_text(p.raw, C.BERTH_POLICY_HOSTNAME, size) })
}

func (p *Policy) list(field C.int32_t) ([]string, error) {
	defer runtime.KeepAlive(p)
	var items *C.berth_strings
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_policy_list(&items, p.raw, field, e) })
	if err != nil {
		return nil, err
	}
	return takeStrings(items), nil
}

// Domains are those that it may reach.
func (p *Policy) Domains() ([]string, error) { return p.list(C.BERTH_POLICY_DOMAINS) }

// Tmpfs are its private, empty, writable folders.
func (p *Policy) Tmpfs() ([]string, error) { return p.list(C.BERTH_POLICY_TMPFS) }

// SocketFamilies are "unix", "inet", ….
func (p *Policy) SocketFamilies() ([]string, error) { return p.list(C.BERTH_POLICY_SOCKET_FAMILIES) }

// DeniedSyscalls are besides those that always are denied.
func (p *Policy) DeniedSyscalls() ([]string, error) { return p.list(C.BERTH_POLICY_DENIED_SYSCALLS) }

// PolicyPath is a path of the host that a policy shows.
type PolicyPath struct {
	Access       Access
	Path, Inside string // on the host, and where it is seen
	IfThere      bool   // left out where it does not exist
}

// Paths are those of the host that it shows, hides or carves out.
func (p *Policy) Paths() ([]PolicyPath, error) {
	defer runtime.KeepAlive(p)
	var all []PolicyPath
	for i := C.size_t(0); ; i++ {
		var it C.berth_policy_path
		err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_policy_path_at(&it, p.raw, i, e) })
		if errors.Is(err, OutOfRange) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, PolicyPath{Access(it.access), viewed(it.path, it.path_size), viewed(it.inside, it.inside_size),
			it.if_there == 1})
	}
}
