// What the two halves of root.h share.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_NAMES_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_NAMES_H_

#include <linux/mount.h>
#include <stdint.h>

namespace berth::launcher {

// Sources of masks and placeholders, and where the host's root is meanwhile; gone before anything
// runs.
inline constexpr char kEmptyDirectory[] = ".berth-empty", kEmptyFile[] = ".berth-empty-file",
                      kNowhere[] = ".berth-nowhere", kOldRoot[] = ".berth-host";

inline constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_NAMES_H_
