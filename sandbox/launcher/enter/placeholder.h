// Placeholders: what keeps a name from being made that is not there yet.
//
// Something can only be mounted over what is there. So where a carve-out names a path that does not
// exist, an empty file that nobody may write (a directory, if more of the path is missing) is made
// on the host, and something read-only is mounted over it inside. The host sees an empty file while
// the sandbox runs; the helper removes it once the last process of it is gone. A mark (no bytes, no
// write permission, last changed at the epoch; a mode of its own while it is being made) tells a
// placeholder from a file of the user's, also after a helper was killed: the next sandbox there
// takes it over. For all sandboxes on a workspace
// a shared lock is held on it: whoever removed it earlier would open a hole in the others, since
// the kernel lets go of what is mounted over a removed name.
//
// The files that one sandbox makes in one directory are names of one file. Making a file costs
// several times as much as giving it another name, and more yet where many were removed just before
// (ext4 looks for one that was not). Sandboxes that share some of the names share its lock; the
// last of them removes them all.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

struct Placeholder {
  UniqueFd directory;
  std::vector<std::string> names;  // of one file, or of one directory
  UniqueFd lock;                   // held as long as a descriptor of it is open
  bool is_file = false;            // for who makes them: more names can be added, in the directory
  dev_t device = 0;                // that this is
  ino_t inode = 0;
  ino_t file = 0;  // that has the names
};

// Makes one and adds it to `all`, to one that is there if that can be; takes over one that another
// sandbox made. 0 or an errno: EEXIST if something else is there now.
int AddPlaceholder(int directory, const std::string& name, bool is_directory,
                   std::vector<Placeholder>* all);
// The same for a name that is most likely free, for the file among them that is so numbered. False
// if it is not so simple; then nothing is done.
bool AddNextPlaceholder(int directory, const std::string& name, ino_t file,
                        std::vector<Placeholder>* all);
// Whether `fd` (O_PATH will do) is marked as one.
bool IsPlaceholder(int fd);
bool IsPlaceholder(const struct stat& st);

// Those that a helper holds for one sandbox. All sandboxes of one helper share the lock of a file:
// the kernel looks through all locks of a file when any descriptor of it is closed, which each
// start does some fifty times.
class HeldPlaceholders {
 public:
  HeldPlaceholders() = default;
  HeldPlaceholders(HeldPlaceholders&&) = default;
  HeldPlaceholders& operator=(HeldPlaceholders&&) = default;

  void Add(Placeholder made);
  // Lets go, and removes what no other sandbox holds and is what was made.
  void Release();

 private:
  struct Lock;
  struct Held {
    UniqueFd directory;
    std::vector<std::string> names;
    std::shared_ptr<Lock> lock;
  };
  static std::shared_ptr<Lock> Share(UniqueFd lock);

  std::vector<Held> all_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_
