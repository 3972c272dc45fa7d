#include "sandbox/benchmark/open_cost.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/log/check.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth {

std::string OwnProgram() { return std::filesystem::read_symlink("/proc/self/exe"); }

int MeasureOpens(const char* file) {
  constexpr int kOpens = 20000;
  const uint64_t begin = launcher::NowNs();
  for (int i = 0; i < kOpens; ++i) {
    if (close(open(file, O_RDONLY | O_CLOEXEC)) != 0) return 1;
  }
  const double ns = static_cast<double>(launcher::NowNs() - begin) / kOpens;
  return write(STDOUT_FILENO, &ns, sizeof(ns)) == ssize_t{sizeof(ns)} ? 0 : 1;
}

double OpenCost(launcher::LauncherClient* client, const launcher::SandboxPlan& plan,
                const std::string& file) {
  int fds[2];
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]);
  UniqueFd writes(fds[1]);
  launcher::SpawnRequest request;
  request.argv = {OwnProgram(), kOpensMode, file};
  request.cwd = "/";
  request.stdio[1] = writes.get();
  request.plan = plan.Encode();
  const auto spawned = client->Spawn(request);
  CHECK_OK(spawned);
  writes.reset();
  double ns = 0;
  CHECK_EQ(read(reads.get(), &ns, sizeof(ns)), ssize_t{sizeof(ns)});
  return ns;
}

}  // namespace berth
