// What a window of another terminal manager (tmux) asks of a keeper, besides protocol.h: the keeper
// holds the session, the window shows it. The numbers follow those of KeeperMessage.
#ifndef BERTH_SANDBOX_LAUNCHER_PANE_PROTOCOL_H_
#define BERTH_SANDBOX_LAUNCHER_PANE_PROTOCOL_H_

#include <stdint.h>

namespace berth::launcher {

// argv[1] of the helper: `pane RUN-FOLDER UID` shows a session on its terminal; `hold PID
// START-TIME PID-NAMESPACE` keeps a window open for as long as that process lives.
inline constexpr char kPaneMode[] = "pane";
inline constexpr char kHoldMode[] = "hold";

enum PaneMessage : uint16_t {
  // Owner, instead of kSetup: str cwd, list argv, list env. Descriptors: stdin, stdout, stderr. The
  // keeper runs that program and nothing else, and kills it once the owner's end is closed; what
  // the program has made, such as a server, stays. Answer: empty; kFailed if it could not be
  // executed.
  kBecome = 140,
  // Owner, before kGo: str cwd, list argv, list env. Executed by the keeper at its very end, when
  // nothing of
  // the session is left: it takes the session's window away, whoever is still there to do so.
  kAtEnd = 141,
  // The caller takes the window away itself: the command of kAtEnd is not wanted any more.
  kNothingAtEnd = 142,
  // Descriptor: a stream socket that gets the output from its first byte on (the screen, if that is
  // gone) and gives input. Allowed before kGo. Answer, once the session has ended: as kWait.
  kView = 143,
  // Owner, before kGo: answered once a window shows the session.
  kAwaitView = 144,
  // Somebody closed the window: the session is stopped, with its own grace. One that has not begun
  // is stopped as soon as it has. Answer: empty, at once.
  kClosed = 145,
  // What another window needs to know. Answer: i32 lines of scrollback, u16 rows, u16 cols.
  kHowToShow = 146,
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_PANE_PROTOCOL_H_
