// What tmux writes in control mode, taken apart. Replies to commands come as
//
//   %begin TIME NUMBER FLAGS
//   any lines
//   %end TIME NUMBER FLAGS        (or %error)
//
// and notifications, lines that begin with another %word, between them, never inside.
//
// The lines of a reply may hold anything that a program put into a title, so only a line with the
// same three numbers as its %begin ends one. Pure: bytes in, events out, cut anywhere. One thread.
#ifndef BERTH_RUNTIME_TMUX_CONTROL_PARSER_H_
#define BERTH_RUNTIME_TMUX_CONTROL_PARSER_H_

#include <stddef.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace berth::tmux {

struct ControlEvent {
  enum class Kind {
    kReply,         // `text`: its lines
    kError,         // `text`: what tmux says is wrong
    kNotification,  // `text`: the line
    kExit,          // the connection ends; `text`: why, if tmux says so
  };
  Kind kind = Kind::kNotification;
  // Of a reply: to a command that came over this connection. Others are of the command that
  // started the client, and of hooks.
  bool ours = false;
  std::string text = {};
  friend bool operator==(const ControlEvent&, const ControlEvent&) = default;
};

class ControlParser {
 public:
  // Past this a reply or a line is not kept, and the connection is of no use: see broken().
  static constexpr size_t kMaxReply = size_t{64} << 20;

  // Appends to *events what is complete by now.
  void Feed(absl::string_view bytes, std::vector<ControlEvent>* events);

  bool broken() const { return broken_; }

 private:
  void TakeLine(absl::string_view line, std::vector<ControlEvent>* events);

  std::string line_;   // not ended yet
  std::string guard_;  // " TIME NUMBER FLAGS" of the reply that we are in; "": in none
  std::string reply_;
  bool broken_ = false;
};

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_CONTROL_PARSER_H_
