#include "tools/mdoc/mdoc.h"

#include <ctype.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace berth::mdoc {
namespace {

constexpr absl::string_view kDate =
    "November 17, 2026";  // of the last change to what is fixed in the pages

}  // namespace

std::string Plain(absl::string_view text) {
  std::string out = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"…", "..."}});
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out = absl::StrCat("\\&", out);
  return out;
}

std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(Plain(text), {{"\"", "\"\""}}), "\"");
}

std::string Sentences(absl::string_view text) {
  constexpr size_t kLongest = 78;
  std::vector<std::string> lines(1);
  bool ended = false;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (ended || line.size() + 1 + word.size() > kLongest) {
      lines.emplace_back(word);
    } else {
      absl::StrAppend(&line, " ", word);
    }
    ended = absl::EndsWith(word, ".");
  }
  for (std::string& line : lines) line = Plain(line);
  return absl::StrJoin(lines, "\n");
}

std::string Head(absl::string_view page, absl::string_view summary) {
  std::string lower(summary);
  if (lower.size() > 1 && islower(lower[1])) lower[0] = absl::ascii_tolower(lower[0]);
  return absl::StrCat(".Dd ", kDate, "\n.Dt ", absl::AsciiStrToUpper(page),
                      " 1\n.Os\n.Sh NAME\n.Nm ", page, "\n.Nd ", Plain(lower), "\n");
}

std::string Option(const std::vector<std::string>& names, absl::string_view type,
                   absl::string_view help) {
  std::vector<std::string> flags;
  for (const std::string& name : names) flags.push_back(absl::StrCat(" Fl ", name.substr(1)));
  return absl::StrCat(".It", absl::StrJoin(flags, " ,"), type.empty() ? "" : " Ar ",
                      type.empty() ? "" : Quote(type), "\n", Sentences(help), "\n");
}

}  // namespace berth::mdoc
