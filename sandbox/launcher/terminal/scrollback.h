// Scrollback keeps the lines that left the top of a screen, the newest ones up to a number of lines
// and of bytes.
//
// A line is its text in UTF-8 with SGR sequences where the look changes: about as many bytes as the
// program wrote, and ready to be printed. Lines lie one behind the other in chunks, with four bytes
// of length each, so that a line costs no allocation and the oldest ones are let go chunk by chunk.
// Nothing is allocated before the first line. One thread. Cannot fail; a line larger than the byte
// limit is not kept.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_SCROLLBACK_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_SCROLLBACK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

namespace berth::launcher {

class Scrollback {
 public:
  Scrollback(size_t max_lines, size_t max_bytes) : max_lines_(max_lines), max_bytes_(max_bytes) {}
  Scrollback(const Scrollback&) = delete;
  Scrollback& operator=(const Scrollback&) = delete;

  // `wrapped`: the line went on in the next one only because the screen was too narrow.
  void Append(std::string_view line, bool wrapped);
  void Clear();

  size_t lines() const { return lines_; }
  size_t bytes() const { return bytes_; }  // allocated for chunks; at most max_bytes

  // Calls visit(std::string_view line, bool wrapped) for all lines but the oldest `skip`, oldest
  // first.
  template <typename Visit>
  void ForEach(size_t skip, Visit&& visit) const;

 private:
  static constexpr uint32_t kWrapped = 1u << 31;
  struct Chunk {
    std::unique_ptr<char[]> data;
    size_t capacity, begin, end;
  };
  static uint32_t Header(const Chunk& chunk, size_t at);
  void DropOldest();

  size_t max_lines_, max_bytes_;
  size_t lines_ = 0, bytes_ = 0;
  std::unique_ptr<std::deque<Chunk>> chunks_;
};

template <typename Visit>
void Scrollback::ForEach(size_t skip, Visit&& visit) const {
  if (chunks_ == nullptr) return;
  for (const Chunk& chunk : *chunks_) {
    for (size_t at = chunk.begin; at < chunk.end;) {
      const uint32_t header = Header(chunk, at);
      const size_t size = header & ~kWrapped;
      at += sizeof(header);
      if (skip > 0) {
        --skip;
      } else {
        visit(std::string_view(chunk.data.get() + at, size), (header & kWrapped) != 0);
      }
      at += size;
    }
  }
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_SCROLLBACK_H_
