// A program for sessions to run, which does with its terminal or pipes exactly what a test needs.
//
//   probe sink FILE          copies its input to FILE until kEnd has come, or end of file
//   probe late FIFO FILE     the same, but reads nothing until somebody opens FIFO for writing
//   probe mute               never reads
//   probe paste FILE         a prompt that turned bracketed paste on and redraws all the time; see
//   Paste probe size               tells the size of its terminal at the start and at each change
//
// A terminal is put in raw mode first. Each says "ready" once it is, "done" when it ends.

#include "tests/sessions/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace {

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(3);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void MakeRaw() {
  termios mode;
  if (tcgetattr(0, &mode) != 0) return;  // pipes
  cfmakeraw(&mode);
  if (tcsetattr(0, TCSANOW, &mode) != 0) _exit(4);
}

int Sink(const char* path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return 5;
  std::string tail;  // what may be the beginning of kEnd
  char buffer[65536];
  ssize_t n;
  while ((n = read(0, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
    if (n < 0) continue;
    tail.append(buffer, static_cast<size_t>(n));
    if (const size_t end = tail.find(berth::kEnd); end != std::string::npos) {
      WriteAll(file, std::string_view(tail).substr(0, end));
      WriteAll(1, "done\r\n");
      return 0;
    }
    if (tail.size() > berth::kEnd.size()) {
      const size_t sure = tail.size() - berth::kEnd.size();
      WriteAll(file, std::string_view(tail).substr(0, sure));
      tail.erase(0, sure);
    }
  }
  WriteAll(file, tail);
  WriteAll(1, "done\r\n");
  return 0;
}

// For each submit (CR outside of a paste) one record in FILE: u32 pastes, u32 bytes outside of
// them, u32 size, and the bytes inside of them. Ends with the submit of "quit".
int Paste(const char* path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return 5;
  constexpr std::string_view kBegin = "\x1b[200~", kFinish = "\x1b[201~";
  std::string input, pasted;
  uint32_t pastes = 0, typed = 0;
  bool inside = false;
  for (unsigned frame = 0;; ++frame) {
    char text[256];
    const int size =
        snprintf(text, sizeof(text), "\x1b[H\x1b[2K frame %u\r\n\x1b[2K > %zu bytes\r\n", frame,
                 pasted.size());
    WriteAll(1, {text, static_cast<size_t>(size)});
    pollfd ready{0, POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0) continue;
    char buffer[512];
    const ssize_t n = read(0, buffer, sizeof(buffer));
    if (n <= 0) return 6;
    input.append(buffer, static_cast<size_t>(n));
    while (!input.empty()) {
      const std::string_view marker = inside ? kFinish : kBegin;
      if (input.starts_with(marker)) {
        input.erase(0, marker.size());
        inside = !inside;
        pastes += inside ? 1 : 0;
        continue;
      }
      if (input.size() < marker.size() && marker.starts_with(input)) break;  // more of it may come
      const char c = input[0];
      input.erase(0, 1);
      if (inside) {
        pasted.push_back(c);
      } else if (c != '\r') {
        ++typed;
      } else {
        const uint32_t header[3] = {pastes, typed, static_cast<uint32_t>(pasted.size())};
        WriteAll(file, {reinterpret_cast<const char*>(header), sizeof(header)});
        WriteAll(file, pasted);
        if (pasted == "quit") {
          WriteAll(1, "done\r\n");
          return 0;
        }
        pastes = typed = 0;
        pasted.clear();
      }
    }
  }
}

int Size() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGWINCH);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const int changes = signalfd(-1, &mask, SFD_CLOEXEC);
  while (true) {
    winsize size;
    if (ioctl(0, TIOCGWINSZ, &size) != 0) return 7;
    char text[64];
    const int n = snprintf(text, sizeof(text), "size %dx%d\r\n", size.ws_row, size.ws_col);
    WriteAll(1, {text, static_cast<size_t>(n)});
    signalfd_siginfo info;
    if (read(changes, &info, sizeof(info)) != sizeof(info)) return 8;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view what = argv[1];
  MakeRaw();
  if (what == "size") return Size();
  if (what == "paste" && argc == 3) WriteAll(1, "\x1b[?2004h");
  WriteAll(1, "ready\r\n");
  if (what == "sink" && argc == 3) return Sink(argv[2]);
  if (what == "paste" && argc == 3) return Paste(argv[2]);
  if (what == "late" && argc == 4) {
    if (open(argv[2], O_RDONLY | O_CLOEXEC) < 0) return 9;
    return Sink(argv[3]);
  }
  if (what == "mute") {
    while (true) pause();
  }
  return 2;
}
