// A sweep with nothing to do: what an operator pays every ten minutes. Linear in the number of
// records, and not much more than reading them all.

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

constexpr int64_t kMostKeepers = 500;

// A state directory as on a busy machine: half of the sessions end with this process, half are
// durable and have a keeper that lives, and a socket.
class Machine {
 public:
  explicit Machine(int64_t sessions) {
    if (mkdtemp(dir_.data()) == nullptr) return;
    auto store = Store::Open(dir_ + "/state");
    if (!store.ok()) return;
    store_ = *std::move(store);
    auto lease = Lease::Acquire(store_->dir());
    if (!lease.ok()) return;
    lease_ = std::make_unique<Lease>(*std::move(lease));
    for (int64_t i = 0; i < std::min(kMostKeepers, (sessions + 1) / 2); ++i) StartKeeper();
    for (int64_t i = 0; i < sessions; ++i) {
      if (!MakeSession(i)) return;
    }
    ok_ = true;
  }
  ~Machine() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
    lease_.reset();
    std::filesystem::remove_all(dir_);
  }
  bool ok() const { return ok_; }
  const Store& store() const { return *store_; }
  const std::vector<std::string>& uids() const { return uids_; }

 private:
  void StartKeeper() {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) pause();
    }
    pids_.push_back(pid);
    keepers_.push_back(*IdentifyProcess(pid));
  }
  bool MakeSession(int64_t number) {
    Record record;
    record.name = absl::StrCat("s", number);
    record.backend = "native";
    record.owner_id = lease_->owner_id();
    record.owner = lease_->owner();
    record.durable = number % 2 == 0;
    auto made = store_->Reserve(std::move(record));
    if (!made.ok()) return false;
    made->state = kStateRunning;
    made->keeper = made->leader = keepers_[static_cast<size_t>(number / 2) % keepers_.size()];
    made->tree = kTreeCgroup;
    made->cgroup = absl::StrCat("/user.slice/user-1000.slice/berth-", made->uid);
    made->socket = absl::StrCat(store_->dir().run_path(), "/", made->uid);
    uids_.push_back(made->uid);
    return mknodat(store_->dir().run_fd(), made->uid.c_str(), S_IFSOCK | 0600, 0) == 0 &&
           store_->Write(*made).ok();
  }

  // In memory: making them durable on a disk takes minutes, and the kernel has what is swept every
  // ten minutes in memory anyway.
  std::string dir_ = "/dev/shm/berth-sweep-XXXXXX";
  std::unique_ptr<Store> store_;
  std::unique_ptr<Lease> lease_;
  std::vector<Identity> keepers_;
  std::vector<pid_t> pids_;
  std::vector<std::string> uids_;
  bool ok_ = false;
};

void SetCounters(benchmark::State& state) {
  state.SetComplexityN(state.range(0));
  state.counters["records/s"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

// The floor: the bytes of every record.
void ReadRecords(benchmark::State& state) {
  const Machine machine(state.range(0));
  if (!machine.ok()) return state.SkipWithError("the sessions could not be made");
  char buffer[8192];
  for (auto _ : state) {
    for (const std::string& uid : machine.uids()) {
      const int fd = openat(machine.store().dir().sessions_fd(), (uid + "/record.json").c_str(),
                            O_RDONLY | O_CLOEXEC);
      const ssize_t got = read(fd, buffer, sizeof buffer);
      close(fd);
      if (got <= 0) return state.SkipWithError("a record could not be read");
      benchmark::DoNotOptimize(buffer);
    }
  }
  SetCounters(state);
}

void SweepNothing(benchmark::State& state) {
  const Machine machine(state.range(0));
  if (!machine.ok()) return state.SkipWithError("the sessions could not be made");
  for (auto _ : state) {
    const auto report = Sweep(machine.store(), {});
    if (!report.ok() || ExitCodeOf(*report) != kExitNothing || report->kept != state.range(0)) {
      return state.SkipWithError("there was something to do");
    }
  }
  SetCounters(state);
}

BENCHMARK(ReadRecords)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN)
    ->UseRealTime();
BENCHMARK(SweepNothing)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN)
    ->UseRealTime();

}  // namespace
}  // namespace berth::reaper
