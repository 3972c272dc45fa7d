// Pump: carries bytes from one descriptor to another, byte for byte, without ever blocking its
// Loop.
//
// What was read is written before more is read, so a reader that is slow slows the writer down and
// nothing piles up. Descriptors that were inherited stay as they are: the shell and others share
// their O_NONBLOCK.
#ifndef BERTH_TOOLS_BERTH_PUMP_H_
#define BERTH_TOOLS_BERTH_PUMP_H_

#include <poll.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "sandbox/base/unique_fd.h"
#include "tools/berth/loop.h"

namespace berth::cli {

class Pump final : public Source {
 public:
  enum class End { kRunning, kEndOfFile, kReaderGone, kStopped };

  // A caller's descriptor, not closed here; or one of our own, closed at the end.
  Pump(int from, UniqueFd to) : from_(from), own_(std::move(to)), to_(own_.get()) {
    SetNonBlocking();
  }
  Pump(UniqueFd from, int to) : from_(from.get()), own_(std::move(from)), to_(to) {}

  // Looks at what was read before it is written, and may change it; false stops the pump once the
  // rest is written.
  void set_filter(std::function<bool(std::string*)> filter) { filter_ = std::move(filter); }
  // Written after the last byte of a `from` that has ended; given what was written before it.
  void set_farewell(std::function<std::string(char last)> farewell) {
    farewell_ = std::move(farewell);
  }

  pollfd Want() const override;
  absl::Status Ready() override;
  End end() const { return end_; }
  bool done() const { return end_ != End::kRunning; }

 private:
  void SetNonBlocking();
  absl::Status Read();
  absl::Status Write();
  void Finish(End end);

  int from_;
  UniqueFd own_;
  int to_;
  std::function<bool(std::string*)> filter_;
  std::function<std::string(char)> farewell_;
  std::string pending_;
  char last_ = '\n';
  End last_end_ = End::kRunning;  // what it will be once pending_ is written
  End end_ = End::kRunning;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PUMP_H_
