// Output: one stream of a session's program. Kept for late readers, and written to the pipes of
// those who read along.
#ifndef BERTH_SANDBOX_LAUNCHER_OUTPUT_H_
#define BERTH_SANDBOX_LAUNCHER_OUTPUT_H_

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/ring.h"

namespace berth::launcher {

class Output {
 public:
  explicit Output(size_t keep) : ring_(keep) {}

  uint64_t end() const { return ring_.end(); }
  const Ring& ring() const { return ring_; }

  // A reader: `pipe` gets every byte from `from` (negative: from now on). One that lags is waited
  // for while it lags by less than `buffer`; 0: never, and it skips what it missed. Returns the
  // offset at which it really begins.
  uint64_t AddReader(UniqueFd pipe, int64_t from, uint64_t buffer);

  // How many bytes may be taken from the program now: less than `most` if a reader lags.
  size_t Room(size_t most) const;
  void Append(std::string_view bytes);
  // No more will come: readers get end of file once they have read the rest.
  void Close() { closed_ = true; }

  // Writes to the readers what they take.
  void Flush();
  void AppendPoll(std::vector<pollfd>* fds) const;
  // After poll: forgets the readers that have gone away, also those for whom there is nothing to
  // write.
  void DropGone(const std::vector<pollfd>& fds);
  bool drained() const { return readers_.empty(); }

 private:
  struct Reader {
    UniqueFd pipe;
    uint64_t at;
    uint64_t buffer;
  };
  Ring ring_;
  std::vector<Reader> readers_;
  bool closed_ = false;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_OUTPUT_H_
