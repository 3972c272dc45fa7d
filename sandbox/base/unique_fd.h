// UniqueFd owns one file descriptor and closes it. Move-only, like unique_ptr; not thread-safe.
#ifndef BERTH_SANDBOX_BASE_UNIQUE_FD_H_
#define BERTH_SANDBOX_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace berth {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    // Not retried on EINTR: Linux has released the descriptor by then.
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_UNIQUE_FD_H_
