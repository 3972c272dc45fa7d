// What a keeper is told at its start: the body of kSetup.
#ifndef BERTH_SANDBOX_LAUNCHER_KEEPER_SPEC_H_
#define BERTH_SANDBOX_LAUNCHER_KEEPER_SPEC_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/wire.h"

namespace berth::launcher {

struct KeeperSpec {
  std::string uid;  // of the session; its socket is <run directory>/<uid>
  std::string name;
  bool durable = true;
  // Its record names something of an engine's, which only the record is a way to.
  bool has_engine = false;
  bool pty = true;
  uint16_t rows = 24, cols = 80;
  int64_t wall_ms = -1, inactivity_ms = -1;  // negative: none
  uint32_t grace_ms = 5000;
  int32_t scrollback_lines = 2000;
  int64_t keep_bytes = 1 << 20;
  std::string log_path;
  int64_t log_cap = 0;
  std::string cwd;
  std::vector<std::string> argv, env;
  std::string plan;  // an encoded SandboxPlan; "" is none

  std::string Encode() const;
  bool Decode(const Message& message);
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_KEEPER_SPEC_H_
