// What a session has on disk, as its keeper sees it: the record's folder, the name, the socket.
#ifndef BERTH_SANDBOX_LAUNCHER_SESSION_FILES_H_
#define BERTH_SANDBOX_LAUNCHER_SESSION_FILES_H_

#include <string>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/protocol.h"

namespace berth::launcher {

struct SessionFiles {
  UniqueFd session;  // folder of the session: sessions/<uid>
  UniqueFd names;    // folder of the names: names/<name> is a link whose text is the uid
  UniqueFd run;      // folder of the sockets
  std::string uid, name;

  // A listening socket <run>/<uid>, mode 0600. Not ok() with errno.
  UniqueFd Listen() const;
  // Syncs the name and the folder that the session's is in: 0 or an errno.
  int SyncPlace() const;
  // Keeps how the session ended for those who ask after the keeper is gone.
  void WriteExit(const ExitNotice& notice) const;
  // Of a session that was never let run, and has a part in an engine that may be there already, or
  // be about to be: the record stays, as that of one that never started, for a sweep to find it by.
  void GiveUp() const;
  // The name, if it still is this session's, the socket, and the folder with all files in it.
  void Remove() const;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_SESSION_FILES_H_
