// What the processes of a start tell their helper, over a SEQPACKET socket of their own: that the
// program runs or why not, what the helper needs to hold, and at last how it ended.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_REPORT_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_REPORT_H_

#include <limits.h>

#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/failure.h"

namespace berth::launcher {

struct Report {
  enum class Kind : uint8_t {
    kNothing = 0,
    kListener = 1,     // of the filter's notifications
    kStarted = 2,      // pidfd of the program, then the namespaces that were asked for
    kFailed = 3,       // `failure`; nothing has run
    kPlaceholder = 4,  // `name` in the directory of the first descriptor; its lock is the second
    kEnded = 5,        // `status`, as waitpid gives it
  };
  Kind kind = Kind::kNothing;
  Failure failure = {};
  int status = 0;
  char name[NAME_MAX + 1] = {};
};

inline constexpr int kMaxReportFds = 8;

// 0 or an errno. No heap.
int SendReport(int socket, const Report& report, const int* fds, int count);
// The same; EPIPE once all senders are gone. Waits as the socket does.
int ReceiveReport(int socket, Report* report, std::vector<UniqueFd>* fds);

// Two ends; false with errno. A receiver never waits longer than a minute for one message.
bool MakeReportPair(UniqueFd* ours, UniqueFd* theirs);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_REPORT_H_
