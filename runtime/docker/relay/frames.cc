#include "runtime/docker/relay/frames.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::relay {
namespace {

uint32_t BigEndian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

std::string Frame(char type, std::string_view body) {
  const uint32_t n = static_cast<uint32_t>(body.size());
  std::string out;
  out.reserve(kFrameHead + body.size());
  out.push_back(type);
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(n >> shift));
  out.append(body);
  return out;
}

bool FrameReader::Feed(std::string_view bytes, const Take& take) {
  pending_.append(bytes);
  size_t at = 0;
  bool ok = true;
  while (ok && pending_.size() - at >= kFrameHead) {
    const size_t n = BigEndian(reinterpret_cast<const unsigned char*>(pending_.data()) + at + 1);
    if (n > kMaxFrame) {
      ok = false;
      break;
    }
    if (pending_.size() - at < kFrameHead + n) break;
    ok = take(pending_[at], std::string_view(pending_).substr(at + kFrameHead, n));
    at += kFrameHead + n;
  }
  pending_.erase(0, at);
  return ok;
}

bool Demux::Feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    if (left_ == 0) {
      head_[head_size_++] = static_cast<unsigned char>(bytes[0]);
      bytes.remove_prefix(1);
      if (head_size_ < sizeof(head_)) continue;
      head_size_ = 0;
      if (head_[0] > 2 || head_[1] != 0 || head_[2] != 0 || head_[3] != 0) return false;
      left_ = BigEndian(head_ + 4);
      continue;
    }
    const size_t n = std::min<size_t>(bytes.size(), left_);
    left_ -= static_cast<uint32_t>(n);
    if (!take(head_[0], bytes.substr(0, n))) return false;
    bytes.remove_prefix(n);
  }
  return true;
}

}  // namespace berth::relay
