// From the kernel's answers to a report: apart from tiers.h, so that machines can be tested that
// are not at hand, and that a start need not wait for the answers.
#ifndef BERTH_SANDBOX_TIERS_FROM_PROBE_H_
#define BERTH_SANDBOX_TIERS_FROM_PROBE_H_

#include "sandbox/cgroups/report.h"
#include "sandbox/probe.h"
#include "sandbox/tiers.h"

namespace berth {

TierReport TierReportFrom(const KernelProbe& probe, CgroupReport cgroups);

// As TierReport::Probe, but takes for granted that namespaces and filters can be made, which is
// what takes that its time. For a start that fails where they cannot.
TierReport HopedTiers();

}  // namespace berth

#endif  // BERTH_SANDBOX_TIERS_FROM_PROBE_H_
