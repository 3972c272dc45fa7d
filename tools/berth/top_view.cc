#include "tools/berth/top_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/session.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

constexpr size_t kAround = 3;  // lines that are no rows: summary, heading, status
constexpr absl::string_view kKeys =
    "Up/Down choose  Enter attach  s send  K kill  D remove  c/m/n sort  q quit";

struct Column {
  const char* name;
  size_t width;
  bool right;
};
constexpr Column kColumns[] = {{"STATE", 9, false}, {"BACKEND", 7, false}, {"CPU", 5, true},
                               {"MEM", 6, true},    {"AGE", 4, true},      {"VIOL", 4, true}};
constexpr size_t kLongestName = 64;

std::string Cell(absl::string_view text, size_t width, bool right) {
  std::string cut = CutTo(text, width);
  const std::string space(width - ColumnsOf(cut), ' ');
  return right ? absl::StrCat(space, cut) : absl::StrCat(cut, space);
}

Colour StateColourOf(const SessionInfo& info) {
  if (info.state == SessionState::kRunning) return Colour::kGreen;
  if (info.state != SessionState::kExited) return Colour::kYellow;
  return info.exit.success() ? Colour::kDim : Colour::kRed;
}

// "1.2G": at most five columns.
std::string TinyBytes(int64_t bytes) {
  if (bytes < 0) return "-";
  constexpr absl::string_view kUnits = "BKMGTP";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  const int decimals = unit > 0 && value < 10 ? 1 : 0;
  return absl::StrFormat("%.*f%c", decimals, value, kUnits[unit]);
}

std::string Percent(double cores) {
  return cores < 0 ? "-" : absl::StrFormat("%.0f%%", 100 * cores);
}

// A third of the screen at most: the last line wants room too.
size_t NameWidth(const TopScreen& screen) {
  size_t width = 4;
  for (const TopRow& row : screen.rows) width = std::max(width, ColumnsOf(row.info.name));
  return std::min({width, kLongestName, std::max<size_t>(8, screen.size.cols / 4)});
}

std::string Summary(const TopScreen& screen) {
  size_t running = 0;
  double cpu = 0;
  int64_t memory = 0;
  for (const TopRow& row : screen.rows) {
    running += row.info.state == SessionState::kRunning;
    cpu += std::max(row.cpu, 0.0);
    memory += std::max<int64_t>(row.memory_bytes, 0);
  }
  return absl::StrCat("berth: ", screen.rows.size(),
                      screen.rows.size() == 1 ? " session, " : " sessions, ", running,
                      " running, CPU ", Percent(cpu), ", memory ", ShortBytes(memory));
}

std::string Heading(size_t name_width) {
  std::string line = absl::StrCat(" ", Cell("NAME", name_width, false));
  for (const Column& column : kColumns) {
    absl::StrAppend(&line, " ", Cell(column.name, column.width, column.right));
  }
  return absl::StrCat(line, " LAST LINE");
}

std::string RowLine(const TopScreen& screen, const TopRow& row, size_t name_width, bool selected) {
  const SessionInfo& info = row.info;
  const std::string cells[] = {ShortState(info),
                               info.backend,
                               Percent(row.cpu),
                               TinyBytes(row.memory_bytes),
                               ShortDuration(screen.now - info.created),
                               info.violations > 0 ? absl::StrCat(info.violations) : "-"};
  std::string line = absl::StrCat(selected ? ">" : " ", Cell(info.name, name_width, false));
  const size_t state = line.size() + 1;
  for (size_t i = 0; i < std::size(kColumns); ++i) {
    absl::StrAppend(&line, " ", Cell(cells[i], kColumns[i].width, kColumns[i].right));
  }
  line = CutTo(absl::StrCat(line, " ", Printable(row.last_line)), screen.size.cols);
  // A line in reverse has no other colours; nor has one that is cut before it shows the state.
  if (!screen.colour || selected || line.size() < state + cells[0].size()) return line;
  return absl::StrCat(line.substr(0, state), Paint(cells[0], StateColourOf(info), true),
                      line.substr(state + cells[0].size()));
}

}  // namespace

std::string ShortState(const SessionInfo& info) {
  if (info.state != SessionState::kExited) return std::string(SessionStateName(info.state));
  if (info.exit.reason == EndReason::kUnknown) return "exit ?";
  if (info.exit.signal != 0) return absl::StrCat("signal ", info.exit.signal);
  return absl::StrCat("exit ", info.exit.code);
}

size_t FirstShown(size_t rows, size_t selected, TerminalSize size) {
  const size_t room = size.rows > kAround ? size.rows - kAround : 1;
  if (rows <= room) return 0;
  return std::min(selected < room ? 0 : selected - room + 1, rows - room);
}

std::vector<std::string> TopFrame(const TopScreen& screen) {
  const size_t height = screen.size.rows, width = screen.size.cols;
  const size_t names = NameWidth(screen);
  std::vector<std::string> lines = {
      CutTo(Summary(screen), width),
      Paint(CutTo(Heading(names), width), Colour::kDim, screen.colour)};
  const size_t first = FirstShown(screen.rows.size(), screen.selected, screen.size);
  for (size_t i = first; i < screen.rows.size() && lines.size() + 1 < height; ++i) {
    const bool selected = i == screen.selected;
    std::string line = RowLine(screen, screen.rows[i], names, selected);
    if (selected && screen.colour) line = absl::StrCat("\x1b[7m", line, "\x1b[0m");
    lines.push_back(std::move(line));
  }
  if (screen.rows.empty()) {
    lines.push_back(CutTo("No sessions. Start one: berth start NAME -- COMMAND", width));
  }
  lines.resize(std::max<size_t>(height, 1) - 1);
  lines.push_back(
      CutTo(screen.status.empty() ? std::string(kKeys) : Printable(screen.status), width));
  return lines;
}

}  // namespace berth::cli
