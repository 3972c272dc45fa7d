package berth

// #include "berth.h"
import "C"

import (
	"context"
	"runtime"
	"time"
)

// Policy is what a session may see, write, call, reach and use up. Immutable; share it freely.
type Policy struct{ raw *C.berth_policy }

// Access says how a path is seen.
type Access int32

// Accesses.
const (
	ReadOnly    Access = 1
	ReadWrite   Access = 2
	Hidden      Access = 3 // seen as empty
	Carve       Access = 4 // below a writable path: read-only, and cannot be made if it is not there
	CopyOnWrite Access = 5 // writable, and the changes are kept apart: see Session.Changes
)

// Limit is what a tree may use up.
type Limit int32

// Limits.
const (
	Memory    Limit = 0 // bytes
	Swap      Limit = 1 // bytes besides memory
	Pids      Limit = 2 // processes and threads
	MilliCPUs Limit = 3 // thousandths of a core
	WallMs    Limit = 4
	FileSize  Limit = 5 // bytes of each file that is written
	OpenFiles Limit = 6 // of each process
	TmpSize   Limit = 7 // bytes of the private /tmp and /dev/shm, each
)

// Tier is how a policy is enforced. Probed, reported, never weakened silently.
type Tier int32

// Tiers.
const (
	TierAuto       Tier = 0 // the strongest that this machine can
	TierNamespaces Tier = 1
	TierPooled     Tier = 2
	TierLandlock   Tier = 3
)

func (t Tier) String() string { return C.GoString(C.berth_tier_name(C.int32_t(t))) }

// PolicyOption is a part of a policy's description. The first thing that is wrong is reported by the call that takes it.
type PolicyOption func(*C.berth_policy_builder) error

// AgentPolicy is for coding agents: the workspace writable but for what an agent must not change in it, the system
// read-only, no network.
func AgentPolicy(workspace string, options ...PolicyOption) (*Policy, error) {
	return NewPolicy("agent", workspace, options...)
}

// NewPolicy begins as the preset ("agent", "build", "strict", "" for nothing) and is changed by the options.
func NewPolicy(preset, workspace string, options ...PolicyOption) (*Policy, error) {
	p, pSize := view(preset)
	w, wSize := view(workspace)
	return buildPolicy(func(b **C.berth_policy_builder, e **C.berth_error) C.int32_t {
		return C.berth_policy_builder_new(b, p, pSize, w, wSize, e)
	}, options)
}

// With is the policy, changed by the options.
func (p *Policy) With(options ...PolicyOption) (*Policy, error) {
	defer runtime.KeepAlive(p)
	return buildPolicy(func(b **C.berth_policy_builder, e **C.berth_error) C.int32_t {
		return C.berth_policy_builder_from(b, p.raw, e)
	}, options)
}

func buildPolicy(begin func(**C.berth_policy_builder, **C.berth_error) C.int32_t, options []PolicyOption) (*Policy, error) {
	var builder *C.berth_policy_builder
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return begin(&builder, e) })
	if err != nil {
		return nil, err
	}
	defer C.berth_policy_builder_free(builder)
	for _, option := range options {
		if err := option(builder); err != nil {
			return nil, err
		}
	}
	return newPolicy(func(p **C.berth_policy, e **C.berth_error) C.int32_t { return C.berth_policy_build(p, builder, e) })
}

func newPolicy(give func(**C.berth_policy, **C.berth_error) C.int32_t) (*Policy, error) {
	var raw *C.berth_policy
	if err := call(context.Background(), func(e **C.berth_error) C.int32_t { return give(&raw, e) }); err != nil {
		return nil, err
	}
	p := &Policy{raw: raw}
	runtime.SetFinalizer(p, func(p *Policy) { C.berth_policy_free(p.raw) })
	return p, nil
}

// ParsePolicy reads JSON. PermissionDenied if it asks for something dangerous.
func ParsePolicy(json string) (*Policy, error) {
	data, size := view(json)
	return newPolicy(func(p **C.berth_policy, e **C.berth_error) C.int32_t {
		return C.berth_policy_from_text(p, data, size, e)
	})
}

// DangerousParsePolicy reads JSON whose author may ask for anything: an operator's own file.
func DangerousParsePolicy(json string) (*Policy, error) {
	data, size := view(json)
	return newPolicy(func(p **C.berth_policy, e **C.berth_error) C.int32_t {
		return C.berth_policy_dangerous_from_text(p, data, size, e)
	})
}

// String is the policy as JSON.
func (p *Policy) String() string {
	defer runtime.KeepAlive(p)
	var json *C.berth_string
	err := call(context.Background(), func(e **C.berth_error) C.int32_t { return C.berth_policy_to_text(&json, p.raw, e) })
	if err != nil {
		return err.Error()
	}
	return takeString(json)
}

// Hash is equal for equal policies, and for no others.
func (p *Policy) Hash() string {
	defer runtime.KeepAlive(p)
	return text(func(size *C.size_t) *C.char { return C.berth_policy_text(p.raw, C.BERTH_POLICY_HASH, size) })
}

// Check tells the tier that would enforce it here, and what that cannot hold, in words.
func (p *Policy) Check(ctx context.Context) (Tier, []string, error) {
	defer runtime.KeepAlive(p)
	var tier C.int32_t
	var gaps *C.berth_strings
	err := call(ctx, func(e **C.berth_error) C.int32_t { return C.berth_policy_check(&tier, &gaps, p.raw, e) })
	if err != nil {
		return TierAuto, nil, err
	}
	return Tier(tier), takeStrings(gaps), nil
}

func policyOption(set func(*C.berth_policy_builder)) PolicyOption {
	return func(builder *C.berth_policy_builder) error {
		set(builder)
		return nil
	}
}

func policyList(items []string, set func(*C.berth_policy_builder, *C.berth_strings)) PolicyOption {
	return func(builder *C.berth_policy_builder) error {
		return withStrings(items, func(list *C.berth_strings) error {
			set(builder, list)
			return nil
		})
	}
}

// Path shows a path of the host, absolute; inside is where it is seen, "" for the same place.
func Path(access Access, path, inside string) PolicyOption { return addPath(access, path, inside, 0) }

// PathIfThere is the same, left out where it does not exist.
func PathIfThere(access Access, path, inside string) PolicyOption {
	return addPath(access, path, inside, C.BERTH_PATH_IF_THERE)
}

func addPath(access Access, path, inside string, flags C.uint32_t) PolicyOption {
	return policyOption(func(builder *C.berth_policy_builder) {
		p, pSize := view(path)
		i, iSize := view(inside)
		C.berth_policy_builder_add_path(builder, C.int32_t(access), p, pSize, i, iSize, flags)
	})
}

// System shows /usr, /bin, /lib and what programs need of /etc, read-only.
func System() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_add_system(b) })
}

// PrivateHome is an empty, writable home directory of its own.
func PrivateHome() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_add_private_home(b) })
}

// Tmpfs is a private, empty, writable folder.
func Tmpfs(path string) PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) {
		data, size := view(path)
		C.berth_policy_builder_add_tmpfs(b, data, size)
	})
}

// NoNetwork is its own loopback and nothing else.
func NoNetwork() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_set_no_network(b) })
}

// AllowDomains are "github.com", "*.npmjs.org" (names below it), "example.com:8443".
func AllowDomains(domains ...string) PolicyOption {
	return policyList(domains, func(b *C.berth_policy_builder, l *C.berth_strings) { C.berth_policy_builder_set_domains(b, l) })
}

// SocketFamilies are "unix", "inet", ….
func SocketFamilies(families ...string) PolicyOption {
	return policyList(families, func(b *C.berth_policy_builder, l *C.berth_strings) {
		C.berth_policy_builder_set_socket_families(b, l)
	})
}

// DenySyscalls are besides those that always are denied.
func DenySyscalls(names ...string) PolicyOption {
	return policyList(names, func(b *C.berth_policy_builder, l *C.berth_strings) { C.berth_policy_builder_deny_syscalls(b, l) })
}

// Debugging allows ptrace and the like, of its own processes.
func Debugging() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_allow_debugging(b) })
}

// ReportFiles has files that it is kept from told as violations, by their names. Each call that names a file costs more
// then.
func ReportFiles() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_report_files(b) })
}

// WithLimit is what it may use up.
func WithLimit(limit Limit, value int64) PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) {
		C.berth_policy_builder_set_limit(b, C.int32_t(limit), C.int64_t(value))
	})
}

// WithTier says how it is enforced; TierAuto unless told.
func WithTier(tier Tier) PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_set_tier(b, C.int32_t(tier)) })
}

// Hostname is the name of the machine inside.
func Hostname(name string) PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) {
		data, size := view(name)
		C.berth_policy_builder_set_hostname(b, data, size)
	})
}

// DangerousHostNetwork is all that listens on the host's loopback, and everything that it can reach.
func DangerousHostNetwork() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_dangerous_host_network(b) })
}

// DangerousHostPidNamespace shows the host's processes; those of the same user can be signalled.
func DangerousHostPidNamespace() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_dangerous_host_pid_namespace(b) })
}

// DangerousInheritedEnvironment allows InheritEnv: whatever secrets this program's variables hold.
func DangerousInheritedEnvironment() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_dangerous_inherited_environment(b) })
}

// DangerousDockerSocket is the Docker engine's socket, which is root on the host.
func DangerousDockerSocket() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_dangerous_docker_socket(b) })
}

// DangerousSeccompOff allows every system call of the kernel.
func DangerousSeccompOff() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_dangerous_seccomp_off(b) })
}

// DangerousNestedUserNamespaces allows namespaces made inside, with all the kernel code that they open.
func DangerousNestedUserNamespaces() PolicyOption {
	return policyOption(func(b *C.berth_policy_builder) { C.berth_policy_builder_dangerous_nested_user_namespaces(b) })
}

// Layer is the part of a policy that stopped something.
type Layer int32

// Layers. Later versions may have more.
const (
	LayerSyscall  Layer = 1
	LayerFile     Layer = 2
	LayerNetwork  Layer = 3
	LayerMemory   Layer = 4
	LayerPids     Layer = 5
	LayerWall     Layer = 6
	LayerFileSize Layer = 7
)

func (l Layer) String() string { return C.GoString(C.berth_violation_layer_name(C.int32_t(l))) }

// Violation is a fact about something that a policy stopped.
type Violation struct {
	Layer  Layer
	What   string // what was tried
	Reason string // the rule that stopped it
	Text   string // both, for people
	Pid    int    // who tried; 0: not known
	When   time.Time
	Number int64 // 1, 2, 3, … of its session or process
}

func takeViolations(raw *C.berth_violations) []Violation {
	defer C.berth_violations_free(raw)
	var all []Violation
	for i := C.size_t(0); i < C.berth_violations_count(raw); i++ {
		var it C.berth_violation
		if C.berth_violations_at(&it, raw, i, nil) != C.BERTH_OK {
			break
		}
		all = append(all, Violation{Layer(it.layer), viewed(it.what, it.what_size), viewed(it.reason, it.reason_size),
			viewed(it.text, it.text_size), int(it.pid), time.Unix(0, int64(it.when_unix_ns)), int64(it.number)})
	}
	return all
}
