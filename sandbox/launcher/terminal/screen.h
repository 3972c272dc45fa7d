// Screen is a terminal without a display: it takes the output of a program and knows what a person
// would see. The keeper of a session feeds it everything that comes from the PTY, so that a
// capture, a newly attached viewer and a program that asks its terminal a question all have an
// answer when nobody is watching.
//
// libvterm does the emulation, behind a Gate that keeps from it what it cannot bear: the bytes come
// from programs that may be hostile. An idle 80x24 screen costs about 80 KiB; the alternate screen
// 70 KiB more from its first use on.
//
//   Screen screen(24, 80);
//   screen.Feed("\x1b[31mred\x1b[m\r\n", 13);
//   screen.Capture(10, false);  // "red\n"
//
// Owns its memory and nothing else. One thread. No call fails on any input; without memory the
// process ends.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_SCREEN_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_SCREEN_H_

#include <vterm.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/terminal/gate.h"
#include "sandbox/launcher/terminal/look.h"
#include "sandbox/launcher/terminal/scrollback.h"

namespace berth::launcher {

class Screen final : private Gate::Receiver {
 public:
  // Sizes outside of these are brought into them. libvterm writes past a screen of one column.
  static constexpr int kMinRows = 1, kMaxRows = 1024;
  static constexpr int kMinCols = 2, kMaxCols = 4096;

  Screen(int rows, int cols, size_t scrollback_lines = 2000, size_t scrollback_bytes = 1 << 20);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Where answers to the program's queries (DSR, DA, DECRQM, ...) go; called from within Feed.
  // None: they are dropped.
  using Reply = void (*)(void* context, const char* bytes, size_t size);
  void set_reply(Reply reply, void* context);

  // Any bytes, cut anywhere.
  void Feed(const char* bytes, size_t size);
  void Feed(std::string_view bytes) { Feed(bytes.data(), bytes.size()); }

  // Rows that no longer fit go to the scrollback. Lines are not wrapped anew. The scroll region
  // becomes the whole screen, as in xterm.
  void Resize(int rows, int cols);

  // The last `lines` lines (all if <= 0) of the scrollback followed by the screen; of the alternate
  // screen only, while it is shown. Each ends with '\n'. Blank lines at the end of the screen and
  // spaces at the end of a line are left out. `colour`: with SGR sequences, each line complete in
  // itself; blanks that are seen (a coloured background) stay then. `join_wrapped`: a line that was
  // wrapped at the right margin is one line again.
  std::string Capture(int lines, bool colour, bool join_wrapped = false) const;

  // What makes a terminal of the same size show this screen and be in the same state: both screens,
  // cursor, colours, scroll region, modes (paste, mouse, cursor keys, keypad, ...), title.
  // Scrollback is not part of it. It starts with a soft reset that leaves the scrollback of the
  // viewer's terminal alone.
  std::string Repaint() const;

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int cursor_row() const;  // from 0
  int cursor_col() const;
  bool cursor_visible() const { return cursor_visible_; }
  bool alternate() const { return alternate_; }
  bool bracketed_paste() const;
  bool application_cursor() const;
  const std::string& title() const { return title_; }  // without control characters
  const Scrollback& scrollback() const { return scrollback_; }

 private:
  friend struct ScreenCallbacks;

  // Gate::Receiver
  void OnText(const char* bytes, size_t size, bool printable_ascii) override;
  void OnEscape(std::string_view sequence) override;
  void OnControlSequence(const ControlSequence& sequence) override;
  void OnString(char kind, std::string_view body) override;

  void SetGraphics(const ControlSequence& sequence);
  void SetModes(const ControlSequence& sequence);
  void RepeatLast(int count);
  void PassOn(const ControlSequence& sequence);
  void Write(std::string_view bytes) const;
  void PushLine(int cols, const VTermScreenCell* cells);
  VTermPos Cursor() const;
  bool ScrollRegion(int* top, int* bottom) const;
  bool Wrapped(int row) const;
  std::string Row(int row) const;
  std::vector<std::string> Rows() const;
  // What libvterm answers to a query, or sends for a key.
  std::string Ask(std::string_view query) const;
  template <typename Send>
  std::string Probe(Send&& send) const {
    std::string answer;
    probe_ = &answer;
    send();
    probe_ = nullptr;
    return answer;
  }
  bool Mode(int mode) const;
  Look Pen() const;

  int rows_, cols_;
  Reply reply_ = nullptr;
  void* reply_context_ = nullptr;
  mutable std::string* probe_ = nullptr;  // takes the answers while we ask ourselves

  VTerm* vterm_;
  VTermState* state_;
  VTermScreen* screen_;
  Gate gate_;
  Scrollback scrollback_;

  bool cursor_visible_ = true;
  bool alternate_ = false;
  char character_set_ = 'B';
  std::string title_;
  // The primary screen while the alternate one is shown: libvterm does not let it be read then.
  std::vector<std::string> hidden_rows_;
  VTermPos hidden_cursor_ = {0, 0};

  int pushed_by_resize_ = -1;  // counts within Resize
  VTermPos last_text_end_ = {-1, -1};
  size_t unmoved_bytes_ = 0;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_SCREEN_H_
