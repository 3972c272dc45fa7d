// LineSplitter: lines out of a byte stream that comes in pieces. Lines of any length; a line that
// lies whole in one piece is not copied.
//
//   LineSplitter lines(/*limit=*/0);
//   lines.Feed(bytes, [](const LineSplitter::Line& line) { … });
//   lines.unfinished();   // what came after the last line end: not a line (yet)
//
// Not thread-safe.
#ifndef BERTH_RUNTIME_AGENT_LINE_SPLITTER_H_
#define BERTH_RUNTIME_AGENT_LINE_SPLITTER_H_

#include <stddef.h>
#include <stdint.h>

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace berth {

class LineSplitter {
 public:
  struct Line {
    absl::string_view text;   // without its end ("\n" or "\r\n"); valid during the call only
    int64_t truncated_bytes;  // that were cut off its end at the limit
  };

  // A line is kept up to `limit` bytes; of a longer one the rest is counted and dropped, and the
  // lines after it are whole again. 0: no limit.
  explicit LineSplitter(size_t limit) : limit_(limit) {}

  void Feed(absl::string_view bytes, absl::FunctionRef<void(const Line&)> callback);

  absl::string_view unfinished() const { return held_; }
  int64_t unfinished_bytes() const { return static_cast<int64_t>(held_.size()) + dropped_; }

 private:
  void Hold(absl::string_view bytes);
  void Emit(absl::string_view text, int64_t dropped, absl::FunctionRef<void(const Line&)> callback);

  const size_t limit_;
  std::string held_;
  int64_t dropped_ = 0;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_LINE_SPLITTER_H_
