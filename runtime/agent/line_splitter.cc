#include "runtime/agent/line_splitter.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace berth {
namespace {

// A buffer that one long line made larger than this is given back after it.
constexpr size_t kKeptCapacity = size_t{1} << 20;

}  // namespace

void LineSplitter::Hold(absl::string_view bytes) {
  const size_t room = limit_ == 0 ? bytes.size() : limit_ - std::min(limit_, held_.size());
  held_.append(bytes.substr(0, room));
  dropped_ += static_cast<int64_t>(bytes.size() - std::min(room, bytes.size()));
}

void LineSplitter::Emit(absl::string_view text, int64_t dropped,
                        absl::FunctionRef<void(const Line&)> callback) {
  if (limit_ != 0 && text.size() > limit_) {
    dropped += static_cast<int64_t>(text.size() - limit_);
    text = text.substr(0, limit_);
  }
  if (dropped == 0 && !text.empty() && text.back() == '\r') text.remove_suffix(1);
  callback({text, dropped});
}

void LineSplitter::Feed(absl::string_view bytes, absl::FunctionRef<void(const Line&)> callback) {
  while (!bytes.empty()) {
    // Only what is new is searched: a line that comes in many pieces costs no more than a short
    // one.
    const void* end = memchr(bytes.data(), '\n', bytes.size());
    if (end == nullptr) return Hold(bytes);
    const size_t length = static_cast<size_t>(static_cast<const char*>(end) - bytes.data());
    const absl::string_view piece = bytes.substr(0, length);
    bytes.remove_prefix(length + 1);
    if (held_.empty() && dropped_ == 0) {
      Emit(piece, 0, callback);
      continue;
    }
    Hold(piece);
    Emit(held_, dropped_, callback);
    dropped_ = 0;
    if (held_.capacity() > kKeptCapacity) {
      std::string().swap(held_);
    } else {
      held_.clear();
    }
  }
}

}  // namespace berth
