#include "sandbox/launcher/enter/id_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {
namespace {

int Write(const char* path, const char* text) {
  const UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  if (!fd.ok()) return errno;
  const size_t size = strlen(text);
  return write(fd.get(), text, size) == static_cast<ssize_t>(size) ? 0 : errno;
}

}  // namespace

int MapIds(uid_t uid, gid_t gid) {
  char uids[64], gids[64];
  snprintf(uids, sizeof(uids), "%u %u 1\n", uid, uid);
  snprintf(gids, sizeof(gids), "%u %u 1\n", gid, gid);
  // The files of a process that nobody may look into belong to root, and a plain user could not
  // write its own. The memory is a copy of our own and no sandbox sees this process: for these
  // three writes it may be looked into.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  int error = Write("/proc/self/setgroups", "deny");
  if (error == 0) error = Write("/proc/self/uid_map", uids);
  if (error == 0) error = Write("/proc/self/gid_map", gids);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace berth::launcher
