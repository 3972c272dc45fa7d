// Where the ssh of a connection writes its errors: a file in memory that takes so much and no more,
// so that nobody need read while it writes.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_SSH_ERRORS_H_
#define BERTH_RUNTIME_DOCKER_RELAY_SSH_ERRORS_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "sandbox/base/unique_fd.h"

namespace berth::relay {

inline constexpr size_t kMaxSshErrors = 8 << 10;

// Not ok() with errno.
inline UniqueFd MakeSshErrors() {
  UniqueFd fd(memfd_create("berth-ssh", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd.ok() && (ftruncate(fd.get(), kMaxSshErrors) != 0 ||
                  fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)) {
    fd.reset();
  }
  return fd;
}

// What was written, in one line. A connection whose end was seen has no more to come.
inline std::string ReadSshErrors(int fd) {
  std::string text(kMaxSshErrors, '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  std::string line;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) > ' ' && c != '\x7f') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_SSH_ERRORS_H_
