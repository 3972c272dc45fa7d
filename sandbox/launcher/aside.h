// Aside: the newest bytes of a stream, put aside in a pipe of our own: they are moved there page by
// page, and copied only when somebody asks for them. Of most output nobody does before newer output
// takes its place.
#ifndef BERTH_SANDBOX_LAUNCHER_ASIDE_H_
#define BERTH_SANDBOX_LAUNCHER_ASIDE_H_

#include <stddef.h>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

class Aside {
 public:
  size_t size() const { return size_; }

  // Moves bytes here from `pipe`: how many, 0 if none are there or there is no place for them.
  size_t Take(int pipe, size_t most);
  // Forgets the oldest bytes: how many, which is all if that can be done.
  size_t Drop(size_t most);
  // Gives the oldest bytes away: how many, 0 at the end.
  size_t Read(char* buffer, size_t most);

 private:
  bool Open();

  UniqueFd reads_, writes_, null_;
  size_t size_ = 0;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ASIDE_H_
