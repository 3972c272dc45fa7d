// A host with a gigabyte in memory and many threads: starting from it works, and copies none of it.

#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

constexpr size_t kBytes = size_t{1} << 30;

using LargeHost = TreeTest;

TEST_F(LargeHost, StartsSessionsAndProcessesWhileItsThreadsRun) {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  memset(memory, 1, kBytes);
  // Threads that take the allocator's locks all the time: a fork of this host would inherit them
  // locked.
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&done] {
      while (!done) std::vector<std::string>(100, std::string(100, 'x'));
    });
  }
  auto fresh = OtherRuntime();  // its launcher is started by the large host
  for (int i = 0; i < 20; ++i) {
    auto process = fresh->Spawn({.command = Command::Shell(absl::StrCat("exit ", i))});
    ASSERT_THAT(process, IsOk());
    const auto status = (*process)->Wait(Soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(status->code, i);
    auto session = Create({.name = absl::StrCat("s", i), .command = Command::Argv({"cat"})});
    ASSERT_NE(session, nullptr);
    EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  }
  // Nothing that was started has the host's memory.
  auto process = fresh->Spawn({.command = Command::Argv({"sleep", "1000"})});
  ASSERT_THAT(process, IsOk());
  const auto stats = (*process)->GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_LT(stats->memory_bytes, int64_t{64} << 20);
  process->reset();
  done = true;
  for (std::thread& thread : threads) thread.join();
  munmap(memory, kBytes);
}

}  // namespace
}  // namespace berth
