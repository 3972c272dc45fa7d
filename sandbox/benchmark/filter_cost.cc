#include "sandbox/benchmark/filter_cost.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/log/check.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/benchmark/floors.h"
#include "sandbox/launcher/kernel.h"

namespace berth {

using launcher::NowNs;

void PrintFilterCost(const FloorPlan& plan) {
  int fds[2];
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]), writes(fds[1]);
  const pid_t pid = fork();
  CHECK_GE(pid, 0);
  if (pid == 0) {
    const auto time = [](auto call) {
      constexpr int kCalls = 500000;
      const uint64_t begin = NowNs();
      for (int i = 0; i < kCalls; ++i) call();
      return static_cast<double>(NowNs() - begin) / kCalls;
    };
    const auto plain = [] { syscall(SYS_getppid); };
    const auto compared = [] { syscall(SYS_openat, -1, "x", O_RDONLY); };
    double ns[4] = {time(plain), time(compared)};
    LoadFilter(plan);
    ns[2] = time(plain);
    ns[3] = time(compared);
    _exit(write(writes.get(), ns, sizeof(ns)) == ssize_t{sizeof(ns)} ? 0 : 1);
  }
  double ns[4];
  CHECK_EQ(read(reads.get(), ns, sizeof(ns)), ssize_t{sizeof(ns)});
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK_EQ(status, 0);
  printf("\nns per call, without and with the filter: getppid %.0f, %.0f; openat %.0f, %.0f\n",
         ns[0], ns[2], ns[1], ns[3]);
}

}  // namespace berth
