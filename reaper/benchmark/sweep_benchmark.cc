// A sweep with nothing to do: what an operator pays every ten minutes. Linear in the number of
// records.

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"

namespace berth::reaper {
namespace {

void SweepNothing(benchmark::State& state) {
  std::string dir = "/tmp/berth-sweep-XXXXXX";
  if (mkdtemp(dir.data()) == nullptr) return state.SkipWithError("mkdtemp");
  {
    auto store = Store::Open(dir + "/state");
    if (!store.ok()) return state.SkipWithError("Store::Open");
    auto lease = Lease::Acquire((*store)->dir());
    for (int64_t i = 0; i < state.range(0); ++i) {
      Record record;
      record.name = absl::StrCat("s", i);
      record.backend = "native";
      record.owner_id = lease->owner_id();
      // Half of them durable, with a keeper that lives, as on a busy machine.
      record.durable = i % 2 == 0;
      auto made = (*store)->Reserve(std::move(record));
      if (!made.ok()) return state.SkipWithError("Reserve");
      made->state = kStateRunning;
      made->keeper = made->leader = lease->owner();
      if (!(*store)->Write(*made).ok()) return state.SkipWithError("Write");
    }
    for (auto _ : state) {
      const auto report = Sweep(**store, {});
      if (!report.ok() || ExitCodeOf(*report) != kExitNothing) {
        state.SkipWithError("there was something to do");
        break;
      }
    }
    state.SetComplexityN(state.range(0));
    state.counters["records/s"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                     benchmark::Counter::kIsIterationInvariantRate);
  }
  std::filesystem::remove_all(dir);
}
BENCHMARK(SweepNothing)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN)
    ->UseRealTime();

}  // namespace
}  // namespace berth::reaper
