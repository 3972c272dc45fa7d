// The helper: a static, single-threaded program that the library carries inside itself and runs
// from a sealed memfd. Its modes are told apart by argv[1]; its control socket is descriptor 3; it
// is no use to anybody else.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/launcher/keeper.h"
#include "sandbox/launcher/launcher.h"
#include "sandbox/launcher/pane.h"
#include "sandbox/launcher/pane_protocol.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/settle_in.h"
#include "sandbox/network/proxy.h"
#include "sandbox/network/proxy_config.h"

// In place of the C++ library's, which brings along all that it takes to write a type's name.
namespace __gnu_cxx {
void __verbose_terminate_handler() { abort(); }
}  // namespace __gnu_cxx

int main(int argc, char** argv) {
  using namespace berth::launcher;  // NOLINT: the whole program is of it
  struct stat st;
  // A window's program is started by the window's owner, which has no socket for it.
  const bool pane = argc == 4 && strcmp(argv[1], kPaneMode) == 0;
  const bool hold = argc == 5 && strcmp(argv[1], kHoldMode) == 0;
  if (hold) return RunHold(argv[2], argv[3], argv[4]);
  if (argc < 2 || (!pane && fstat(kControlFd, &st) != 0) || (!pane && !S_ISSOCK(st.st_mode))) {
    static constexpr char kText[] =
        "This is a part of berth; it is started by the library. See `berth --help`.\n";
    [[maybe_unused]] const ssize_t n = write(2, kText, sizeof(kText) - 1);
    return 2;
  }
  if (!pane) fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  const bool launcher = strcmp(argv[1], kLauncherMode) == 0;
  if (launcher) LeaveGroup();
  if (!SettleIn()) return 2;
  if (launcher) return RunLauncher({});
  if (pane) {
    prctl(PR_SET_NAME, "berth-pane");
    return RunPane(argv[2], argv[3]);
  }
  if (strcmp(argv[1], berth::network::kProxyMode) == 0) {
    prctl(PR_SET_NAME, "berth-proxy");
    return berth::network::RunProxy(kControlFd);
  }
  if (strcmp(argv[1], kKeeperMode) == 0) {
    prctl(PR_SET_NAME, "berth-keeper");
    return RunKeeper(argc > 3 && strcmp(argv[3], kCgroupTree) == 0);
  }
  return 2;
}
