#include "sandbox/launcher/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth::launcher {

int LogFile::Open(const std::string& path, int64_t cap) {
  UniqueFd fd(open(path.c_str(),
                   O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd.ok()) return errno;
  struct stat st;
  if (fstat(fd.get(), &st) != 0) return errno;
  if (!S_ISREG(st.st_mode)) return EINVAL;
  fd_ = std::move(fd);
  path_ = path;
  cap_ = cap;
  size_ = st.st_size;
  error_ = 0;
  return 0;
}

void LogFile::Close() {
  fd_.reset();
  path_.clear();
}

void LogFile::Rotate() {
  const std::string path = path_, old = path_ + ".1";
  const int moved = rename(path.c_str(), old.c_str()) == 0 ? 0 : errno;
  const int opened = Open(path, cap_);
  if (moved != 0 || opened != 0) error_ = moved != 0 ? moved : opened;
}

void LogFile::Write(std::string_view bytes) {
  if (!fd_.ok()) return;
  while (!bytes.empty()) {
    if (cap_ > 0 && size_ >= cap_) Rotate();
    const size_t room = cap_ > 0 && cap_ > size_ ? static_cast<size_t>(cap_ - size_) : bytes.size();
    const ssize_t n = write(fd_.get(), bytes.data(), std::min(bytes.size(), room));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      error_ = n < 0 ? errno : EIO;
      lost_ += bytes.size();
      return;
    }
    size_ += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace berth::launcher
