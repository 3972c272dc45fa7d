// What the processes of a start tell their helper, over a SEQPACKET socket of their own: that the
// program runs or why not, what the helper needs to hold, and at last how it ended.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_REPORT_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_REPORT_H_

#include <stddef.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/failure.h"

namespace berth::launcher {

struct Report {
  enum class Kind : uint8_t {
    kNothing = 0,
    kListener = 1,      // of the filter's notifications
    kStarted = 2,       // pidfd of the program, then the namespaces that were asked for
    kFailed = 3,        // `failure`; nothing has run
    kPlaceholders = 4,  // a folder to be kept: see placeholder.h
    kEnded = 5,         // `status`, as waitpid gives it
    kParked = 6,        // text: SourceIdentity of each mount of the plan
  };
  Kind kind = Kind::kNothing;
  Failure failure = {};
  int status = 0;
};

// What the helper sends to one that was parked, after the request: run it. Anything else: do not.
inline constexpr char kConsent = 'g';

inline constexpr int kMaxReportFds = 8;
inline constexpr size_t kMaxReportText = 16 << 10;

// 0 or an errno. No heap.
int SendReport(int socket, const Report& report, const int* fds, int count,
               std::string_view text = {});
// The same; EPIPE once all senders are gone. Waits as the socket does, and as `flags` (of recvmsg)
// say.
int ReceiveReport(int socket, Report* report, std::vector<UniqueFd>* fds, std::string* text,
                  int flags = 0);

// Two ends; false with errno. A receiver never waits longer than a minute for one message.
bool MakeReportPair(UniqueFd* ours, UniqueFd* theirs);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_REPORT_H_
