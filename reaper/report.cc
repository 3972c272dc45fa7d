#include "reaper/report.h"

#include <cmath>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reaper/decide.h"
#include "sandbox/base/printable.h"

namespace berth::reaper {
namespace {

using Json = nlohmann::ordered_json;

std::string Paint(absl::string_view text, const char* code, bool colour) {
  return colour ? absl::StrCat("\x1b[", code, "m", text, "\x1b[0m") : std::string(text);
}

std::string Head(const Item& item, bool dry_run, bool colour) {
  switch (item.result) {
    case Result::kDone:
      return Paint(item.deed, "32", colour);
    case Result::kFailed:
      return Paint("failed", "31", colour);
    case Result::kOutOfTime:
      return Paint("out of time", "31", colour);
    case Result::kNothing:
      break;
  }
  if (item.verdict == Verdict::kDoubt) return Paint("doubt", "33", colour);
  if (item.verdict == Verdict::kKeep) return "kept";
  return dry_run ? absl::StrCat("would be ", item.deed) : item.deed;
}

}  // namespace

void Report::Add(Item item, bool show_kept) {
  switch (item.result) {
    case Result::kDone:
      ++done;
      break;
    case Result::kFailed:
      ++failed;
      break;
    case Result::kOutOfTime:
      ++out_of_time;
      break;
    case Result::kNothing:
      if (item.verdict == Verdict::kKeep) {
        ++kept;
        if (!show_kept) return;
      } else if (item.verdict == Verdict::kDoubt) {
        ++doubts;
      } else {
        ++planned;
      }
  }
  items.push_back(std::move(item));
}

int ExitCodeOf(const Report& report) {
  if (report.failed > 0 || report.out_of_time > 0) return kExitPartial;
  if (report.doubts > 0) return kExitDoubt;
  return report.done > 0 || report.planned > 0 ? kExitDone : kExitNothing;
}

absl::string_view ResultName(Result result) {
  switch (result) {
    case Result::kNothing:
      return "nothing";
    case Result::kDone:
      return "done";
    case Result::kFailed:
      return "failed";
    case Result::kOutOfTime:
      break;
  }
  return "out_of_time";
}

// Names and messages hold what others chose: nothing of it reaches a terminal as a control
// sequence.
std::string ToText(const Report& report, bool evidence, bool colour) {
  std::string text;
  for (const Item& item : report.items) {
    absl::StrAppend(&text, Head(item, report.dry_run, colour), ": ", item.kind, " ",
                    Printable(item.name.empty() ? item.id : item.name));
    if (!item.error.ok()) {
      absl::StrAppend(&text, ": ", Printable(item.error.message()));
    } else if (!item.because.empty()) {
      absl::StrAppend(&text, ": ", Printable(item.because.back()));
    }
    absl::StrAppend(&text, "\n");
    if (!evidence) continue;
    for (const std::string& line : item.evidence) {
      absl::StrAppend(&text, "    ", Printable(line), "\n");
    }
    for (const std::string& line : item.because) {
      absl::StrAppend(&text, "  - ", Printable(line), "\n");
    }
  }
  std::vector<std::string> counts;
  for (const auto& [count, what] :
       {std::pair(report.done, "done"), std::pair(report.planned, "to do"),
        std::pair(report.failed, "failed"), std::pair(report.out_of_time, "out of time"),
        std::pair(report.doubts, "in doubt"), std::pair(report.kept, "kept")}) {
    if (count > 0) counts.push_back(absl::StrCat(count, " ", what));
  }
  absl::StrAppend(&text, Printable(report.state_dir), ": ",
                  counts.empty() ? "nothing there" : absl::StrJoin(counts, ", "),
                  absl::StrFormat(" (%.2f s)\n", absl::ToDoubleSeconds(report.took)));
  return text;
}

std::string ToJson(const Report& report) {
  Json items = Json::array();
  for (const Item& item : report.items) {
    Json each{{"kind", item.kind},       {"id", item.id},
              {"name", item.name},       {"verdict", VerdictName(item.verdict)},
              {"deed", item.deed},       {"result", ResultName(item.result)},
              {"because", item.because}, {"evidence", item.evidence}};
    if (!item.error.ok()) each["error"] = std::string(item.error.message());
    items.push_back(std::move(each));
  }
  const Json json{{"state_dir", report.state_dir},
                  {"dry_run", report.dry_run},
                  {"sessions", report.sessions},
                  {"kept", report.kept},
                  {"done", report.done},
                  {"planned", report.planned},
                  {"failed", report.failed},
                  {"out_of_time", report.out_of_time},
                  {"doubts", report.doubts},
                  {"passes", report.passes},
                  {"seconds", std::round(absl::ToDoubleSeconds(report.took) * 1e6) / 1e6},
                  {"exit_code", ExitCodeOf(report)},
                  {"items", std::move(items)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Report> ReportFromJson(absl::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  const absl::Status wrong = absl::InvalidArgumentError("not a report");
  if (!json.is_object()) return wrong;
  const auto number = [&json](const char* key) { return json.value(key, 0); };
  const auto named = [](absl::string_view name, auto values, auto name_of) {
    for (const auto each : values) {
      if (name_of(each) == name) return each;
    }
    return *std::begin(values);
  };
  // Keys that are there but of another type make the parser throw.
  try {
    Report report;
    report.state_dir = json.value("state_dir", "");
    report.dry_run = json.value("dry_run", false);
    report.sessions = number("sessions");
    report.kept = number("kept");
    report.done = number("done");
    report.planned = number("planned");
    report.failed = number("failed");
    report.out_of_time = number("out_of_time");
    report.doubts = number("doubts");
    report.passes = number("passes");
    report.took = absl::Seconds(json.value("seconds", 0.0));
    for (const Json& each : json.value("items", Json::array())) {
      Item item{.kind = each.value("kind", ""),
                .id = each.value("id", ""),
                .name = each.value("name", ""),
                .deed = each.value("deed", ""),
                .because = each.value("because", std::vector<std::string>()),
                .evidence = each.value("evidence", std::vector<std::string>())};
      item.verdict = named(each.value("verdict", ""),
                           std::initializer_list<Verdict>{Verdict::kDoubt, Verdict::kKeep,
                                                          Verdict::kReap, Verdict::kClear},
                           VerdictName);
      item.result = named(each.value("result", ""),
                          std::initializer_list<Result>{Result::kFailed, Result::kNothing,
                                                        Result::kDone, Result::kOutOfTime},
                          ResultName);
      if (each.contains("error")) item.error = absl::UnknownError(each.value("error", ""));
      report.items.push_back(std::move(item));
    }
    return report;
  } catch (const Json::exception&) {
    return wrong;
  }
}

std::string ToMetrics(const std::vector<Report>& reports, absl::Time now) {
  int sessions = 0, done = 0, failed = 0, doubts = 0;
  double seconds = 0;
  for (const Report& report : reports) {
    sessions += report.sessions;
    done += report.done;
    failed += report.failed + report.out_of_time;
    doubts += report.doubts;
    seconds += absl::ToDoubleSeconds(report.took);
  }
  std::string text;
  const auto gauge = [&text](absl::string_view name, absl::string_view help, const auto& value) {
    absl::StrAppend(&text, "# HELP ", name, " ", help, "\n# TYPE ", name, " gauge\n", name, " ",
                    value, "\n");
  };
  gauge("berth_reaper_sessions", "Sessions that the last sweep found.", sessions);
  gauge("berth_reaper_done", "Things that the last sweep ended or removed.", done);
  gauge("berth_reaper_failed", "Things that the last sweep could not end or remove.", failed);
  gauge("berth_reaper_doubts", "Things that the last sweep left alone as not known.", doubts);
  gauge("berth_reaper_state_dirs", "State directories that the last sweep looked at.",
        reports.size());
  gauge("berth_reaper_duration_seconds", "How long the last sweep took.",
        absl::StrFormat("%.6f", seconds));
  gauge("berth_reaper_last_run_timestamp_seconds", "When the last sweep ended.",
        absl::StrFormat("%.3f", absl::ToUnixMillis(now) / 1000.0));
  return text;
}

}  // namespace berth::reaper
