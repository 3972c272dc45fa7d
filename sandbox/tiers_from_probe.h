// From the kernel's answers to a report: apart, so that machines can be tested that are not at
// hand.
#ifndef BERTH_SANDBOX_TIERS_FROM_PROBE_H_
#define BERTH_SANDBOX_TIERS_FROM_PROBE_H_

#include "sandbox/cgroups/report.h"
#include "sandbox/probe.h"
#include "sandbox/tiers.h"

namespace berth {

TierReport TierReportFrom(const KernelProbe& probe, CgroupReport cgroups);

}  // namespace berth

#endif  // BERTH_SANDBOX_TIERS_FROM_PROBE_H_
