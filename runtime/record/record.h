// Record is what is durably known of one session: what was made, and who owns it. It is what the
// reaper acts on, so nothing in one is taken on trust: CheckRecord holds for each that is written
// or read. Arguments and environment values are never in it. Plain values; free functions are
// thread-safe.
#ifndef BERTH_RUNTIME_RECORD_RECORD_H_
#define BERTH_RUNTIME_RECORD_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"

namespace berth {

inline constexpr int64_t kRecordSchema = 1;
inline constexpr size_t kMaxRecordBytes = 64 * 1024;

inline constexpr char kStateStarting[] = "starting";  // reserved; the workload has not run yet
inline constexpr char kStateRunning[] = "running";    // the start gate was opened

inline constexpr char kTreeCgroup[] = "cgroup";
inline constexpr char kTreeSubreaper[] = "subreaper";
inline constexpr char kTreePidNamespace[] = "pidns";

// In a session's folder. What is below it was named by the session's program.
inline constexpr char kChangesFolder[] = "changes";

struct Record {
  int64_t schema = kRecordSchema;
  std::string install_id;   // 32 hex digits: StateDir::install_id of the maker
  std::string boot_id;      // of the machine when it was made
  std::string host_id;      // that machine, as HostId gives it; "" where it has none
  std::string uid;          // 26 of [a-z2-7], never used twice
  std::string name;         // see CheckSessionName; changes only by Store::Rename
  std::string renaming_to;  // set by Store::Rename while it is under way
  std::string backend;      // "native", "tmux", …
  std::string engine_address;
  std::string state = kStateStarting;
  bool durable = false;  // outlives its owner
  int64_t created_at_unix_ns = 0;
  std::string token;  // 32 hex digits, secret, also in the workload's environment

  std::string owner_id;  // the owner's lease: see lease.h
  Identity owner;
  Identity keeper;              // pid 0 in these: there is none
  Identity leader;              // the workload's session leader
  Identity pid_namespace_init;  // by its pid outside

  std::string tree;    // what ends the whole tree: "", "cgroup", "subreaper" or "pidns"
  std::string cgroup;  // paths are absolute, without "." and ".."; "" where there is none
  std::string socket;
  std::string container_id;
  std::string tmux_socket;
  std::string tmux_session;
  std::vector<std::string> temp_dirs;
  std::string log;
  std::string tier;  // how its policy is enforced; "" if it has none
  // Folders of the host that it sees copy-on-write: changes of the first are in kChangesFolder/0 of
  // the session's folder, and so on.
  std::vector<std::string> copy_on_write;
  std::map<std::string, std::string> labels;

  bool operator==(const Record&) const = default;
};

// InvalidArgument that names the field which breaks the rules above. Processes have a pid above 1;
// only the owner, which is never signalled, may be pid 1 (an orchestrator that is a container's
// first process).
absl::Status CheckRecord(const Record& record);

// Bytes that are not UTF-8 (paths may hold any) go through unchanged: they are written as {"hex":
// "…"}.
std::string ToJson(const Record& record);

// InvalidArgument: not JSON (a torn file), a field that is missing, of the wrong type or out of
// range. OutOfRange: more than kMaxRecordBytes. FailedPrecondition: written by a newer berth (a
// higher schema). Fields that are not known are ignored.
absl::StatusOr<Record> FromJson(absl::string_view json);

// An identity alone, as leases hold it.
std::string IdentityToJson(const Identity& identity);
absl::StatusOr<Identity> IdentityFromJson(absl::string_view json);

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_RECORD_H_
