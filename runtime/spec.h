// What to run and how: the descriptions that CreateSession, Exec and Spawn take. Plain data.
#ifndef BERTH_RUNTIME_SPEC_H_
#define BERTH_RUNTIME_SPEC_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/env.h"
#include "runtime/types.h"
#include "sandbox/policy.h"

namespace berth {

// A program with its arguments, or one line for /bin/sh.
class Command {
 public:
  Command() = default;
  // argv[0] without a slash is looked up in the PATH of the process's own environment.
  static Command Argv(std::vector<std::string> argv) { return Command(std::move(argv)); }
  // `/bin/sh -c line`; quoting inside the line is the shell's, none is added or taken away.
  static Command Shell(absl::string_view line) {
    return Command({"/bin/sh", "-c", std::string(line)});
  }
  const std::vector<std::string>& argv() const { return argv_; }

 private:
  explicit Command(std::vector<std::string> argv) : argv_(std::move(argv)) {}
  std::vector<std::string> argv_;
};

// Where one of the three standard streams of a process leads.
class Stdio {
 public:
  enum class Kind : uint8_t { kPipe, kNull, kFd };
  static Stdio Pipe() { return Stdio(Kind::kPipe, -1); }
  static Stdio Null() { return Stdio(Kind::kNull, -1); }
  // A descriptor of the caller's, who keeps it: the process gets a duplicate.
  static Stdio Fd(int fd) { return Stdio(Kind::kFd, fd); }
  Kind kind() const { return kind_; }
  int fd() const { return fd_; }

 private:
  Stdio(Kind kind, int fd) : kind_(kind), fd_(fd) {}
  Kind kind_;
  int fd_;
};

// A process of its own (Runtime::Spawn) or one more in a session's place (Session::Exec).
struct ProcessSpec {
  Command command = {};
  Env env = Env::Basic();  // Exec: on top of the session's own
  std::string cwd = {};    // absolute; "" is the session's, or the caller's
  Stdio stdin_ = Stdio::Null();
  Stdio stdout_ = Stdio::Pipe();
  Stdio stderr_ = Stdio::Pipe();
  // One terminal instead of the three: the caller takes its other side as stdout and stdin.
  bool pty = false;
  TerminalSize size = {};
  // Spawn only; an Exec is under its session's.
  std::optional<Policy> policy = {};
};

// A folder or file of the host, seen in a container or an environment.
struct Mount {
  std::string source = {};  // absolute; symlinks are resolved once, at the start
  std::string target = {};
  bool read_only = false;
};

// A port inside that can be reached from the host.
struct PortMapping {
  uint16_t inside = 0;
  uint16_t host = 0;                  // 0: a free one is taken
  std::string address = "127.0.0.1";  // where the host listens
  bool udp = false;
};

// What the docker backend needs to know besides.
struct ContainerSpec {
  enum class Pull : uint8_t { kIfMissing = 0, kNever = 1, kAlways = 2 };
  std::string image = {};
  Pull pull = Pull::kIfMissing;
  std::vector<Mount> mounts = {};
  std::vector<PortMapping> ports = {};
  std::string user = {};     // "uid:gid" or a name of the image's; "" is the image's own
  bool host_user = false;    // the caller's uid and gid
  std::string network = {};  // "" as the policy says, or the engine's default without one
  bool init = true;          // a pid 1 that reaps
  // Kept between sessions of one name as long as nothing of this description changes.
  bool reuse = false;
};

// What the nix backend needs to know besides.
struct NixSpec {
  std::string flake = {};  // folder with the flake.nix; "" is the working directory
  std::string shell = {};  // "" is the default dev shell
  bool wrapped = false;    // run `nix develop` each time instead of what was kept of it
};

// A session.
struct SessionSpec {
  std::string name = {};     // [A-Za-z0-9][A-Za-z0-9_-]{0,63}
  std::string backend = {};  // "native", "tmux", "docker", "nix"; "" lets berth choose
  Command command = {};
  Env env = Env::Basic();
  std::string cwd = {};
  // A terminal (one stream, programs draw on it), or three pipes (stdout and stderr apart).
  bool pty = true;
  TerminalSize size = {};
  // Durable: outlives the program that made it, until Destroy. Otherwise it ends with its owner.
  bool durable = true;
  // Limits in time; infinite is none. Inactivity is time without a byte of output.
  absl::Duration wall_limit = absl::InfiniteDuration();
  absl::Duration inactivity_limit = absl::InfiniteDuration();
  // TERM comes first, KILL after this, when a limit or the owner's death ends the session.
  absl::Duration grace = absl::Seconds(5);
  // Lines of scrollback for Capture, and bytes of output kept for late readers.
  int scrollback_lines = 2000;
  int64_t output_bytes = int64_t{1} << 20;
  // All output goes to a file too: rotated once (to FILE.1) when it passes the cap. "" is none.
  std::string log_path = {};
  int64_t log_cap_bytes = int64_t{64} << 20;
  absl::btree_map<std::string, std::string> labels = {};
  // What it may see, write, call, reach and use up. None: what the caller may.
  std::optional<Policy> policy = {};
  ContainerSpec container = {};
  NixSpec nix = {};
};

}  // namespace berth

#endif  // BERTH_RUNTIME_SPEC_H_
