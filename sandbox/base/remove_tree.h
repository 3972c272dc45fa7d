// RemoveTree: takes away a folder that a hostile program could fill, whatever it is filled with.
// No dependency, so that the launcher's helper can use it too.
#ifndef BERTH_SANDBOX_BASE_REMOVE_TREE_H_
#define BERTH_SANDBOX_BASE_REMOVE_TREE_H_

namespace berth {

// Removes `name` in the folder `dir_fd` and all below it: 0, also if it is not there, or an errno.
// Opens no file and follows no link; folders that their owner closed to himself are opened again;
// any depth, with few descriptors and little memory. EXDEV at another file system, of which nothing
// is removed.
int RemoveTree(int dir_fd, const char* name);

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_REMOVE_TREE_H_
