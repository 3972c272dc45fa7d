package berth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestTheLibraryTellsItsVersionAndFeatures(t *testing.T) {
	if LibraryABIVersion() < ABIVersion || ABIVersion < 3 {
		t.Fatal(LibraryABIVersion(), ABIVersion)
	}
	if !Features().Has(FeatureNative|FeatureAgents|FeaturePolicy) || FeatureNative.Has(FeatureTmux) {
		t.Fatal(Features())
	}
}

func TestValuesHaveWords(t *testing.T) {
	for value, word := range map[fmt.Stringer]string{
		AbilityWeaker: "weaker", Added: "added", TypeSymlink: "symlink", Confirmed: "confirmed", Alive: "alive",
		LivenessUnknown: "unknown", StateRunning: "running", ProcessUninterruptibleSleep: "uninterruptible sleep",
		AgentEndResumeRefused: "resume_refused", AgentEndLost: "lost", TierPooled: "pooled", Doubt: "doubt",
		SweptOutOfTime: "out_of_time", LayerNetwork: "network", AgentToolCall: "tool_call", AgentFailed: "failed",
		Delivery(99): "unknown",
	} {
		if value.String() != word {
			t.Errorf("%T(%d) is %q, not %q", value, value, value, word)
		}
	}
}

func TestAnExitHasTheCodeThatAShellWouldGive(t *testing.T) {
	killed := Exit{Signal: syscall.SIGKILL, Reason: EndSignaled}
	if killed.ShellCode() != 137 || killed.Success() {
		t.Fatal(killed)
	}
	for code, exit := range map[int]Exit{0: {Reason: EndExited}, 3: {Code: 3, Reason: EndExited}} {
		if exit.ShellCode() != code || exit.Success() != (code == 0) {
			t.Fatal(exit)
		}
	}
}

func TestAnEnvironmentIsResolvedAndLaidBeneathAnother(t *testing.T) {
	below := CleanEnv().Set("A", "below").Set("B", "below").Append("P", "/below", ":")
	env := CleanEnv().Set("A", "here").Append("P", "/here", ":").Beneath(below).Set("C", "after")
	entries, err := env.Resolve()
	must(t, err)
	slices.Sort(entries)
	if got := strings.Join(entries, " "); got != "A=here B=below C=after P=/below:/here" {
		t.Fatal(got)
	}
	if _, err := CleanEnv().Beneath(CleanEnv().Set("1A", "x")).Resolve(); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
	t.Setenv("BERTH_VALUES_TEST", "host's")
	entries, err = ListedEnv("BERTH_VALUES_TEST").Resolve()
	if err != nil || !slices.Equal(entries, []string{"BERTH_VALUES_TEST=host's"}) {
		t.Fatal(entries, err)
	}
}

func TestAStartTellsHowLongItsStepsTook(t *testing.T) {
	runtime, _, ctx := place(t)
	process, err := runtime.Spawn(ctx, Command{Shell: "true"})
	must(t, err)
	defer process.Close()
	timing, err := process.Timing()
	if err != nil || timing.Requested <= 0 || timing.Received < timing.Requested || timing.Started < timing.Received ||
		timing.Replied < timing.Started {
		t.Fatal(timing, err)
	}
	identity, err := Identify(syscall.Getpid())
	if err != nil || identity.Pid() != syscall.Getpid() || len(identity.BootID()) != 36 {
		t.Fatal(identity, err)
	}
}
