// What a filter adds to a system call.
#ifndef BERTH_SANDBOX_BENCHMARK_FILTER_COST_H_
#define BERTH_SANDBOX_BENCHMARK_FILTER_COST_H_

#include "sandbox/benchmark/floors.h"

namespace berth {

// Of two calls: one that the kernel knows to be allowed whatever its arguments are, and one whose
// arguments are compared.
void PrintFilterCost(const FloorPlan& plan);

}  // namespace berth

#endif  // BERTH_SANDBOX_BENCHMARK_FILTER_COST_H_
