// LogFile: the output of a session on disk. When it passes its cap it becomes FILE.1, and a new
// FILE begins. A follower holds the old file open, reads it to its end, and opens FILE again:
// nothing is lost to it. A disk that is full or a file that cannot be written is remembered, not
// fatal: the program goes on.
#ifndef BERTH_SANDBOX_LAUNCHER_LOG_FILE_H_
#define BERTH_SANDBOX_LAUNCHER_LOG_FILE_H_

#include <stdint.h>

#include <string>
#include <string_view>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

class LogFile {
 public:
  // Appends to `path`, made with mode 0600; never through a symlink. 0 or an errno, and then the
  // old log goes on.
  int Open(const std::string& path, int64_t cap);
  void Close();
  void Write(std::string_view bytes);
  const std::string& path() const { return path_; }
  // The last error of a write, 0 if none; and how many bytes could not be written.
  int error() const { return error_; }
  uint64_t lost() const { return lost_; }

 private:
  void Rotate();
  UniqueFd fd_;
  std::string path_;
  int64_t cap_ = 0, size_ = 0;
  int error_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_LOG_FILE_H_
