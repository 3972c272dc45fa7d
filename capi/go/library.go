package berth

// #include "berth.h"
import "C"

// ABIVersion is of the header that this package was built with; LibraryABIVersion may be higher.
const ABIVersion = int(C.BERTH_ABI_VERSION)

// LibraryABIVersion is of the library at hand. It goes up when something is added.
func LibraryABIVersion() int { return int(C.berth_abi_version()) }

// Feature is something that a library may be built with; several of them together.
type Feature uint64

// Features. Later versions may have more.
const (
	FeatureNative       Feature = C.BERTH_FEATURE_NATIVE // the backend "native"
	FeatureTmux         Feature = C.BERTH_FEATURE_TMUX
	FeatureDocker       Feature = C.BERTH_FEATURE_DOCKER
	FeatureNix          Feature = C.BERTH_FEATURE_NIX
	FeaturePolicy       Feature = C.BERTH_FEATURE_POLICY
	FeatureAgents       Feature = C.BERTH_FEATURE_AGENTS
	FeatureReaper       Feature = C.BERTH_FEATURE_REAPER
	FeaturePorts        Feature = C.BERTH_FEATURE_PORTS
	FeatureEnvironments Feature = C.BERTH_FEATURE_ENVIRONMENTS
	FeatureImages       Feature = C.BERTH_FEATURE_IMAGES
	FeatureDoctor       Feature = C.BERTH_FEATURE_DOCTOR
)

// Features are those of the library at hand.
func Features() Feature { return Feature(C.berth_features()) }

// Has reports whether all of the other's are among them.
func (f Feature) Has(other Feature) bool { return f&other == other }
