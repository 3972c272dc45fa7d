// The caller's own terminal: its size, and raw mode that ends with the object.
#ifndef BERTH_TOOLS_BERTH_TERMINAL_H_
#define BERTH_TOOLS_BERTH_TERMINAL_H_

#include <termios.h>

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/types.h"

namespace berth::cli {

bool IsTerminal(int fd);
// Standard input, output and error all are.
bool AllTerminals();
// The size of the terminal on standard output; 24x80 if there is none or it does not say.
TerminalSize CurrentSize();

// The terminal `fd` in raw mode while this lives: keys reach the program as they are. Not copyable,
// one thread.
class RawTerminal {
 public:
  static absl::StatusOr<std::unique_ptr<RawTerminal>> Enter(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  RawTerminal(int fd, const termios& before) : fd_(fd), before_(before) {}

  const int fd_;
  const termios before_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_TERMINAL_H_
