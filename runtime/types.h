// The small values that sessions and processes are described by. Plain data: copy them freely.
#ifndef BERTH_RUNTIME_TYPES_H_
#define BERTH_RUNTIME_TYPES_H_

#include <stdint.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/record/identity.h"

namespace berth {

// Why a process ended. kUnknown: it is gone, and nobody is left who saw how.
enum class EndReason : uint8_t {
  kUnknown = 0,
  kExited = 1,      // by itself, with a code
  kSignaled = 2,    // by a signal that berth did not send
  kStopped = 3,     // by Stop, Destroy or Signal of ours
  kWall = 4,        // its wall-clock limit
  kInactivity = 5,  // its inactivity limit
  kOom = 6,         // its memory limit
  kPids = 7,        // its process limit
  kViolation = 8,   // something that its policy kills for
};

// How a process ended. A death by signal is told as a signal, never as a code over 128.
struct ExitStatus {
  int code = 0;    // meaningful if signal == 0
  int signal = 0;  // 0: it exited
  EndReason reason = EndReason::kUnknown;

  bool success() const { return reason == EndReason::kExited && code == 0; }
  // The code a shell would give: code, or 128 + signal.
  int ShellCode() const { return signal == 0 ? code : 128 + signal; }
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

// "exited with code 3", "killed by signal 9 (Killed)", "stopped: inactivity limit", …
std::string Describe(const ExitStatus& status);
absl::string_view EndReasonName(EndReason reason);

struct TerminalSize {
  uint16_t rows = 24;
  uint16_t cols = 80;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

// What is known of a sent message. Each includes the ones before it.
enum class Delivery : uint8_t {
  kQueued =
      0,  // accepted whole by the session's supervisor; the program has not been given all of it
  kWritten = 1,    // all bytes are in the program's terminal or pipe
  kSubmitted = 2,  // and the submit key after them
  kConfirmed = 3,  // and the program answered with output after it
};
absl::string_view DeliveryName(Delivery delivery);

// Alive, dead or unknown, with the reason in words. Nothing is ever declared dead on `unknown`.
struct LivenessReport {
  Liveness liveness = Liveness::kUnknown;
  std::string reason;
};

// What a session or a process tree uses. Negative: not known here.
struct Stats {
  absl::Duration
      cpu;  // user + system, of the living members and (with a cgroup) of the dead ones too
  int64_t memory_bytes = -1;  // resident
  int64_t processes = -1;
  int64_t read_bytes = -1;  // from storage
  int64_t write_bytes = -1;
  std::string source;  // "cgroup", "proc" or the engine's name
};

}  // namespace berth

#endif  // BERTH_RUNTIME_TYPES_H_
