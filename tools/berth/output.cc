#include "tools/berth/output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"

namespace berth::cli {
absl::Status WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return absl::AbortedError("the reader of the output went away");
    if (n < 0) return ErrnoStatus(errno, "write the output");
    text.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status Print(absl::string_view text) { return WriteAll(STDOUT_FILENO, text); }

void Note(absl::string_view text) {
  WriteAll(STDERR_FILENO, absl::StrCat(text, "\n")).IgnoreError();
}

bool WantsColour(int fd) {
  const char* no_color = getenv("NO_COLOR");
  if (no_color != nullptr && no_color[0] != '\0') return false;
  const char* term = getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && absl::string_view(term) != "dumb";
}

std::string Paint(absl::string_view text, Colour colour, bool wanted) {
  if (!wanted || colour == Colour::kNone) return std::string(text);
  constexpr absl::string_view kCodes[] = {"", "2", "31", "32", "33"};
  return absl::StrCat("\x1b[", kCodes[static_cast<size_t>(colour)], "m", text, "\x1b[0m");
}

size_t ColumnsOf(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string CutTo(absl::string_view text, size_t columns) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  size_t end = 0;
  for (size_t kept = 0; end < text.size(); ++end) {
    if ((text[end] & 0xC0) != 0x80 && kept++ == columns - 1) break;
  }
  return absl::StrCat(text.substr(0, end), "…");
}

std::string ShortDuration(absl::Duration duration) {
  const int64_t seconds = std::max<int64_t>(0, absl::ToInt64Seconds(duration));
  if (seconds < 60) return absl::StrCat(seconds, "s");
  if (seconds < 3600) return absl::StrCat(seconds / 60, "m");
  if (seconds < 2 * 86400) return absl::StrCat(seconds / 3600, "h");
  return absl::StrCat(seconds / 86400, "d");
}

std::string ShortBytes(int64_t bytes) {
  if (bytes < 0) return "-";
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  constexpr absl::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string Table::Format(size_t width, bool colour) const {
  const size_t columns = rows_[0].cells.size();
  std::vector<size_t> widths(columns);
  for (const Row& row : rows_) {
    for (size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], ColumnsOf(row.cells[i]));
  }
  std::string out;
  for (const Row& row : rows_) {
    std::string line;
    size_t used = 0;
    for (size_t i = 0; i < columns; ++i) {
      const bool last = i + 1 == columns;
      const std::string cell =
          last && width > 0 ? CutTo(row.cells[i], width > used ? width - used : 0) : row.cells[i];
      absl::StrAppend(&line,
                      Paint(cell, i < row.colours.size() ? row.colours[i] : Colour::kNone, colour));
      if (!last) line.append(widths[i] - ColumnsOf(cell) + 2, ' ');
      used += widths[i] + 2;
    }
    absl::StrAppend(&out, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return out;
}

absl::Status PrintTable(const Table& table) {
  winsize size{};
  const bool sized = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return Print(table.Format(sized ? size.ws_col : 0, WantsColour(STDOUT_FILENO)));
}

}  // namespace berth::cli
