// Foreground: berth as the person's side of a program. Carries the streams, forwards the signals,
// waits for the end.
//
//   signals   INT, QUIT, USR1, USR2 are handed on; TERM and HUP too, and the program is killed if
//   it still runs after
//             the grace; a second INT or TERM kills it at once; WINCH resizes its terminal
//   end       what is left of the program's tree is ended, the last of its output is carried, then
//   Run returns
#ifndef BERTH_TOOLS_BERTH_FOREGROUND_H_
#define BERTH_TOOLS_BERTH_FOREGROUND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "tools/berth/loop.h"
#include "tools/berth/program.h"
#include "tools/berth/pump.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {

class Foreground {
 public:
  // Neither is owned. `signals` was made before the program was started.
  Foreground(Program* program, SignalFd* signals, absl::Duration grace)
      : program_(program), signals_(signals), grace_(grace) {}

  // Input ends where `from` does, and `to` is closed then.
  Pump* AddInput(int from, UniqueFd to);
  // Once nobody reads `to` any more the program is ended as by HUP.
  void AddOutput(UniqueFd from, int to);
  void set_follows_size() { follows_size_ = true; }

  // How the program ended; nothing if the filter of an input stopped this before (a detach key).
  absl::StatusOr<std::optional<ExitStatus>> Run();

 private:
  absl::Status OnSignals();
  absl::Status OnExit();
  absl::Status Forward(int signal);
  absl::Status Kill();
  bool OutputDone() const;
  bool Detached() const;
  absl::Status CheckReaders();

  Program* const program_;
  SignalFd* const signals_;
  const absl::Duration grace_;
  bool follows_size_ = false;
  int asked_ = 0;  // times that the person asked it to end
  Loop loop_;
  std::vector<std::unique_ptr<Pump>> inputs_, outputs_;
  std::unique_ptr<Watch> exit_watch_;
  std::optional<ExitStatus> exit_;
  bool abandoned_ = false;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_FOREGROUND_H_
