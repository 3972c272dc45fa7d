// What this machine gives berth: what is there, what is weaker than it could be and why, and
// exactly what to do about it.
//
//   for (const Check& check : Examine({})) {
//     if (check.state != CheckState::kOk) puts(check.remedy.c_str());
//   }
//
// Things are tried, not looked up: a kernel's version says little. Changes nothing but the state
// directory, which is made if it is missing. Some milliseconds; an engine that is there but does
// not answer holds it up for ten seconds. Threads: any, at once; the caller is not forked.
#ifndef BERTH_RUNTIME_DOCTOR_DOCTOR_H_
#define BERTH_RUNTIME_DOCTOR_DOCTOR_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace berth {

enum class CheckState : uint8_t { kOk = 0, kWeaker = 1, kMissing = 2 };
// "ok", "weaker", "missing".
absl::string_view CheckStateName(CheckState state);

struct Check {
  std::string area = {};  // "kernel", "sandbox", "limits", "tiers", "engines", "state"
  std::string name = {};  // unique: "landlock", "tmux", …
  CheckState state = CheckState::kOk;
  std::string detail = {};  // what there is: "version 7"; "" if there is nothing
  std::string reason = {};  // not kOk: why
  std::string remedy = {};  // not kOk: what to do, as a command where there is one
};

struct DoctorOptions {
  std::string state_dir = {};  // "": as for Runtime
};

// All checks, in the order to show them in.
std::vector<Check> Examine(const DoctorOptions& options);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCTOR_DOCTOR_H_
