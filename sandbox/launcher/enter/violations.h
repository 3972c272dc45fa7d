// Violations: what the filter of a sandbox has stopped, kept by the helper that serves it.
//
// The filter hands refused calls to its listener (SECCOMP_RET_USER_NOTIF). The helper notes what
// was tried and refuses; it lets a call go on only where the kernel holds the rule without it,
// since a program can change what its arguments point to after they were looked at. Where a plan
// has files told, all calls that name one come too, and all of them go on: what mounts or Landlock
// keep a program from is noted by the names it gives, and never decided by them.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_VIOLATIONS_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_VIOLATIONS_H_

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/launcher/enter/file_view.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {

class ViolationLog {
 public:
  // A program can try as often as it likes: the last ones are kept, all are counted.
  static constexpr size_t kMost = 256;

  // As Violation::Layer of sandbox/violation.h counts.
  static constexpr uint8_t kSyscall = 1, kFile = 2, kNetwork = 3, kWall = 6, kFileSize = 7;

  // What holds for those who are noted here: call it before any notification is served.
  void SetPlan(const SandboxPlan& plan);
  void Add(uint8_t layer, int32_t pid, std::string what);
  void AddFile(int32_t pid, std::string what, const char* why);
  // A program that its policy has killed: by the filter (SIGSYS; which call it was nobody is told),
  // or by the limit of files' sizes. Other signals are nothing to tell.
  void AddDeath(int32_t pid, int signal);
  uint64_t total() const { return total_; }
  // u64 total, u64 the number of the first that follows, u32 count, then for each: u8 layer, i32
  // pid, u64 ns since 1970, str what, and of kFile str why; then u8 SandboxNetwork. Those from
  // number `since` on that are still kept.
  void Encode(uint64_t since, Writer* out) const;

  // Judges files, if these calls are notified only to be told. Null: they are not.
  const FileView* FilesOf(const seccomp_data& call) const;
  // Nobody is served for it any more.
  void DropPlan() { files_.reset(); }

 private:
  struct Entry {
    uint8_t layer;
    int32_t pid;
    uint64_t unix_ns;
    std::string what;
    const char* why = "";  // a literal
  };
  std::deque<Entry> kept_;
  uint64_t total_ = 0;
  SandboxNetwork network_ = SandboxNetwork::kNone;
  std::unique_ptr<const FileView> files_;
  std::vector<int32_t> told_calls_;
};

// Answers what waits at `listener` now; does not wait for more. False if it can be closed: nobody
// is under the filter any more.
bool ServeNotifications(int listener, ViolationLog* log);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_VIOLATIONS_H_
