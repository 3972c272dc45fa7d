#include "tools/berth/terminal.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <memory>

#include "absl/memory/memory.h"
#include "absl/status/statusor.h"
#include "sandbox/base/errno_status.h"

namespace berth::cli {

bool IsTerminal(int fd) { return isatty(fd) == 1; }

bool AllTerminals() {
  return IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO) && IsTerminal(STDERR_FILENO);
}

TerminalSize CurrentSize() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

absl::StatusOr<std::unique_ptr<RawTerminal>> RawTerminal::Enter(int fd) {
  termios before;
  if (tcgetattr(fd, &before) != 0) return ErrnoStatus(errno, "read the terminal's mode");
  termios raw = before;
  cfmakeraw(&raw);
  // Drained, not flushed: what was typed ahead is for the program.
  if (tcsetattr(fd, TCSADRAIN, &raw) != 0) return ErrnoStatus(errno, "set the terminal's mode");
  return absl::WrapUnique(new RawTerminal(fd, before));
}

RawTerminal::~RawTerminal() { tcsetattr(fd_, TCSADRAIN, &before_); }

}  // namespace berth::cli
