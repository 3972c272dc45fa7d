#include "sandbox/launcher/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <utility>

namespace berth::launcher {

int ResizePty(int fd, uint16_t rows, uint16_t cols) {
  winsize size{};
  size.ws_row = rows;
  size.ws_col = cols;
  return ioctl(fd, TIOCSWINSZ, &size) == 0 ? 0 : errno;
}

int OpenPty(uint16_t rows, uint16_t cols, Pty* pty) {
  UniqueFd master(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master.ok()) return errno;
  int unlock = 0;
  if (ioctl(master.get(), TIOCSPTLCK, &unlock) != 0) return errno;
  // By the master and not by a path: /dev/pts may be another instance's.
  UniqueFd slave(ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.ok()) return errno;
  termios mode;
  if (tcgetattr(slave.get(), &mode) != 0) return errno;
  mode.c_iflag |= IUTF8;  // erase takes back a whole character
  if (tcsetattr(slave.get(), TCSANOW, &mode) != 0) return errno;
  if (int error = ResizePty(master.get(), rows, cols)) return error;
  *pty = {std::move(master), std::move(slave)};
  return 0;
}

}  // namespace berth::launcher
