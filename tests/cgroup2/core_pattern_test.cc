// Row 24 of the list of escapes, on a kernel of its own: a core_pattern that is a pipe has the
// kernel run a program on the host, as root and outside of all namespaces, for each crash. Of
// sandboxes it must not.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/policy.h"
#include "tests/escape/escape_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

class CorePatternTest : public EscapeTest {
 protected:
  // As one whom no policy holds.
  static void CrashOnTheHost() {
    const pid_t pid = fork();
    if (pid == 0) {
      const rlimit core{0, 0};  // a pipe is run whatever the limit is
      setrlimit(RLIMIT_CORE, &core);
      raise(SIGSEGV);
      _exit(1);
    }
    ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  }
  // Who was crashed for, by what the handler wrote until `line` comes.
  static std::string ReadUntilLine(int fd, const std::string& line) {
    std::string all;
    while (all.find(line) == std::string::npos) {
      EXPECT_THAT(WaitFd(fd, POLLIN, absl::Now() + absl::Seconds(60), "the handler"), IsOk());
      char buffer[4096];
      const ssize_t n = read(fd, buffer, sizeof(buffer));
      if (n <= 0) return all;
      all.append(buffer, static_cast<size_t>(n));
    }
    return all;
  }
};

const Actor kCrash("crash", [](const std::vector<std::string>&) {
  for (const rlim_t limit : {rlim_t{0}, RLIM_INFINITY}) {
    const rlimit core{limit, limit};
    setrlimit(RLIMIT_CORE, &core);
  }
  raise(SIGSEGV);
  return 0;
});

TEST_P(CorePatternTest, ACrashRunsNoHandlerOfTheHost) {
  ASSERT_EQ(mkfifo("/tmp/handled", 0600), 0);
  const UniqueFd handled(open("/tmp/handled", O_RDWR | O_CLOEXEC));
  std::ofstream("/tmp/handler") << "#!/bin/sh\necho \"$1 end\" > /tmp/handled\n";
  ASSERT_EQ(chmod("/tmp/handler", 0700), 0);
  std::ofstream("/proc/sys/kernel/core_pattern") << "|/tmp/handler %e";
  ASSERT_NO_FATAL_FAILURE(CrashOnTheHost());  // the handler does work
  ReadUntilLine(handled.get(), "end");
  // Without limits that need groups: they are not what this is about.
  Policy::Builder policy;
  policy.System().ReadWrite(work_).ReadOnly(getenv("BERTH_TEST_SELF")).Tier(GetParam());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Run(Compiled(policy), ActorCommand({"crash"})).exit.signal, SIGSEGV);
  }
  ASSERT_NO_FATAL_FAILURE(CrashOnTheHost());
  const std::string told = ReadUntilLine(handled.get(), "end");
  // Of the last one alone.
  EXPECT_EQ(told.find("end"), told.rfind("end")) << told;
  std::ofstream("/proc/sys/kernel/core_pattern") << "core";
  unlink("/tmp/handled");
  unlink("/tmp/handler");
}

INSTANTIATE_TEST_SUITE_P(Tiers, CorePatternTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
