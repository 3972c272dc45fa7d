// The two protocols between the ends of a session's streams.
//
// The engine's: 8 bytes {stream, 0, 0, 0, length}, length big-endian, then that many bytes; streams
// 1 and 2 are the container's stdout and stderr.
// Ours, inside stdin and stdout of the container's first process: {type, length}, 1 and 4 bytes,
// big-endian. Output, input, sizes, signals, the start and the end come in one order that way, and
// a program's exit code 137 is not taken for a signal 9.
//
// Both readers are incremental: bytes come in any pieces. Threads: one.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_FRAMES_H_
#define BERTH_RUNTIME_DOCKER_RELAY_FRAMES_H_

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <string>
#include <string_view>

namespace berth::relay {

inline constexpr size_t kMaxFrame = 16 << 20;
inline constexpr size_t kFrameHead = 5;
// Input that may be under way to a program that does not read; what was read is told by kTaken.
inline constexpr size_t kInputWindow = 256 << 10;

// To the inside.
enum : char {
  kSetUp = 'S',     // see Setup
  kInput = 'D',     // bytes
  kInputEnd = 'Z',  //
  kSize = 'W',      // u16 rows, u16 cols
  kSignal = 'K',    // u8 signal, to the main process
  kSignalTree = 'T',
};
// To the outside.
enum : char {
  kStarted = 'R',
  kNotStarted = 'E',  // u8 launcher::Step, i32 errno
  kOutput = 'o',
  kErrors = 'e',
  kTaken = 'A',  // u32: so many bytes of input have gone to the program
  kEnded = 'X',  // i32 code, i32 signal, u8 stopped by a signal from outside
};

std::string Frame(char type, std::string_view body);

// Frames out of a stream of bytes.
class FrameReader {
 public:
  using Take = std::function<bool(char type, std::string_view body)>;
  // Calls `take` for each frame that is whole now. False if a frame is too long or `take` said so;
  // nothing after that is read.
  bool Feed(std::string_view bytes, const Take& take);

 private:
  std::string pending_;
};

// The engine's frames. Payloads are handed on in pieces, as they come: a frame may be of any
// length, and none is held in memory.
class Demux {
 public:
  using Take = std::function<bool(int stream, std::string_view bytes)>;
  // False at a header that is none (a stream other than 0 to 2, or padding that is not zero), or if
  // `take` said so.
  bool Feed(std::string_view bytes, const Take& take);

 private:
  unsigned char head_[8];
  size_t head_size_ = 0;
  uint32_t left_ = 0;  // of the payload
};

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_FRAMES_H_
