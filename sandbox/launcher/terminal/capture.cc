// Reading a screen: as lines for a person, and as the sequences that paint it again.
#include <algorithm>
#include <string>
#include <vector>

#include "sandbox/launcher/terminal/screen.h"

namespace berth::launcher {
namespace {

void TrimSpaces(std::string* text, size_t from) {
  while (text->size() > from && text->back() == ' ') text->pop_back();
}

void AppendMove(int row, int col, std::string* out) {
  *out += "\x1b[" + std::to_string(row + 1) + ';' + std::to_string(col + 1) + 'H';
}

void AppendRows(const std::vector<std::string>& rows, int limit, std::string* out) {
  for (int row = 0; row < limit && static_cast<size_t>(row) < rows.size(); ++row) {
    if (rows[static_cast<size_t>(row)].empty()) continue;
    AppendMove(row, 0, out);
    *out += rows[static_cast<size_t>(row)];
  }
}

}  // namespace

bool Screen::Wrapped(int row) const {
  return row + 1 < rows_ && vterm_state_get_lineinfo(state_, row + 1)->continuation;
}

std::string Screen::Row(int row) const {
  std::vector<VTermScreenCell> cells(static_cast<size_t>(cols_));
  for (int col = 0; col < cols_; ++col)
    vterm_screen_get_cell(screen_, {row, col}, &cells[static_cast<size_t>(col)]);
  std::string text;
  AppendRow(cells.data(), cols_, Wrapped(row), &text);
  return text;
}

std::vector<std::string> Screen::Rows() const {
  std::vector<std::string> rows;
  for (int row = 0; row < rows_; ++row) rows.push_back(Row(row));
  while (!rows.empty() && rows.back().empty()) rows.pop_back();
  rows.shrink_to_fit();
  return rows;
}

std::string Screen::Capture(int lines, bool colour, bool join_wrapped) const {
  std::vector<std::string> rows = Rows();
  const size_t above = alternate_ ? 0 : scrollback_.lines();
  std::string out;
  std::vector<size_t> starts;  // of lines in `out`
  bool open = false;           // the line before goes on
  const auto add = [&](std::string_view row, bool wrapped) {
    if (!open) starts.push_back(out.size());
    const size_t start = starts.back();
    if (colour) {
      out += row;
    } else {
      AppendWithoutSgr(row, &out);
    }
    open = wrapped && join_wrapped;
    if (open) return;
    TrimSpaces(&out, start);
    out += '\n';
  };
  // A joined line counts as one, so that it is only known at the end where the last `lines` begin.
  const size_t all = above + rows.size();
  const size_t wanted = lines <= 0 ? all : static_cast<size_t>(lines);
  size_t skip = join_wrapped || all <= wanted ? 0 : all - wanted;
  if (above > 0) scrollback_.ForEach(std::min(skip, above), add);
  skip -= std::min(skip, above);
  for (size_t row = skip; row < rows.size(); ++row) add(rows[row], Wrapped(static_cast<int>(row)));
  if (open) {
    TrimSpaces(&out, starts.back());
    out += '\n';
  }
  return starts.size() > wanted ? out.substr(starts[starts.size() - wanted]) : out;
}

bool Screen::Mode(int mode) const {
  const std::string number = std::to_string(mode);
  return Ask("\x1b[?" + number + "$p") == "\x1b[?" + number + ";1$y";
}

Look Screen::Pen() const {
  VTermScreenCell pen = {};
  VTermValue value;
  const auto get = [&](VTermAttr attribute) {
    vterm_state_get_penattr(state_, attribute, &value);
    return static_cast<unsigned>(value.number) & 0xf;
  };
  pen.attrs.bold = get(VTERM_ATTR_BOLD) & 1;
  pen.attrs.underline = get(VTERM_ATTR_UNDERLINE) & 3;
  pen.attrs.italic = get(VTERM_ATTR_ITALIC) & 1;
  pen.attrs.blink = get(VTERM_ATTR_BLINK) & 1;
  pen.attrs.reverse = get(VTERM_ATTR_REVERSE) & 1;
  pen.attrs.conceal = get(VTERM_ATTR_CONCEAL) & 1;
  pen.attrs.strike = get(VTERM_ATTR_STRIKE) & 1;
  pen.attrs.font = get(VTERM_ATTR_FONT);
  vterm_state_get_penattr(state_, VTERM_ATTR_FOREGROUND, &value);
  pen.fg = value.color;
  vterm_state_get_penattr(state_, VTERM_ATTR_BACKGROUND, &value);
  pen.bg = value.color;
  return LookOf(pen);
}

std::string Screen::Repaint() const {
  std::string out =
      "\x1b[?1049l\x1b[!p\x1b[?1;5;6;1000;1002;1003;1004;1005;1006;1015;2004l\x1b[?7h\x1b[4l\x1b["
      "r\x1b(B\x0f\x1b>"
      "\x1b[m\x1b[H\x1b[2J";
  out += "\x1b]2;" + title_ + "\x07";
  if (alternate_) {
    AppendRows(hidden_rows_, rows_, &out);
    AppendMove(std::min(hidden_cursor_.row, rows_ - 1), std::min(hidden_cursor_.col, cols_ - 1),
               &out);
    out += "\x1b[?1049h\x1b[H\x1b[2J";
  }
  AppendRows(Rows(), rows_, &out);

  int top = 1, bottom = rows_;
  if (ScrollRegion(&top, &bottom))
    out += "\x1b[" + std::to_string(top) + ';' + std::to_string(bottom) + 'r';
  for (const int mode : {1, 6, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004}) {
    if (Mode(mode)) out += "\x1b[?" + std::to_string(mode) + 'h';
  }
  if (!Mode(7)) out += "\x1b[?7l";
  if (Probe([&] { vterm_keyboard_key(vterm_, VTERM_KEY_KP_0, VTERM_MOD_NONE); }).size() > 1)
    out += "\x1b=";
  const std::string shape = Ask("\x1bP$q q\x1b\\");  // DCS 1 $ r n SP q ST
  if (shape.size() > 5) out += std::string("\x1b[") + shape[5] + " q";
  const VTermPos cursor = Cursor();
  AppendMove(cursor.row - (Mode(6) ? top - 1 : 0), cursor.col, &out);
  AppendSgr(Pen(), &out);
  if (character_set_ != 'B') out += std::string("\x1b(") + character_set_;
  out += cursor_visible_ ? "\x1b[?25h" : "\x1b[?25l";
  return out;
}

}  // namespace berth::launcher
