// A terminal of our own.
#ifndef BERTH_SANDBOX_LAUNCHER_PTY_H_
#define BERTH_SANDBOX_LAUNCHER_PTY_H_

#include <stdint.h>

#include <string>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

struct Pty {
  UniqueFd master, slave;
};

// 0 or an errno.
int OpenPty(uint16_t rows, uint16_t cols, Pty* pty);
int ResizePty(int fd, uint16_t rows, uint16_t cols);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_PTY_H_
