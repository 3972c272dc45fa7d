// What berth prints for people: bytes that arrive or an error, colour where it is wanted, tables
// that fit.
#ifndef BERTH_TOOLS_BERTH_OUTPUT_H_
#define BERTH_TOOLS_BERTH_OUTPUT_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/base/printable.h"

namespace berth::cli {

// All of `text` to `fd`, or an error. A reader that went away is Aborted, with nothing to be said
// about it.
absl::Status WriteAll(int fd, absl::string_view text);
absl::Status Print(absl::string_view text);
// To standard error, for people; what cannot be written there cannot be told.
void Note(absl::string_view text);

// Whether `fd` shows colour: a terminal, no NO_COLOR (https://no-color.org), and TERM is not
// "dumb".
bool WantsColour(int fd);

enum class Colour : uint8_t { kNone, kDim, kRed, kGreen, kYellow };
std::string Paint(absl::string_view text, Colour colour, bool wanted);

// For text that a program chose.
using ::berth::Printable;

// Code points, which are columns in all that berth prints but for wide characters in titles.
size_t ColumnsOf(absl::string_view text);
// `text`, or its beginning and "…" if it has more columns than that.
std::string CutTo(absl::string_view text, size_t columns);

// "0s", "42s", "17m", "5h", "3d": one number and one unit.
std::string ShortDuration(absl::Duration duration);
// "512 B", "3.4 MiB"; "-" for what is not known (negative).
std::string ShortBytes(int64_t bytes);

// A table with a heading. The last column is cut so that a line fits in `width` columns; 0: nothing
// is cut.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { rows_.push_back({std::move(heading), {}}); }
  void Add(std::vector<std::string> cells, std::vector<Colour> colours = {}) {
    rows_.push_back({std::move(cells), std::move(colours)});
  }
  std::string Format(size_t width, bool colour) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<Colour> colours;  // of the first cells; the others have none
  };
  std::vector<Row> rows_;
};

// A table on standard output, as wide and as colourful as that allows.
absl::Status PrintTable(const Table& table);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_OUTPUT_H_
