// Whatever tmux, or what pretends to be it, writes: cut in any places it means the same.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/tmux/control_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::tmux::ControlEvent;
  if (size < 1) return 0;
  const size_t step = 1 + data[0] % 16;
  const absl::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  berth::tmux::ControlParser whole, cut;
  std::vector<ControlEvent> whole_events, cut_events;
  whole.Feed(bytes, &whole_events);
  for (size_t at = 0; at < bytes.size(); at += step) cut.Feed(bytes.substr(at, step), &cut_events);
  if (whole_events != cut_events || whole.broken() != cut.broken()) abort();
  return 0;
}
