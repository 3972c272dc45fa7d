#include "runtime/tmux/control_parser.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace berth::tmux {
namespace {

using Kind = ControlEvent::Kind;

// The last of the three numbers; bit 0 is "of a command of this client" (tmux 3.0 and later).
bool IsOurs(absl::string_view guard) {
  const size_t space = guard.rfind(' ');
  return space != absl::string_view::npos && guard.substr(space + 1) == "1";
}

}  // namespace

void ControlParser::TakeLine(absl::string_view line, std::vector<ControlEvent>* events) {
  absl::string_view rest = line;
  if (guard_.empty()) {
    if (absl::ConsumePrefix(&rest, "%begin ") && !rest.empty()) {
      guard_ = std::string(rest);
      reply_.clear();
    } else if (line == "%exit") {
      events->push_back({Kind::kExit, false, ""});
    } else if (absl::ConsumePrefix(&rest, "%exit ")) {
      events->push_back({Kind::kExit, false, std::string(rest)});
    } else if (absl::StartsWith(line, "%")) {
      events->push_back({Kind::kNotification, false, std::string(line)});
    }
    // Anything else is of no protocol; tmux writes nothing of the kind.
    return;
  }
  const bool end = absl::ConsumePrefix(&rest, "%end ");
  if ((end || absl::ConsumePrefix(&rest, "%error ")) && rest == guard_) {
    events->push_back(
        {end ? Kind::kReply : Kind::kError, IsOurs(guard_), std::exchange(reply_, {})});
    guard_.clear();
    return;
  }
  if (reply_.size() + line.size() >= kMaxReply) {
    broken_ = true;
    return;
  }
  reply_.append(line);
  reply_.push_back('\n');
}

void ControlParser::Feed(absl::string_view bytes, std::vector<ControlEvent>* events) {
  while (!bytes.empty() && !broken_) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    if (line_.size() + end > kMaxReply) {
      broken_ = true;
      return;
    }
    if (end == bytes.size()) {
      line_.append(bytes);
      return;
    }
    if (line_.empty()) {
      TakeLine(bytes.substr(0, end), events);
    } else {
      line_.append(bytes.substr(0, end));
      TakeLine(line_, events);
      line_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace berth::tmux
