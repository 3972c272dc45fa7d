#include "sandbox/launcher/terminal/screen.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/launcher/terminal/utf8.h"

namespace berth::launcher {
namespace {

// Room for one line of code points, or one answer. libvterm's default is two buffers of 4 KiB.
constexpr size_t kScratch = 2048;
// So much text without a printable ASCII character and without moving the cursor is only combining
// characters. libvterm would keep them all, and search through them for each more.
constexpr size_t kMaxCombining = 16 << 10;

int Clamp(int value, int low, int high) { return std::min(std::max(value, low), high); }

}  // namespace

// libvterm's callbacks. They return 1 for "done".
struct ScreenCallbacks {
  static void Output(const char* bytes, size_t size, void* user) {
    const Screen* screen = static_cast<Screen*>(user);
    if (screen->probe_ != nullptr) {
      screen->probe_->append(bytes, size);
    } else if (screen->reply_ != nullptr) {
      screen->reply_(screen->reply_context_, bytes, size);
    }
  }

  static int SetProperty(VTermProp property, VTermValue* value, void* user) {
    Screen* screen = static_cast<Screen*>(user);
    if (property == VTERM_PROP_CURSORVISIBLE) screen->cursor_visible_ = value->boolean;
    if (property == VTERM_PROP_ALTSCREEN) {
      screen->alternate_ = value->boolean;
      if (!screen->alternate_) screen->hidden_rows_ = {};
    }
    return 1;
  }

  static int PushLine(int cols, const VTermScreenCell* cells, void* user) {
    static_cast<Screen*>(user)->PushLine(cols, cells);
    return 1;
  }

  static int ClearScrollback(void* user) {
    static_cast<Screen*>(user)->scrollback_.Clear();
    return 1;
  }

  static constexpr VTermScreenCallbacks kAll = {
      .damage = nullptr,
      .moverect = nullptr,
      .movecursor = nullptr,
      .settermprop = SetProperty,
      .bell = nullptr,
      .resize = nullptr,
      .sb_pushline = PushLine,
      .sb_popline = nullptr,
      .sb_clear = ClearScrollback,
  };
};

Screen::Screen(int rows, int cols, size_t scrollback_lines, size_t scrollback_bytes)
    : rows_(Clamp(rows, kMinRows, kMaxRows)),
      cols_(Clamp(cols, kMinCols, kMaxCols)),
      gate_(this),
      scrollback_(scrollback_lines, scrollback_bytes) {
  VTermBuilder builder = {};
  builder.rows = rows_;
  builder.cols = cols_;
  builder.outbuffer_len = 1;  // unused with an output callback
  builder.tmpbuffer_len = kScratch;
  vterm_ = vterm_build(&builder);
  vterm_set_utf8(vterm_, 1);
  vterm_output_set_callback(vterm_, ScreenCallbacks::Output, this);
  state_ = vterm_obtain_state(vterm_);
  screen_ = vterm_obtain_screen(vterm_);
  vterm_screen_set_callbacks(screen_, &ScreenCallbacks::kAll, this);
  vterm_screen_reset(screen_, 1);
}

Screen::~Screen() { vterm_free(vterm_); }

void Screen::set_reply(Reply reply, void* context) {
  reply_ = reply;
  reply_context_ = context;
}

void Screen::Feed(const char* bytes, size_t size) { gate_.Feed(bytes, size); }

void Screen::Write(std::string_view bytes) const {
  vterm_input_write(vterm_, bytes.data(), bytes.size());
}

void Screen::Resize(int rows, int cols) {
  rows = Clamp(rows, kMinRows, kMaxRows);
  cols = Clamp(cols, kMinCols, kMaxCols);
  if (rows == rows_ && cols == cols_) return;
  // libvterm cuts only the lower end of the scroll region, and then scrolls a region of negative
  // height.
  int top, bottom;
  if (ScrollRegion(&top, &bottom)) {
    const VTermPos cursor = Cursor();
    char restore[48];
    const int size =
        snprintf(restore, sizeof(restore), "\x1b[r\x1b[%d;%dH", cursor.row + 1, cursor.col + 1);
    Write({restore, static_cast<size_t>(size)});
  }
  pushed_by_resize_ = 0;
  vterm_set_size(vterm_, rows, cols);
  if (alternate_) {
    const size_t gone = std::min(hidden_rows_.size(), static_cast<size_t>(pushed_by_resize_));
    hidden_rows_.erase(hidden_rows_.begin(), hidden_rows_.begin() + static_cast<ptrdiff_t>(gone));
    hidden_cursor_.row = std::max(0, hidden_cursor_.row - static_cast<int>(gone));
  }
  pushed_by_resize_ = -1;
  rows_ = rows;
  cols_ = cols;
}

void Screen::PushLine(int cols, const VTermScreenCell* cells) {
  std::string line;
  bool wrapped;
  if (pushed_by_resize_ >= 0) {
    const int row = pushed_by_resize_++;
    if (alternate_) {  // libvterm hands over the rows of the wrong screen here
      if (static_cast<size_t>(row) < hidden_rows_.size())
        scrollback_.Append(hidden_rows_[static_cast<size_t>(row)], false);
      return;
    }
    wrapped = vterm_state_get_lineinfo(state_, row + 1)->continuation;
  } else {
    // The marks of the rows have been scrolled already: the first one is of the row that follows
    // this line.
    wrapped = vterm_state_get_lineinfo(state_, 0)->continuation;
  }
  AppendRow(cells, cols, wrapped, &line);
  scrollback_.Append(line, wrapped);
}

void Screen::OnText(const char* bytes, size_t size, bool printable_ascii) {
  if (printable_ascii) {
    unmoved_bytes_ = 0;
    Write({bytes, size});
    return;
  }
  while (size > 0) {
    size_t piece = std::min(size, size_t{1024});
    while (piece < size && (static_cast<unsigned char>(bytes[piece]) & 0xc0) == 0x80) --piece;
    if (unmoved_bytes_ <= kMaxCombining) {
      Write({bytes, piece});
    } else {
      for (size_t i = 0; i < piece; ++i) {
        if (static_cast<unsigned char>(bytes[i]) < 0x80) Write({bytes + i, 1});
      }
    }
    const VTermPos end = Cursor();
    const bool moved = end.row != last_text_end_.row || end.col != last_text_end_.col;
    unmoved_bytes_ = moved ? 0 : unmoved_bytes_ + piece;
    last_text_end_ = end;
    bytes += piece;
    size -= piece;
  }
}

void Screen::OnEscape(std::string_view sequence) {
  if (sequence[0] == '#' && sequence != "#8")
    return;                      // lines of double width, where libvterm's bounds are wrong
  if (sequence == " G") return;  // answers with C1 bytes, which are not UTF-8
  if (sequence == "c") {
    // libvterm's reset forgets that another screen and another mouse protocol are in use.
    if (alternate_) Write("\x1b[?1047l");
    Write("\x1b[?1006l");
    title_.clear();
    character_set_ = 'B';
  }
  if (sequence.size() == 2 && sequence[0] == '(') character_set_ = sequence[1];
  char bytes[8] = {'\x1b'};
  std::copy(sequence.begin(), sequence.end(), bytes + 1);
  Write({bytes, sequence.size() + 1});
  // A saved cursor can lie outside of a screen that has shrunk since. This one does nothing but
  // bring it back.
  if (sequence == "8") Write("\x1b[0n");
}

void Screen::OnString(char kind, std::string_view body) {
  if (kind == 'P') {
    // DECRQSS: the only one that libvterm answers. It shifts the bytes as signed characters.
    const auto ascii = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (body.size() > 5 || !body.starts_with("$q") || !std::all_of(body.begin(), body.end(), ascii))
      return;
    Write("\x1bP");
    Write(body);
    Write("\x1b\\");
    return;
  }
  if (body.starts_with("0;") || body.starts_with("2;")) title_ = PrintableUtf8(body.substr(2));
}

VTermPos Screen::Cursor() const {
  VTermPos position;
  vterm_state_get_cursorpos(state_, &position);
  return position;
}

int Screen::cursor_row() const { return Cursor().row; }
int Screen::cursor_col() const { return Cursor().col; }

std::string Screen::Ask(std::string_view query) const {
  return Probe([&] { Write(query); });
}

// libvterm has no property for these two, but uses them when it makes keys.
bool Screen::bracketed_paste() const {
  return !Probe([&] { vterm_keyboard_start_paste(vterm_); }).empty();
}

bool Screen::application_cursor() const {
  return Probe([&] { vterm_keyboard_key(vterm_, VTERM_KEY_UP, VTERM_MOD_NONE); }) == "\x1bOA";
}

bool Screen::ScrollRegion(int* top, int* bottom) const {
  const std::string answer = Ask("\x1bP$qr\x1b\\");
  constexpr std::string_view kBefore = "\x1bP1$r";
  if (answer.compare(0, kBefore.size(), kBefore) != 0) return false;
  char* end;
  *top = static_cast<int>(strtol(answer.c_str() + kBefore.size(), &end, 10));
  if (*end != ';') return false;
  *bottom = static_cast<int>(strtol(end + 1, &end, 10));
  return *end == 'r' && (*top != 1 || *bottom != rows_);
}

}  // namespace berth::launcher
