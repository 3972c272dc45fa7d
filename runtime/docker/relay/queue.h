// Bytes that wait to be written to a descriptor that does not block.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_QUEUE_H_
#define BERTH_RUNTIME_DOCKER_RELAY_QUEUE_H_

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace berth::relay {

inline void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

class Queue {
 public:
  void Push(std::string_view bytes) { bytes_.append(bytes); }
  bool empty() const { return at_ == bytes_.size(); }
  size_t size() const { return bytes_.size() - at_; }
  void Clear() { bytes_.clear(), at_ = 0; }

  // As much as goes without waiting; *written counts it. False if nobody reads there any more.
  bool Write(int fd, size_t* written = nullptr) {
    while (!empty()) {
      const ssize_t n = write(fd, bytes_.data() + at_, size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN;
      at_ += static_cast<size_t>(n);
      if (written != nullptr) *written += static_cast<size_t>(n);
    }
    if (empty()) Clear();
    // What was written is dropped now and then, not each time: moving the rest costs.
    if (at_ > (size_t{1} << 20)) bytes_.erase(0, at_), at_ = 0;
    return true;
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_QUEUE_H_
