// Starting sandboxes: the library's tiers, the floors beneath them, other sandboxes, and the
// command line, in turns.
//
//   tools/bazel run --config=opt //sandbox/benchmark:sandbox_benchmark -- [--rounds=N] [--fifo]
//   [--gap_ms=N] [--berth=PATH] [--only=NAME] [--rates] [--existing=N] [--dir=FOLDER]
//
// The policy is the agent preset, the program a static one without libc. `first` is from the
// request to the program's first instruction, `reaped` to its known exit. bwrap and minijail0 are
// found on PATH and left out, with a word, where they are not. `berth run` is a command as they
// are: all that it does is in its figures, from its own start to its end.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/check.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/benchmark/samples.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/benchmark/filter_cost.h"
#include "sandbox/benchmark/floors.h"
#include "sandbox/benchmark/open_cost.h"
#include "sandbox/benchmark/peers.h"
#include "sandbox/compile.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/policy.h"
#include "sandbox/seccomp/filter.h"
#include "sandbox/tiers.h"

ABSL_FLAG(int, rounds, 300, "starts of each kind");
ABSL_FLAG(bool, fifo, false, "run under SCHED_FIFO");
ABSL_FLAG(int, gap_ms, 12, "quiet time before each start: what happens at the end of one is over");
ABSL_FLAG(std::string, berth, "tools/berth/berth", "the command line");
ABSL_FLAG(bool, rates, false, "starts per second at 1, 2 and 8 at once, without gaps");
ABSL_FLAG(int, existing, 0, "measure again beside so many sandboxes that run");
ABSL_FLAG(std::string, dir, "/var/tmp", "where the workspace is made");
ABSL_FLAG(std::string, only, "", "measure only what has this in its name");
ABSL_FLAG(std::string, program, "runtime/native/benchmark/first_instruction", "what to start");

namespace berth {
namespace {

namespace fs = std::filesystem;
using launcher::NowNs;
using launcher::SandboxPlan;

// One way to start the program and wait for its end; its stdout is the descriptor.
using Starter = std::function<void(int out)>;

struct Column {
  Column(const std::string& name, Starter starter)
      : start(std::move(starter)), first(name), reaped(name) {}
  Starter start;
  Samples first, reaped;
};

void Await(pid_t pid) {
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK_EQ(status, 0);
}

class Bench {
 public:
  Bench();
  ~Bench() { fs::remove_all(dir_); }
  void Latency(const std::string& title);
  void Rates();
  void Beside(int count);
  void FilterCost() const { PrintFilterCost(floor_); }
  void ReportCost();
  void Preparations();

 private:
  SandboxPlan Compile(Tier tier);
  void AddFloors();
  void AddTiers();
  void AddPeers();
  void AddCommand(const std::string& name, std::vector<std::string> argv);
  launcher::Spawned Spawn(const SandboxPlan& plan, int out, std::vector<std::string> argv = {});

  std::string dir_ = absl::GetFlag(FLAGS_dir) + "/berth-benchmark-XXXXXX", work_, program_,
              home_ = "/berth-home";
  PolicyCompiler compiler_{TierReport::Probe()};
  SandboxPlan namespaces_, pooled_, landlock_;
  std::string filter_;  // without notifications, for those who serve none
  FloorPlan floor_;
  UniqueFd reads_, writes_;
  std::unique_ptr<Template> template_;
  std::unique_ptr<launcher::LauncherClient> client_;
  std::vector<Column> columns_;
};

SandboxPlan Bench::Compile(Tier tier) {
  auto policy = Policy::Agent(work_).ReadOnly(program_).Tier(tier).Build();
  CHECK_OK(policy);
  auto compiled = compiler_.Compile(*policy, {.home = home_, .tmp_dir = work_});
  CHECK_OK(compiled);
  return compiled->plan;
}

Bench::Bench() {
  char path[4096];
  CHECK_NE(realpath(absl::GetFlag(FLAGS_program).c_str(), path), nullptr);
  program_ = path;
  CHECK_NE(mkdtemp(dir_.data()), nullptr);
  work_ = dir_ + "/project";
  fs::create_directories(work_ + "/.git/hooks");
  fs::create_directories(dir_ + "/place");
  std::ofstream(work_ + "/.git/config") << "[core]\n";
  int fds[2];
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  reads_.reset(fds[0]);
  writes_.reset(fds[1]);
  namespaces_ = Compile(Tier::kNamespaces);
  pooled_ = Compile(Tier::kPooled);
  landlock_ = Compile(Tier::kLandlock);
  auto filter =
      seccomp::CompileFilter({.sockets = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}, .ipc = true});
  CHECK_OK(filter);
  filter_ = *filter;
  std::ofstream(dir_ + "/filter.bpf", std::ios::binary) << filter_;
  floor_ = FloorPlan::From(namespaces_, filter_, dir_ + "/place", program_);
  auto client = launcher::LauncherClient::Start("benchmark");
  CHECK_OK(client);
  client_ = *std::move(client);
  printf("filter: %zu instructions; mounts of the plan: %zu\n", filter_.size() / 8,
         namespaces_.mounts.size());
  AddFloors();
  AddTiers();
  AddPeers();
  std::erase_if(columns_, [](const Column& column) {
    return !absl::StrContains(column.first.name(), absl::GetFlag(FLAGS_only));
  });
}

launcher::Spawned Bench::Spawn(const SandboxPlan& plan, int out, std::vector<std::string> argv) {
  launcher::SpawnRequest request;
  request.argv = argv.empty() ? std::vector<std::string>{program_} : std::move(argv);
  request.cwd = "/";
  request.stdio[1] = out;
  request.plan = plan.tier == launcher::SandboxTier::kNone ? "" : plan.Encode();
  auto spawned = client_->Spawn(request);
  CHECK_OK(spawned);
  return *std::move(spawned);
}

void Bench::AddFloors() {
  columns_.emplace_back("floor: landlock + seccomp",
                        [this](int out) { Await(StartLandlocked(landlock_, floor_, out)); });
  template_ = std::make_unique<Template>(floor_, writes_.get());
  columns_.emplace_back("floor: from a template", [this](int) { template_->Run(); });
  columns_.emplace_back("floor: namespaces, no netns",
                        [this](int out) { Await(StartEnclosed(floor_, false, out)); });
  columns_.emplace_back("floor: namespaces",
                        [this](int out) { Await(StartEnclosed(floor_, true, out)); });
}

void Bench::AddTiers() {
  const auto add = [this](const std::string& name, const SandboxPlan& plan) {
    columns_.emplace_back(name, [this, &plan](int out) {
      const launcher::Spawned spawned = Spawn(plan, out);
      launcher::ExitNotice notice;
      CHECK_EQ(recv(spawned.exit_socket.get(), &notice, sizeof(notice), MSG_PEEK),
               ssize_t{sizeof(notice)});
      CHECK_EQ(notice.code + notice.signal, 0);
    });
  };
  static const SandboxPlan kNone;
  add("berth, no policy", kNone);
  add("berth, landlock", landlock_);
  add("berth, pooled", pooled_);
  add("berth, namespaces", namespaces_);
}

void Bench::AddCommand(const std::string& name, std::vector<std::string> argv) {
  if (argv.empty() || argv[0].empty()) return;
  columns_.emplace_back(name, [this, name, argv](int out) {
    std::vector<char*> raw;
    for (const std::string& arg : argv) raw.push_back(const_cast<char*>(arg.c_str()));
    raw.push_back(nullptr);
    const std::string state = absl::StrCat("BERTH_STATE_DIR=", dir_, "/state"),
                      home = absl::StrCat("HOME=", home_);
    char* env[] = {const_cast<char*>("PATH=/usr/bin:/bin:/usr/sbin"),
                   const_cast<char*>(state.c_str()), const_cast<char*>(home.c_str()), nullptr};
    const UniqueFd filter(open((dir_ + "/filter.bpf").c_str(), O_RDONLY | O_CLOEXEC));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, filter.get(), 9);
    pid_t pid;
    CHECK_EQ(posix_spawn(&pid, raw[0], &actions, nullptr, raw.data(), env), 0);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0) << name << " failed";
  });
}

void Bench::AddPeers() {
  const Peers peers{namespaces_, program_, dir_ + "/filter.bpf", dir_ + "/jail"};
  AddCommand("bwrap", peers.Bwrap());
  AddCommand("minijail0", peers.Minijail());
  const std::string berth = absl::GetFlag(FLAGS_berth);
  if (access(berth.c_str(), X_OK) != 0) {
    printf("%s is not there: left out\n", berth.c_str());
  } else {
    AddCommand("berth run", {berth, "run", "--preset", "agent", "--cwd", work_, "--ro", program_,
                             "--", program_});
    AddCommand("berth run, landlock", {berth, "run", "--preset", "agent", "--tier", "landlock",
                                       "--cwd", work_, "--ro", program_, "--", program_});
  }
}

void Bench::Latency(const std::string& title) {
  for (Column& column : columns_) {
    column.first = Samples(column.first.name());
    column.reaped = Samples(column.reaped.name());
  }
  for (int i = -3; i < absl::GetFlag(FLAGS_rounds); ++i) {
    for (Column& column : columns_) {
      absl::SleepFor(absl::Milliseconds(absl::GetFlag(FLAGS_gap_ms)));
      const uint64_t begin = NowNs();
      column.start(writes_.get());
      const uint64_t end = NowNs();
      uint64_t first = 0;
      CHECK_EQ(read(reads_.get(), &first, sizeof(first)), ssize_t{sizeof(first)});
      if (i < 0) continue;
      column.first.Add(static_cast<double>(first - begin) / 1e3);
      column.reaped.Add(static_cast<double>(end - begin) / 1e3);
    }
  }
  const Column* base = &columns_.back();
  for (const Column& column : columns_) {
    if (column.first.name() == "bwrap") base = &column;
  }
  const std::string against = base->first.name();
  Samples::PrintHeader(absl::StrCat(title, ": request to first instruction, us").c_str(),
                       against.c_str());
  for (const Column& column : columns_) column.first.Print(base->first);
  Samples::PrintHeader(absl::StrCat(title, ": request to known exit, us").c_str(), against.c_str());
  for (const Column& column : columns_) column.reaped.Print(base->reaped);
}

void Bench::Rates() {
  printf("\nstarts per second, each awaited, median of 3 turns\n%-34s %9s %9s %9s\n", "at once",
         "1", "2", "8");
  const UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto rate = [&](const Column& column, int threads) {
    const uint64_t until = NowNs() + 1000000000;
    std::atomic<int> count = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        for (; NowNs() < until; ++count) column.start(null.get());
      });
    }
    for (std::thread& thread : all) thread.join();
    return count.load();
  };
  for (const Column& column : columns_) {
    // One template serves one at a time.
    if (column.first.name() == "floor: from a template") continue;
    printf("%-34s", column.first.name().c_str());
    for (const int threads : {1, 2, 8}) {
      std::vector<int> turns;
      for (int i = 0; i < 3; ++i) turns.push_back(rate(column, threads));
      std::sort(turns.begin(), turns.end());
      printf(" %9d", turns[1]);
    }
    printf("\n");
    fflush(stdout);
  }
}

void Bench::Beside(int count) {
  std::vector<launcher::Spawned> running;
  const UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (int i = 0; i < count; ++i) {
    running.push_back(Spawn(namespaces_, null.get(), {program_, "stay"}));
  }
  Latency(absl::StrCat("beside ", count, " that run"));
  for (const launcher::Spawned& each : running) CHECK_OK(client_->Stop(each.pid, 0));
  for (const launcher::Spawned& each : running) {
    char byte;
    while (recv(each.exit_socket.get(), &byte, 1, 0) > 0) {
    }
  }
}

// Where each open is told to the helper first.
void Bench::ReportCost() {
  constexpr char kFile[] = "/etc/passwd";
  printf("ns per open and close of %s, files not told and told:", kFile);
  for (const Tier tier : {Tier::kNamespaces, Tier::kLandlock}) {
    const Policy::Builder plain = Policy::Agent(work_).ReadOnly(OwnProgram()).Tier(tier);
    printf(" %s", std::string(TierName(tier)).c_str());
    for (const Policy::Builder& each : {plain, Policy::Builder(plain).ReportFiles()}) {
      auto compiled = compiler_.Compile(*each.Build(), {.home = home_, .tmp_dir = work_});
      CHECK_OK(compiled);
      printf(" %.0f", OpenCost(client_.get(), compiled->plan, kFile));
    }
  }
  printf("\n");
}

// What a command does once before its only start.
void Bench::Preparations() {
  Samples filter("make the filter"), probe("probe the machine"), launcher("start the launcher");
  const auto time = [](Samples* samples, auto step) {
    const uint64_t begin = NowNs();
    step();
    samples->Add(static_cast<double>(NowNs() - begin) / 1e3);
  };
  for (int i = 0; i < 50; ++i) {
    std::unique_ptr<launcher::LauncherClient> client;
    time(&filter, [] {
      CHECK_OK(seccomp::CompileFilter({.sockets = {AF_UNIX, AF_INET, AF_INET6}, .notify = true}));
    });
    time(&probe, [] { TierReport::Probe(); });
    time(&launcher, [&client] {
      auto started = launcher::LauncherClient::Start("benchmark");
      CHECK_OK(started);
      client = *std::move(started);
    });
  }
  Samples::PrintHeader("before the only start of a command, us", "the probe");
  for (const Samples* each : {&filter, &probe, &launcher}) each->Print(probe);
}

int Main() {
  if (absl::GetFlag(FLAGS_fifo) && !UseFifo()) {
    fprintf(stderr, "no right to SCHED_FIFO: going on without\n");
  }
  Bench bench;
  bench.Latency(absl::StrCat(absl::GetFlag(FLAGS_rounds), " rounds",
                             absl::GetFlag(FLAGS_fifo) ? ", SCHED_FIFO" : ""));
  if (absl::GetFlag(FLAGS_only).empty()) {
    bench.FilterCost();
    bench.ReportCost();
    bench.Preparations();
  }
  if (absl::GetFlag(FLAGS_rates)) bench.Rates();
  if (absl::GetFlag(FLAGS_existing) > 0) bench.Beside(absl::GetFlag(FLAGS_existing));
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], berth::kOpensMode) == 0) return berth::MeasureOpens(argv[2]);
  absl::ParseCommandLine(argc, argv);
  return berth::Main();
}
