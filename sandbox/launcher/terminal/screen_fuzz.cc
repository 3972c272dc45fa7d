// Any bytes, in two pieces, with a resize between: no crash, no hang, a sane cursor. With
// --config=fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "sandbox/launcher/terminal/screen.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  berth::launcher::Screen screen(data[0] % 32, data[1] % 64, 50, 4096);
  const char* bytes = reinterpret_cast<const char*>(data) + 4;
  size -= 4;
  const size_t cut = data[2] < size ? data[2] : size;
  screen.Feed(bytes, cut);
  screen.Resize(data[3] % 32, data[3] / 4);
  screen.Feed(bytes + cut, size - cut);
  screen.Capture(0, true, true);
  screen.Feed(screen.Repaint());
  const bool sane = screen.cursor_row() >= 0 && screen.cursor_row() < screen.rows() &&
                    screen.cursor_col() >= 0 && screen.cursor_col() < screen.cols();
  if (!sane) abort();
  return 0;
}
