// What `berth top` shows: sessions as a screen full of text. Pure: the same rows and size give the
// same frame.
#ifndef BERTH_TOOLS_BERTH_TOP_VIEW_H_
#define BERTH_TOOLS_BERTH_TOP_VIEW_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth::cli {

struct TopRow {
  SessionInfo info;
  double cpu = -1;            // cores; negative: not known (yet)
  int64_t memory_bytes = -1;  // negative: not known
  std::string last_line = {};
};

struct TopScreen {
  std::vector<TopRow> rows;
  size_t selected = 0;
  std::string status = {};  // the last line: what was asked or has happened; "" shows the keys
  TerminalSize size = {};
  bool colour = false;
  absl::Time now;
};

// Of that many rows, the first that is shown, so that the selected one is among them.
size_t FirstShown(size_t rows, size_t selected, TerminalSize size);

// Lines of a frame, `size.rows` of them, none wider than `size.cols`.
std::vector<std::string> TopFrame(const TopScreen& screen);

// "running", "exit 3", "signal 9", "unknown"; and its colour.
std::string ShortState(const SessionInfo& info);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_TOP_VIEW_H_
