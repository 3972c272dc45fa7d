// Ring: the last bytes of a stream, addressed by their offset from its beginning.
//
// Keeps `keep` bytes; more while somebody still needs older ones, so that a reader that lags loses
// nothing. Memory follows what is kept: a stream without output costs nothing.
#ifndef BERTH_SANDBOX_LAUNCHER_RING_H_
#define BERTH_SANDBOX_LAUNCHER_RING_H_

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string_view>

namespace berth::launcher {

class Ring {
 public:
  explicit Ring(size_t keep) : keep_(keep) {}

  size_t keep() const { return keep_; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

  // Adds bytes. Those from `needed` on (an offset) are not dropped, however many they are.
  void Append(std::string_view bytes, uint64_t needed);

  // Goes on after bytes that nobody will see; all before them are dropped.
  void Skip(uint64_t size) {
    if (size > 0) begin_ = end_ = end_ + size;
  }

  // Bytes from `offset` (within begin and end) on, as many as lie in one piece.
  std::string_view At(uint64_t offset) const;

 private:
  void Reserve(size_t size);

  const size_t keep_;
  uint64_t begin_ = 0, end_ = 0;
  size_t capacity_ = 0;  // a power of two
  std::unique_ptr<char[]> data_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_RING_H_
