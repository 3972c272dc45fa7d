// StateDir is the folder in which one installation of berth keeps what must survive its processes:
//
//   install_id            who we are, made once
//   sessions/<uid>/       one folder a session: record.json, log, …
//   names/<name>          a symlink whose text is the uid; read, never followed
//   owners/<owner_id>     leases
//   quarantine/           what could not be read
//   run/                  sockets (or $XDG_RUNTIME_DIR/berth)
//
// It holds descriptors of these folders and nothing else. Movable, not copyable; const use from any
// number of threads. Folders are 0700; one that is a symlink, another user's or writable by others
// is refused.
#ifndef BERTH_RUNTIME_RECORD_STATE_DIR_H_
#define BERTH_RUNTIME_RECORD_STATE_DIR_H_

#include <string>

#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class StateDir {
 public:
  // Makes what is missing. "" is $BERTH_STATE_DIR, else $XDG_STATE_HOME/berth, else
  // $HOME/.local/state/berth. InvalidArgument: a path that is not absolute. FailedPrecondition: no
  // such variable, or a folder that cannot be trusted; the message says which and what to do.
  static absl::StatusOr<StateDir> Open(std::string path = "");

  StateDir(StateDir&&) = default;
  StateDir& operator=(StateDir&&) = default;

  const std::string& path() const { return path_; }
  const std::string& run_path() const { return run_path_; }
  const std::string& install_id() const { return install_id_; }

  int root_fd() const { return root_.get(); }
  int sessions_fd() const { return sessions_.get(); }
  int names_fd() const { return names_.get(); }
  int owners_fd() const { return owners_.get(); }
  int quarantine_fd() const { return quarantine_.get(); }
  int run_fd() const { return run_.get(); }

 private:
  StateDir() = default;

  std::string path_, run_path_, install_id_;
  UniqueFd root_, sessions_, names_, owners_, quarantine_, run_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_STATE_DIR_H_
