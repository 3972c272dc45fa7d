// What a session costs: moving its output, sending to it, and having it lie idle.
//
//   tools/bazel run --config=opt //runtime/native/benchmark:session_benchmark -- [--mib=1024]
//   [--idle=100] [--fifo]
//
// Rates are medians, taken in turns, beside a bare pipe of 1 MiB between the same two programs.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/benchmark/samples.h"
#include "runtime/runtime.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"

ABSL_FLAG(int, mib, 1024, "output to move in each turn");
ABSL_FLAG(int, turns, 5, "turns of each kind");
ABSL_FLAG(int, sends, 500, "messages to send");
ABSL_FLAG(int, idle, 100, "sessions to leave idle");
ABSL_FLAG(int, idle_seconds, 5, "for how long");
ABSL_FLAG(bool, fifo, false, "run under SCHED_FIFO");
ABSL_FLAG(std::string, program, "runtime/native/benchmark/stream_program",
          "the program in the sessions");

extern char** environ;

namespace berth {
namespace {

using launcher::NowNs;

std::string g_program;

// Bytes until end of file; dies on an error.
size_t Drain(int fd) {
  static std::vector<char> buffer(1 << 20);
  size_t total = 0;
  ssize_t n;
  while ((n = read(fd, buffer.data(), buffer.size())) > 0) total += static_cast<size_t>(n);
  CHECK_EQ(n, 0) << strerror(errno);
  return total;
}

// The program's stdout is `fd`.
pid_t Pour(const std::string& mib, int fd) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, 1);
  std::string pour = "pour", count = mib;
  char* argv[] = {g_program.data(), pour.data(), count.data(), nullptr};
  pid_t pid;
  CHECK_EQ(posix_spawn(&pid, g_program.c_str(), &actions, nullptr, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

void BarePipe(const std::string& mib) {
  int fds[2];
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  fcntl(fds[0], F_SETPIPE_SZ, 1 << 20);
  const pid_t pid = Pour(mib, fds[1]);
  close(fds[1]);
  Drain(fds[0]);
  close(fds[0]);
  waitpid(pid, nullptr, 0);
}

void BareFile(const std::string& mib, const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  CHECK_GE(fd, 0);
  waitpid(Pour(mib, fd), nullptr, 0);
  close(fd);
  unlink(path.c_str());
}

void SpawnedPipe(Runtime& runtime, const std::string& mib) {
  auto process = runtime.Spawn({.command = Command::Argv({g_program, "pour", mib})});
  CHECK_OK(process);
  auto out = (*process)->TakeStdout();
  CHECK_OK(out);
  Drain(out->get());
  CHECK_OK((*process)->Wait(absl::InfiniteFuture()));
}

void ThroughSession(Runtime& runtime, const std::string& mib, const std::string& log) {
  // It pours once we read along: what came before and is not kept would not be measured.
  auto session = runtime.CreateSession(
      {.name = "pour",
       .command =
           Command::Argv({"/bin/sh", "-c", "read go; exec \"$0\" pour \"$1\"", g_program, mib}),
       .pty = false,
       .log_path = log,
       .log_cap_bytes = int64_t{1} << 30});
  CHECK_OK(session);
  auto output = (*session)->OpenOutput({});
  CHECK_OK(output);
  CHECK_EQ(output->begins, 0);
  CHECK_OK((*session)->Send({.text = "go"}));
  Drain(output->fd.get());
  CHECK_OK((*session)->Destroy(absl::ZeroDuration()));
}

void Throughput(Runtime& runtime, const std::string& dir) {
  const int mib = absl::GetFlag(FLAGS_mib);
  const std::string text = absl::StrCat(mib);
  const std::string log = dir + "/log";
  struct Row {
    Samples samples;
    std::function<void()> run;
  };
  std::vector<Row> rows;
  rows.push_back({Samples("bare pipe of 1 MiB (floor)"), [&] { BarePipe(text); }});
  rows.push_back({Samples("no session: straight to a file"), [&] { BareFile(text, log); }});
  rows.push_back({Samples("Spawn, its stdout"), [&] { SpawnedPipe(runtime, text); }});
  rows.push_back(
      {Samples("session, through its keeper"), [&] { ThroughSession(runtime, text, ""); }});
  rows.push_back({Samples("session, keeper and log file"), [&] {
                    ThroughSession(runtime, text, log);
                    unlink(log.c_str());
                    unlink((log + ".1").c_str());
                  }});
  for (int turn = 0; turn < absl::GetFlag(FLAGS_turns); ++turn) {
    for (Row& row : rows) {
      const uint64_t begin = NowNs();
      row.run();
      row.samples.Add(mib * 1048576.0 / static_cast<double>(NowNs() - begin));
    }
  }
  printf("\n%d MiB of output, GB/s, median of %d\n", mib, absl::GetFlag(FLAGS_turns));
  for (const Row& row : rows) {
    printf("%-34s %9.2f   %.2f\n", row.samples.name().c_str(), row.samples.Percentile(0.5),
           row.samples.Percentile(0.5) / rows[0].samples.Percentile(0.5));
  }
}

void Sends(Runtime& runtime) {
  auto session = runtime.CreateSession(
      {.name = "stamp", .command = Command::Argv({g_program, "stamp"}), .pty = false});
  CHECK_OK(session);
  auto output = (*session)->OpenOutput({});
  CHECK_OK(output);
  auto process =
      runtime.Spawn({.command = Command::Argv({g_program, "stamp"}), .stdin_ = Stdio::Pipe()});
  CHECK_OK(process);
  auto in = (*process)->TakeStdin();
  auto out = (*process)->TakeStdout();
  CHECK_OK(in);
  CHECK_OK(out);
  Samples pipe("write to a pipe (floor)"), send("Session::Send"),
      returned("Session::Send, until it returns");
  for (int i = 0; i < absl::GetFlag(FLAGS_sends); ++i) {
    uint64_t stamp;
    uint64_t begin = NowNs();
    CHECK_EQ(write(in->get(), "x", 1), 1);
    CHECK_EQ(read(out->get(), &stamp, sizeof(stamp)), ssize_t{sizeof(stamp)});
    pipe.Add(static_cast<double>(stamp - begin) / 1e3);
    begin = NowNs();
    CHECK_OK((*session)->Send({.text = "x", .submit = ""}));
    const uint64_t end = NowNs();
    CHECK_EQ(read(output->fd.get(), &stamp, sizeof(stamp)), ssize_t{sizeof(stamp)});
    send.Add(static_cast<double>(stamp - begin) / 1e3);
    returned.Add(static_cast<double>(end - begin) / 1e3);
  }
  Samples::PrintHeader("sending one byte to the program's read, us", "floor");
  for (const Samples* row : {&pipe, &send, &returned}) row->Print(pipe);
  CHECK_OK((*session)->Destroy(absl::ZeroDuration()));
}

struct Keepers {
  int64_t pss_kib = 0;
  uint64_t ticks = 0;
  int count = 0;
};

// The keepers of this state directory, told by a descriptor of theirs that is below it.
Keepers MeasureKeepers(const std::string& dir) {
  namespace fs = std::filesystem;
  Keepers keepers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = atoi(entry.path().filename().c_str());
    if (pid <= 0 || launcher::ReadSmallFile((entry.path() / "comm").c_str()) != "berth-keeper\n")
      continue;
    bool ours = false;
    for (const auto& fd : fs::directory_iterator(entry.path() / "fd", error)) {
      ours = ours || fs::read_symlink(fd, error).string().rfind(dir, 0) == 0;
    }
    if (!ours) continue;
    const std::string rollup = launcher::ReadSmallFile((entry.path() / "smaps_rollup").c_str());
    const size_t at = rollup.find("\nPss:");
    if (at != std::string::npos) keepers.pss_kib += atoll(rollup.c_str() + at + 5);
    launcher::ProcStat stat;
    if (launcher::ReadProcStat(pid, &stat)) keepers.ticks += stat.cpu_ticks;
    ++keepers.count;
  }
  return keepers;
}

void Idle(Runtime& runtime, const std::string& dir) {
  const int count = absl::GetFlag(FLAGS_idle);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < count; ++i) {
    auto session = runtime.CreateSession(
        {.name = absl::StrCat("idle-", i), .command = Command::Argv({g_program, "stamp"})});
    CHECK_OK(session);
    sessions.push_back(*std::move(session));
  }
  const Keepers before = MeasureKeepers(dir);
  int never[2];
  CHECK_EQ(pipe2(never, O_CLOEXEC), 0);
  WaitFd(never[0], POLLIN, absl::Now() + absl::Seconds(absl::GetFlag(FLAGS_idle_seconds)), "idle")
      .IgnoreError();
  const Keepers after = MeasureKeepers(dir);
  close(never[0]);
  close(never[1]);
  printf(
      "\n%d idle sessions with a terminal\n%-34s %9.1f KiB\n%-34s %9llu ticks of 10 ms in %d s\n",
      after.count, "PSS of a keeper", static_cast<double>(after.pss_kib) / after.count,
      "CPU of all keepers", static_cast<unsigned long long>(after.ticks - before.ticks),
      absl::GetFlag(FLAGS_idle_seconds));
  for (auto& session : sessions) CHECK_OK(session->Destroy(absl::ZeroDuration()));
}

int Main() {
  if (absl::GetFlag(FLAGS_fifo) && !UseFifo())
    fprintf(stderr, "no right to SCHED_FIFO: going on without\n");
  char path[4096];
  CHECK_NE(realpath(absl::GetFlag(FLAGS_program).c_str(), path), nullptr)
      << absl::GetFlag(FLAGS_program);
  g_program = path;
  char dir[] = "/tmp/berth-benchmark-XXXXXX";
  CHECK_NE(mkdtemp(dir), nullptr);
  {
    auto runtime = Runtime::Create({.state_dir = dir});
    CHECK_OK(runtime);
    Throughput(**runtime, dir);
    Sends(**runtime);
    if (absl::GetFlag(FLAGS_idle) > 0) Idle(**runtime, dir);
  }
  std::filesystem::remove_all(dir);
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return berth::Main();
}
