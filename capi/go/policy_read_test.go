package berth

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

func TestWhatAPolicySaysCanBeRead(t *testing.T) {
	policy, err := NewPolicy("", "", System(), Debugging(), ReportFiles(), Path(ReadOnly, "/opt/tools", "/tools"),
		PathIfThere(ReadWrite, "/srv/project", ""), Tmpfs("/scratch"), AllowDomains("github.com", "*.npmjs.org"),
		DenySyscalls("kexec_load"), WithLimit(Pids, 7), WithLimit(WallMs, 1500), WithTier(TierLandlock), Hostname("inside"))
	must(t, err)
	if policy.Tier() != TierLandlock || policy.Network() != ReachDomains || policy.Hostname() != "inside" {
		t.Fatal(policy)
	}
	if !policy.System() || !policy.Debugging() || !policy.ReportFiles() || policy.PrivateHome() || policy.HostPidNamespace() ||
		policy.InheritedEnvironment() || policy.DockerSocket() || policy.SeccompOff() || policy.NestedUserNamespaces() {
		t.Fatal(policy)
	}
	if policy.Limit(Pids) != 7 || policy.Limit(WallMs) != 1500 || policy.Limit(Memory) != -1 {
		t.Fatal(policy)
	}
	paths, err := policy.Paths()
	expected := []PolicyPath{{ReadOnly, "/opt/tools", "/tools", false}, {ReadWrite, "/srv/project", "/srv/project", true}}
	if err != nil || !reflect.DeepEqual(paths, expected) {
		t.Fatal(paths, err)
	}
	if domains, err := policy.Domains(); err != nil || !slices.Equal(domains, []string{"github.com", "*.npmjs.org"}) {
		t.Fatal(domains, err)
	}
	if folders, err := policy.Tmpfs(); err != nil || !slices.Equal(folders, []string{"/scratch"}) {
		t.Fatal(folders, err)
	}
	if denied, err := policy.DeniedSyscalls(); err != nil || !slices.Equal(denied, []string{"kexec_load"}) {
		t.Fatal(denied, err)
	}
	families, err := NewPolicy("strict", "", SocketFamilies("unix"))
	must(t, err)
	if families.ReportFiles() {
		t.Fatal(families)
	}
	if all, err := families.SocketFamilies(); err != nil || !slices.Equal(all, []string{"unix"}) {
		t.Fatal(all, err)
	}
	weak, err := NewPolicy("", "", PrivateHome(), DangerousHostNetwork(), DangerousHostPidNamespace(),
		DangerousInheritedEnvironment(), DangerousDockerSocket(), DangerousSeccompOff(), DangerousNestedUserNamespaces())
	must(t, err)
	if weak.Network() != ReachHost || !weak.PrivateHome() || !weak.HostPidNamespace() || !weak.InheritedEnvironment() ||
		!weak.DockerSocket() || !weak.SeccompOff() || !weak.NestedUserNamespaces() {
		t.Fatal(weak)
	}
}

func TestATierIsFoundByItsName(t *testing.T) {
	for _, tier := range []Tier{TierAuto, TierNamespaces, TierPooled, TierLandlock} {
		if found, err := ParseTier(tier.String()); err != nil || found != tier {
			t.Fatal(tier, found, err)
		}
	}
	if _, err := ParseTier("none"); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
}
