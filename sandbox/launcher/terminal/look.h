// How a cell looks, as the SGR sequence that makes it so; and rows of cells as text.
// Plain functions without state.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_LOOK_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_LOOK_H_

#include <vterm.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::launcher {

// The font of libvterm that stands for dim, an attribute it lacks. Screen turns SGR 2 into SGR 11
// and drops real fonts.
inline constexpr int kDimFont = 1;

struct Look {
  uint32_t foreground = 0;  // 0: default; 1 << 24 | index; 2 << 24 | red << 16 | green << 8 | blue
  uint32_t background = 0;
  uint16_t attributes = 0;  // kBold and so on

  enum : uint16_t {
    kBold = 1,
    kDim = 2,
    kItalic = 4,
    kUnderline = 8,
    kDoubleUnderline = 16,
    kCurlyUnderline = 32,
    kBlink = 64,
    kReverse = 128,
    kConceal = 256,
    kStrike = 512,
  };

  bool operator==(const Look&) const = default;
  bool plain() const { return *this == Look(); }
  // Whether a blank with this look is seen.
  bool shows_on_blank() const {
    return background != 0 || (attributes & ~(kBold | kDim | kItalic | kBlink | kConceal)) != 0;
  }
};

Look LookOf(const VTermScreenCell& cell);
Look LookOf(const VTermScreenCellAttrs& attributes, const VTermColor& foreground,
            const VTermColor& background);

// "\x1b[0;1;31m", or "\x1b[m" for a plain look: complete, whatever was before.
void AppendSgr(const Look& look, std::string* out);

// Appends `count` cells as text with SGR sequences, without the trailing blanks that are not seen.
// The look is plain again at the end. `keep_spaces`: trailing spaces that were written, not only
// erased cells, are kept: in a row that was wrapped they are part of the text.
void AppendRow(const VTermScreenCell* cells, int count, bool keep_spaces, std::string* out);

// Appends a row made by AppendRow, without its SGR sequences.
void AppendWithoutSgr(std::string_view row, std::string* out);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_LOOK_H_
