#include "sandbox/launcher/terminal/look.h"

#include "sandbox/launcher/terminal/utf8.h"

namespace berth::launcher {
namespace {

constexpr uint32_t kGap = UINT32_MAX;    // libvterm's mark for the right half of a wide character
constexpr uint32_t kFirstWide = 0x1100;  // no character below is wide
constexpr uint32_t kIndexed = 1, kRgb = 2;

uint32_t Colour(const VTermColor& colour) {
  if (VTERM_COLOR_IS_DEFAULT_FG(&colour) || VTERM_COLOR_IS_DEFAULT_BG(&colour)) return 0;
  if (VTERM_COLOR_IS_INDEXED(&colour)) return kIndexed << 24 | colour.indexed.idx;
  return kRgb << 24 | static_cast<uint32_t>(colour.rgb.red) << 16 |
         static_cast<uint32_t>(colour.rgb.green) << 8 | colour.rgb.blue;
}

void AppendColour(uint32_t colour, bool background, std::string* out) {
  const uint32_t index = colour & 0xff;
  const uint32_t base = background ? 10 : 0;
  if (colour == 0) return;
  if (colour >> 24 == kRgb) {
    *out += background ? ";48;2;" : ";38;2;";
    *out += std::to_string(colour >> 16 & 0xff) + ';' + std::to_string(colour >> 8 & 0xff) + ';';
    *out += std::to_string(index);
  } else if (index < 16) {
    *out += ';' + std::to_string(index < 8 ? 30 + base + index : 90 + base + index - 8);
  } else {
    *out += background ? ";48;5;" : ";38;5;";
    *out += std::to_string(index);
  }
}

}  // namespace

Look LookOf(const VTermScreenCellAttrs& a, const VTermColor& foreground,
            const VTermColor& background) {
  Look look;
  look.foreground = Colour(foreground);
  look.background = Colour(background);
  look.attributes =
      static_cast<uint16_t>((a.bold ? Look::kBold : 0) | (a.font == kDimFont ? Look::kDim : 0) |
                            (a.italic ? Look::kItalic : 0) |
                            (a.underline == VTERM_UNDERLINE_SINGLE ? Look::kUnderline : 0) |
                            (a.underline == VTERM_UNDERLINE_DOUBLE ? Look::kDoubleUnderline : 0) |
                            (a.underline == VTERM_UNDERLINE_CURLY ? Look::kCurlyUnderline : 0) |
                            (a.blink ? Look::kBlink : 0) | (a.reverse ? Look::kReverse : 0) |
                            (a.conceal ? Look::kConceal : 0) | (a.strike ? Look::kStrike : 0));
  return look;
}

Look LookOf(const VTermScreenCell& cell) { return LookOf(cell.attrs, cell.fg, cell.bg); }

void AppendSgr(const Look& look, std::string* out) {
  if (look.plain()) {
    *out += "\x1b[m";
    return;
  }
  static constexpr struct {
    uint16_t attribute;
    const char* code;
  } kCodes[] = {
      {Look::kBold, ";1"},
      {Look::kDim, ";2"},
      {Look::kItalic, ";3"},
      {Look::kUnderline, ";4"},
      {Look::kDoubleUnderline, ";21"},
      {Look::kCurlyUnderline, ";4:3"},
      {Look::kBlink, ";5"},
      {Look::kReverse, ";7"},
      {Look::kConceal, ";8"},
      {Look::kStrike, ";9"},
  };
  *out += "\x1b[0";
  for (const auto& code : kCodes) {
    if (look.attributes & code.attribute) *out += code.code;
  }
  AppendColour(look.foreground, false, out);
  AppendColour(look.background, true, out);
  *out += 'm';
}

void AppendRow(const VTermScreenCell* cells, int count, bool keep_spaces, std::string* out) {
  const auto blank = [&](int i) {
    const uint32_t c = cells[i].chars[0];
    return (c == 0 || (c == ' ' && !keep_spaces && cells[i].chars[1] == 0)) &&
           !LookOf(cells[i]).shows_on_blank();
  };
  while (count > 0 && blank(count - 1)) --count;
  Look look;
  for (int i = 0; i < count; ++i) {
    const VTermScreenCell& cell = cells[i];
    // A narrow character written over the left half of a wide one leaves the mark of the right half
    // behind.
    const bool right_half = cell.chars[0] == kGap;
    if (right_half && i > 0 && cells[i - 1].chars[0] >= kFirstWide && cells[i - 1].chars[0] != kGap)
      continue;
    const bool empty = right_half || cell.chars[0] == 0;
    Look next = LookOf(cell);
    if (empty && !next.shows_on_blank()) next = Look();
    if (next != look) AppendSgr(look = next, out);
    if (empty) {
      *out += ' ';
      continue;
    }
    for (int k = 0; k < VTERM_MAX_CHARS_PER_CELL && cell.chars[k] != 0; ++k)
      AppendUtf8(cell.chars[k], out);
  }
  if (!look.plain()) AppendSgr(Look(), out);
}

void AppendWithoutSgr(std::string_view row, std::string* out) {
  while (!row.empty()) {
    const size_t escape = row.find('\x1b');
    *out += row.substr(0, escape);
    if (escape == row.npos) return;
    row.remove_prefix(row.find('m', escape) + 1);
  }
}

}  // namespace berth::launcher
