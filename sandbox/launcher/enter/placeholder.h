// Placeholders: what keeps a name from being made that is not there yet.
//
// Something can only be mounted over what is there. So where a carve-out names a path that does not
// exist, a symlink that leads nowhere is made on the host, and inside another is mounted over it:
// nobody there can remove or replace it. Who reads it finds nothing, as if it were not there, and
// who writes to it writes to nothing, on the host and in other sandboxes too. It is removed once
// the last process of the last sandbox that needs it is gone; whoever did so earlier would open a
// hole in the others, since the kernel lets go of what is mounted over a removed name.
//
// The names in one folder are names of one symlink: making a file costs several times as much as
// giving it another name, and more yet where many were removed just before (ext4 looks for one that
// was not).
//
// Who has placeholders in a folder holds a lock on it, of the only kind that a folder can have
// without being in the way of anybody's flock: a read lock of one byte (fcntl, of the open file and
// not of a process). Nobody can have a write lock on a folder, but anybody can ask who would be in
// the way of one. One byte says "I need what is here", another "I am removing it": each sets its
// own byte and then looks at the other's, so at least one of the two sees the other.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

// Keeps what is and will be in that folder (O_PATH will do) until the descriptor is released. Waits
// for who is just removing. Not ok(): errno; ETIMEDOUT if that takes long. Changes the working
// directory to "/" if it has to wait.
UniqueFd KeepPlaceholders(int folder);
// Makes one in a folder that is kept, or finds it there. `like`, if not "", is another one there.
// 0 or an errno: EEXIST if something else is there.
int MakePlaceholder(int folder, const std::string& name, const std::string& like);
// Removes all that are in that folder, unless others need them.
void ReleasePlaceholders(UniqueFd folder);

// The folders that a helper keeps for one sandbox. All sandboxes of one helper share the lock of a
// folder: the kernel looks through all locks of it when any descriptor of it is closed, which each
// start does some fifty times.
class KeptFolders {
 public:
  KeptFolders() = default;
  KeptFolders(KeptFolders&&) = default;
  KeptFolders& operator=(KeptFolders&&) = default;

  void Add(UniqueFd folder);
  void Release();

 private:
  struct Kept;

  std::vector<std::shared_ptr<Kept>> all_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_
