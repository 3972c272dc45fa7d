// The state directory: whether records can be kept there, and stay.

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/doctor/checks.h"
#include "runtime/doctor/doctor.h"
#include "runtime/record/state_dir.h"

namespace berth::doctor {
namespace {

constexpr char kArea[] = "state";
constexpr uint64_t kLittle = uint64_t{64} << 20;

Check Directory(const absl::StatusOr<StateDir>& dir) {
  constexpr char kName[] = "state directory";
  if (!dir.ok()) {
    return NotOk(CheckState::kMissing, kArea, kName, std::string(dir.status().message()),
                 "export BERTH_STATE_DIR=$HOME/.local/state/berth, or another directory that is "
                 "yours alone");
  }
  struct statfs info;
  if (fstatfs(dir->root_fd(), &info) != 0) {
    return NotOk(CheckState::kWeaker, kArea, kName,
                 absl::StrCat("ask its file system: ", strerrordesc_np(errno)),
                 "choose another with BERTH_STATE_DIR");
  }
  const uint64_t free = info.f_bavail * static_cast<uint64_t>(info.f_bsize);
  if (free < kLittle) {
    return NotOk(CheckState::kWeaker, kArea, kName,
                 absl::StrCat(dir->path(), " has ", free >> 20,
                              " MiB left; sessions keep records, "
                              "output and logs there"),
                 "make room, or choose another with BERTH_STATE_DIR");
  }
  if (info.f_type == TMPFS_MAGIC) {
    return NotOk(CheckState::kWeaker, kArea, kName,
                 absl::StrCat(dir->path(),
                              " is in memory: what sessions left is forgotten at a "
                              "restart of the machine"),
                 "export BERTH_STATE_DIR to a directory on a disk");
  }
  return Ok(kArea, kName, dir->path());
}

Check RunDirectory(const StateDir& dir) { return Ok(kArea, "sockets", dir.run_path()); }

}  // namespace

std::vector<Check> State(const std::string& state_dir) {
  const absl::StatusOr<StateDir> dir = StateDir::Open(state_dir);
  std::vector<Check> checks = {Directory(dir)};
  if (dir.ok()) checks.push_back(RunDirectory(*dir));
  return checks;
}

}  // namespace berth::doctor
