// Store keeps the records of a state directory. A record is durable before Write returns, and
// before Reserve does unless it is told otherwise, so the start gate may be opened then and not
// before.
//
//   auto store = Store::Open();
//   auto lease = Lease::Acquire((*store)->dir());
//   Record wanted;
//   wanted.name = "builder"; wanted.backend = "native"; wanted.owner_id = lease->owner_id();
//   auto record = (*store)->Reserve(wanted);       // has the name; nothing runs yet
//   … start behind a closed gate, fill in what was made …
//   record->state = kStateRunning;
//   auto written = (*store)->Write(*record);       // then open the gate
//   …
//   (*store)->Remove(record->uid);
//
// It has no state but descriptors: any number of threads and processes may use one state directory
// at once. A process that is killed at any point leaves either nothing that List shows, or a whole
// record in state "starting" whose owner is dead; what lies unfinished out of sight is removed by
// Tidy.
#ifndef BERTH_RUNTIME_RECORD_STORE_H_
#define BERTH_RUNTIME_RECORD_STORE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/record/files.h"
#include "runtime/record/record.h"
#include "runtime/record/record_cache.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// An entry of sessions/ that is not a readable session, and why.
struct BrokenRecord {
  std::string entry;
  absl::Status why;
};

struct Listing {
  std::vector<Record> records;
  std::vector<BrokenRecord> broken;
};

// Whether what Reserve has made outlasts a loss of power when it returns. If it is not to, nothing
// that does may be made before Write and SyncPlace have returned: processes do not.
enum class Sync { kNow, kLater };

class Store {
 public:
  // "" as for StateDir::Open, with its errors.
  static absl::StatusOr<std::unique_ptr<Store>> Open(std::string state_dir_path = "");

  const StateDir& dir() const { return dir_; }

  // Makes a session of a new uid and takes its name. Of `initial`, name, backend and owner_id (a
  // lease that the caller holds) must be set; uid, token, install_id, boot_id, created_at_unix_ns
  // are filled in, and owner with this process if its pid is 0. AlreadyExists if a session has the
  // name, unless that one never started and its owner is proven dead: then the name passes on. On
  // any error nothing is left.
  absl::StatusOr<Record> Reserve(Record initial, Sync sync = Sync::kNow) const;

  // Replaces the record durably; SyncPlace besides, if Reserve left that to be done. The name is
  // not changed by it, so that no write undoes a rename. NotFound if the session is gone.
  absl::Status Write(const Record& record) const;
  // Makes the session's name and the place of its folder durable: what Sync::kLater leaves out, and
  // Write does not do.
  absl::Status SyncPlace() const;

  // NotFound: no such session. Otherwise what is wrong with the record: DataLoss (torn, not a
  // record, or of another uid), OutOfRange (too long), PermissionDenied (another user's),
  // FailedPrecondition (a symlink, fifo, folder…, or written by a newer berth). Never blocks.
  absl::StatusOr<Record> Read(const std::string& uid) const;
  // By exact name. NotFound if no session has it.
  absl::StatusOr<Record> Find(const std::string& name) const;
  // All sessions, in no order. A broken one does not stop the rest.
  absl::StatusOr<Listing> List() const;
  // The same for who lists again and again: a file that `cache` knows is not read once more.
  absl::StatusOr<Listing> List(RecordCache* cache) const;

  // AlreadyExists if another session has `new_name`. At every moment, and after a crash at any, the
  // session is found by one of the two names.
  absl::Status Rename(const std::string& uid, const std::string& new_name) const;

  // Removes the session's files, then its name if it still has it, then its record. Fine if there
  // is none. Files and folders of any kind go, symlinks are not followed; FailedPrecondition at
  // another file system.
  absl::Status Remove(const std::string& uid) const;

  // The session's folder, for its log and the like.
  absl::StatusOr<UniqueFd> OpenSessionDir(const std::string& uid) const;

  // Moves an entry of sessions/, as BrokenRecord names it, with its bytes to
  // quarantine/<entry>.<n>.
  absl::Status Quarantine(const std::string& entry) const;

  // Removes what killed processes left half made or half removed, and names of sessions that are
  // gone. Safe beside anything else at any time.
  absl::Status Tidy() const;

 private:
  explicit Store(StateDir dir) : dir_(std::move(dir)) {}

  // As it stands in the file: see Resolve.
  absl::StatusOr<Record> ReadFile(int session_fd, const std::string& uid) const;
  absl::StatusOr<Record> ParseFile(const std::string& text, const std::string& uid) const;
  absl::Status WriteFile(int session_fd, const Record& record, Synced synced) const;
  // What the session's folder and name tell that is newer: a rename that is under way, a start that
  // was given up.
  void Resolve(Record& record) const;

  absl::Status MakeSession(const Record& record, Sync sync) const;
  absl::Status SyncSession(const Record& record) const;
  absl::Status DropNames(int session_fd, const std::string& uid) const;
  bool IsStale(const std::string& uid) const;

  const StateDir dir_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_STORE_H_
