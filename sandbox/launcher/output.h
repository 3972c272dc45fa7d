// Output: one stream of a session's program. Kept for late readers, and written to the pipes of
// those who read along.
//
// A stream that flows fast from the program's pipe to a reader that keeps up is not copied on its
// way (Pass); everything else goes through a buffer (Share, Append).
#ifndef BERTH_SANDBOX_LAUNCHER_OUTPUT_H_
#define BERTH_SANDBOX_LAUNCHER_OUTPUT_H_

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/aside.h"
#include "sandbox/launcher/ring.h"

namespace berth::launcher {

class Output {
 public:
  // `mixed`, if any, gets what this gets, with that of other streams. It must outlive this.
  explicit Output(size_t keep, Ring* mixed = nullptr) : ring_(keep), mixed_(mixed) {}

  uint64_t end() const { return ring_.end() + aside_.size(); }
  const Ring& ring() {
    Settle();
    return ring_;
  }

  // A reader: `pipe` gets every byte from `from` (negative: from now on). One that lags is waited
  // for while it lags by less than `buffer`; 0: never, and it skips what it missed. Returns the
  // offset at which it really begins.
  uint64_t AddReader(UniqueFd pipe, int64_t from, uint64_t buffer);

  // How many bytes may be taken from the program now: less than `most` if a reader lags.
  size_t Room(size_t most) const;

  // Takes bytes from the program's pipe, at most so many, and passes them on without a copy.
  // Returns how many; 0 if that cannot be done: then they are to be read and appended. Before the
  // next byte of another stream of `mixed`, Settle() puts those of this one there.
  size_t Pass(int pipe, size_t most);
  void Settle();

  // Gives readers that have everything so far what comes next in the program's pipe, at most so
  // much, without taking it from there: they have it already when it is appended.
  void Share(int pipe, size_t most);
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
    uint64_t at;  // past the end by what was shared and is not appended yet
    uint64_t buffer;
  };
  void Keep(std::string_view bytes);

  Ring ring_;
  Ring* const mixed_;
  Aside aside_;  // what comes after the ring's end
  std::vector<Reader> readers_;
  bool closed_ = false;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_OUTPUT_H_
