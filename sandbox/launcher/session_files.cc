#include "sandbox/launcher/session_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "sandbox/base/remove_tree.h"

namespace berth::launcher {
namespace {
// As kChangesFolder of runtime/record/record.h.
constexpr char kChanges[] = "changes";
// As kGivenUpFile of runtime/record/store_layout.h.
constexpr char kGivenUp[] = "given-up";
}  // namespace

UniqueFd SessionFiles::Listen() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through the descriptor: the path of a state directory may be longer than an address can be.
  const int n = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
                         run.get(), uid.c_str());
  if (n < 0 || static_cast<size_t>(n) >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return UniqueFd();
  }
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t old = umask(0177);
  const bool bound =
      fd.ok() && bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  umask(old);
  if (!bound || listen(fd.get(), 128) != 0) return UniqueFd();
  return fd;
}

int SessionFiles::SyncPlace() const {
  const UniqueFd parent(openat(session.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.ok()) return errno;
  for (const int folder : {parent.get(), names.get()}) {
    // EINVAL: a file system on which a folder cannot be synced, and does not need to be.
    if (fsync(folder) != 0 && errno != EINVAL) return errno;
  }
  return 0;
}

void SessionFiles::WriteExit(const ExitNotice& notice) const {
  char text[128];
  const int n =
      snprintf(text, sizeof(text), "{\"code\":%d,\"signal\":%d,\"stopped\":%s,\"reason\":%d}\n",
               notice.code, notice.signal, notice.stopped != 0 ? "true" : "false", notice.reason);
  UniqueFd fd(openat(session.get(), "exit.new",
                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.ok() || write(fd.get(), text, static_cast<size_t>(n)) != n) return;
  renameat(session.get(), "exit.new", session.get(), "exit");
}

void SessionFiles::GiveUp() const {
  const UniqueFd mark(
      openat(session.get(), kGivenUp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  fsync(session.get());
  unlinkat(run.get(), uid.c_str(), 0);
}

void SessionFiles::Remove() const {
  // First: what has no record is not known for a session's, and this takes longest.
  RemoveTree(session.get(), kChanges);
  char target[128];
  const ssize_t n = readlinkat(names.get(), name.c_str(), target, sizeof(target));
  if (n >= 0 && std::string(target, static_cast<size_t>(n)) == uid)
    unlinkat(names.get(), name.c_str(), 0);
  unlinkat(run.get(), uid.c_str(), 0);
  DIR* list = fdopendir(openat(session.get(), ".", O_DIRECTORY | O_CLOEXEC));
  if (list != nullptr) {
    while (const dirent* entry = readdir(list)) {
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
        unlinkat(session.get(), entry->d_name, 0);
      }
    }
    closedir(list);
  }
  const UniqueFd parent(openat(session.get(), "..", O_DIRECTORY | O_CLOEXEC));
  if (parent.ok()) unlinkat(parent.get(), uid.c_str(), AT_REMOVEDIR);
}

}  // namespace berth::launcher
