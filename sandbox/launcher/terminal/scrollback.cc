#include "sandbox/launcher/terminal/scrollback.h"

#include <algorithm>
#include <cstring>

namespace berth::launcher {
namespace {
constexpr size_t kChunk = 8 << 10;
}  // namespace

uint32_t Scrollback::Header(const Chunk& chunk, size_t at) {
  uint32_t header;
  memcpy(&header, chunk.data.get() + at, sizeof(header));
  return header;
}

void Scrollback::Append(std::string_view line, bool wrapped) {
  const size_t need = sizeof(uint32_t) + line.size();
  if (max_lines_ == 0 || need > max_bytes_ || line.size() >= kWrapped) return;
  if (chunks_ == nullptr) chunks_ = std::make_unique<std::deque<Chunk>>();
  while (lines_ >= max_lines_) DropOldest();
  if (chunks_->empty() || chunks_->back().capacity - chunks_->back().end < need) {
    // The first chunk is small, for the many terminals that say little; none is larger than the
    // limit.
    const size_t usual = std::min(chunks_->empty() ? kChunk / 8 : kChunk, max_bytes_);
    const size_t capacity = std::max(usual, need);
    while (bytes_ + capacity > max_bytes_ && lines_ > 0) DropOldest();
    if (!chunks_->empty() && chunks_->front().begin == chunks_->front().end) {
      bytes_ -= chunks_->front().capacity;
      chunks_->pop_front();
    }
    chunks_->push_back({std::make_unique_for_overwrite<char[]>(capacity), capacity, 0, 0});
    bytes_ += capacity;
  }
  Chunk& chunk = chunks_->back();
  const uint32_t header = static_cast<uint32_t>(line.size()) | (wrapped ? kWrapped : 0);
  memcpy(chunk.data.get() + chunk.end, &header, sizeof(header));
  memcpy(chunk.data.get() + chunk.end + sizeof(header), line.data(), line.size());
  chunk.end += need;
  ++lines_;
}

void Scrollback::DropOldest() {
  Chunk& chunk = chunks_->front();
  chunk.begin += sizeof(uint32_t) + (Header(chunk, chunk.begin) & ~kWrapped);
  --lines_;
  if (chunk.begin == chunk.end && chunks_->size() > 1) {
    bytes_ -= chunk.capacity;
    chunks_->pop_front();
  }
}

void Scrollback::Clear() {
  chunks_.reset();
  lines_ = bytes_ = 0;
}

}  // namespace berth::launcher
