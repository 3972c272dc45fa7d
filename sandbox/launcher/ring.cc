#include "sandbox/launcher/ring.h"

#include <string.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace berth::launcher {

void Ring::Reserve(size_t size) {
  constexpr size_t kSmallest = 4096;
  size_t wanted = kSmallest;
  while (wanted < size) wanted *= 2;
  // Gives back what a reader that lagged had needed, but not at each little change.
  if (wanted == capacity_ || (wanted < capacity_ && wanted * 4 > capacity_)) return;
  std::unique_ptr<char[]> fresh(new char[wanted]);
  for (uint64_t at = begin_; at < end_;) {
    const std::string_view piece = At(at);
    const size_t to = at & (wanted - 1);
    const size_t n = std::min(piece.size(), wanted - to);
    memcpy(fresh.get() + to, piece.data(), n);
    at += n;
  }
  data_ = std::move(fresh);
  capacity_ = wanted;
}

std::string_view Ring::At(uint64_t offset) const {
  if (offset < begin_ || offset >= end_) return {};
  const size_t from = offset & (capacity_ - 1);
  return {data_.get() + from, std::min<size_t>(end_ - offset, capacity_ - from)};
}

void Ring::Append(std::string_view bytes, uint64_t needed) {
  if (bytes.empty()) return;
  const uint64_t end = end_ + bytes.size();
  // What stays: the last keep_ bytes, and everything from `needed` on.
  const uint64_t kept = end > keep_ ? end - keep_ : 0;
  const uint64_t begin = std::max(begin_, std::min(kept, needed));
  if (begin >= end_) {
    // All old bytes go, and maybe the first of the new ones.
    bytes.remove_prefix(begin - end_);
    begin_ = end_ = begin;
  } else {
    begin_ = begin;
  }
  Reserve(end - begin_);
  while (!bytes.empty()) {
    const size_t to = end_ & (capacity_ - 1);
    const size_t n = std::min(bytes.size(), capacity_ - to);
    memcpy(data_.get() + to, bytes.data(), n);
    end_ += n;
    bytes.remove_prefix(n);
  }
}

}  // namespace berth::launcher
