// Starting processes: through the library, by posix_spawn, and by the floor of vfork + exec.
//
//   tools/bazel run --config=opt //runtime/native/benchmark:start_benchmark -- [--rounds=N]
//   [--fifo] [--gib=N]
//
// `first` is from the request to the program's first instruction, `reaped` to its known exit. --gib
// touches that much memory in this process first: a start must not depend on it.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/check.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/benchmark/samples.h"
#include "runtime/runtime.h"
#include "sandbox/launcher/kernel.h"

ABSL_FLAG(int, rounds, 500, "starts of each kind");
ABSL_FLAG(bool, fifo, false, "run under SCHED_FIFO");
ABSL_FLAG(int, gib, 0, "memory to touch in this process first");
ABSL_FLAG(std::string, program, "runtime/native/benchmark/first_instruction",
          "the program to start");

namespace berth {
namespace {

using launcher::NowNs;

uint64_t ReadTime(int fd) {
  uint64_t ns = 0;
  CHECK_EQ(read(fd, &ns, sizeof(ns)), ssize_t{sizeof(ns)});
  return ns;
}

struct Pair {
  explicit Pair(const std::string& name) : first(name), reaped(name) {}
  void Add(uint64_t begin, uint64_t started, uint64_t end) {
    first.Add(static_cast<double>(started - begin) / 1e3);
    reaped.Add(static_cast<double>(end - begin) / 1e3);
  }
  Samples first, reaped;
};

void Vfork(const char* program, int reads, int writes, Pair* out) {
  char* argv[] = {const_cast<char*>(program), nullptr};
  char* env[] = {nullptr};
  const uint64_t begin = NowNs();
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(writes, 1);
    execve(program, argv, env);
    _exit(127);
  }
  CHECK_EQ(waitpid(pid, nullptr, 0), pid);
  const uint64_t end = NowNs();
  out->Add(begin, ReadTime(reads), end);
}

void PosixSpawn(const char* program, int reads, int writes, Pair* out) {
  char* argv[] = {const_cast<char*>(program), nullptr};
  char* env[] = {nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writes, 1);
  const uint64_t begin = NowNs();
  pid_t pid;
  CHECK_EQ(posix_spawn(&pid, program, &actions, nullptr, argv, env), 0);
  CHECK_EQ(waitpid(pid, nullptr, 0), pid);
  const uint64_t end = NowNs();
  posix_spawn_file_actions_destroy(&actions);
  out->Add(begin, ReadTime(reads), end);
}

// Where the time of a start goes, as the library records it.
struct Steps {
  Samples prepare{"in the library, before the request"}, request{"request to the launcher"},
      start{"clone to exec done"}, reply{"reply to the library"};
};

void Spawn(Runtime& runtime, const char* program, int reads, int writes, Pair* out, Steps* steps) {
  const uint64_t begin = NowNs();
  auto process = runtime.Spawn({.command = Command::Argv({program}),
                                .env = Env::Clean(),
                                .cwd = "/",
                                .stdout_ = Stdio::Fd(writes),
                                .stderr_ = Stdio::Null()});
  CHECK_OK(process);
  CHECK_OK((*process)->Wait(absl::InfiniteFuture()));
  const uint64_t end = NowNs();
  out->Add(begin, ReadTime(reads), end);
  const StartTiming timing = (*process)->timing();
  const auto add = [](Samples* samples, absl::Duration from, absl::Duration to) {
    samples->Add(absl::ToDoubleMicroseconds(to - from));
  };
  add(&steps->prepare, absl::Nanoseconds(begin), timing.requested);
  add(&steps->request, timing.requested, timing.received);
  add(&steps->start, timing.received, timing.started);
  add(&steps->reply, timing.started, timing.replied);
}

void Rates(Runtime& runtime, const char* program) {
  printf("\nstarts per second, each awaited\n%-34s %9s %9s %9s\n", "threads", "1", "2", "8");
  const auto rate = [](int threads, const auto& start) {
    const int each = 400 / threads;
    std::vector<std::thread> all;
    const uint64_t begin = NowNs();
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        for (int n = 0; n < each; ++n) start();
      });
    }
    for (std::thread& thread : all) thread.join();
    return each * threads / (static_cast<double>(NowNs() - begin) / 1e9);
  };
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto spawn = [&] {
    auto process = runtime.Spawn({.command = Command::Argv({program}),
                                  .env = Env::Clean(),
                                  .cwd = "/",
                                  .stdout_ = Stdio::Fd(null),
                                  .stderr_ = Stdio::Fd(null)});
    CHECK_OK(process);
    CHECK_OK((*process)->Wait(absl::InfiniteFuture()));
  };
  const auto raw = [&] {
    char* argv[] = {const_cast<char*>(program), nullptr};
    char* env[] = {nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, null, 1);
    pid_t pid;
    CHECK_EQ(posix_spawn(&pid, program, &actions, nullptr, argv, env), 0);
    CHECK_EQ(waitpid(pid, nullptr, 0), pid);
    posix_spawn_file_actions_destroy(&actions);
  };
  printf("%-34s %9.0f %9.0f %9.0f\n", "posix_spawn", rate(1, raw), rate(2, raw), rate(8, raw));
  printf("%-34s %9.0f %9.0f %9.0f\n", "berth Spawn", rate(1, spawn), rate(2, spawn),
         rate(8, spawn));
  close(null);
}

int Main() {
  if (absl::GetFlag(FLAGS_fifo) && !UseFifo())
    fprintf(stderr, "no right to SCHED_FIFO: going on without\n");
  const size_t bytes = static_cast<size_t>(absl::GetFlag(FLAGS_gib)) << 30;
  if (bytes > 0) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_NE(memory, MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
  }
  char path[4096];
  CHECK_NE(realpath(absl::GetFlag(FLAGS_program).c_str(), path), nullptr)
      << absl::GetFlag(FLAGS_program);

  char dir[] = "/tmp/berth-benchmark-XXXXXX";
  CHECK_NE(mkdtemp(dir), nullptr);
  {
    auto runtime = Runtime::Create({.state_dir = dir});
    CHECK_OK(runtime);
    int fds[2];
    CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
    Pair floor("vfork + exec (floor)"), posix("posix_spawn"), berth("berth Spawn");
    Steps steps;
    for (int i = -20; i < absl::GetFlag(FLAGS_rounds); ++i) {
      Pair warm("");
      Steps cold;
      Vfork(path, fds[0], fds[1], i < 0 ? &warm : &floor);
      PosixSpawn(path, fds[0], fds[1], i < 0 ? &warm : &posix);
      Spawn(**runtime, path, fds[0], fds[1], i < 0 ? &warm : &berth, i < 0 ? &cold : &steps);
    }
    printf("%d rounds, %d GiB touched%s\n", absl::GetFlag(FLAGS_rounds), absl::GetFlag(FLAGS_gib),
           absl::GetFlag(FLAGS_fifo) ? ", SCHED_FIFO" : "");
    Samples::PrintHeader("request to first instruction, us", "floor");
    for (const Pair* pair : {&floor, &posix, &berth}) pair->first.Print(floor.first);
    Samples::PrintHeader("request to reaped exit, us", "floor");
    for (const Pair* pair : {&floor, &posix, &berth}) pair->reaped.Print(floor.reaped);
    Samples::PrintHeader("steps of berth Spawn, us", "floor's first instruction");
    for (const Samples* step : {&steps.prepare, &steps.request, &steps.start, &steps.reply})
      step->Print(floor.first);
    Rates(**runtime, path);
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
