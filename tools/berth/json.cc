#include "tools/berth/json.h"

#include <math.h>

#include <charconv>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/printable.h"

namespace berth::cli {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";

void AppendEscaped(char c, std::string* out) {
  constexpr absl::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    absl::StrAppend(out, "\\", absl::string_view(&c, 1));
  } else if (c == '\n') {
    absl::StrAppend(out, "\\n");
  } else if (c == '\r') {
    absl::StrAppend(out, "\\r");
  } else if (c == '\t') {
    absl::StrAppend(out, "\\t");
  } else if (byte < 0x20 || byte == 0x7F) {
    absl::StrAppend(out, "\\u00", kHex.substr(byte >> 4, 1), kHex.substr(byte & 15, 1));
  } else {
    out->push_back(c);
  }
}

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      absl::StrAppend(&out, kReplacement);
    } else if (length == 1) {
      AppendEscaped(text[0], &out);
    } else {
      absl::StrAppend(&out, text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

template <typename List, typename Text>
std::string Joined(char open, const List& list, char close, Text text) {
  std::string out(1, open);
  for (const auto& each : list) {
    if (out.size() > 1) out.push_back(',');
    absl::StrAppend(&out, text(each));
  }
  out.push_back(close);
  return out;
}

std::string MemberText(const Json::Member& member) {
  return absl::StrCat(Quoted(member.key), ":", member.value.text());
}

}  // namespace

Json::Json(double value) : text_("null") {
  if (!isfinite(value)) return;
  char buffer[32];
  text_.assign(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  // So that a reader who cares sees a number with a fraction in each case.
  if (text_.find_first_of(".e") == std::string::npos) absl::StrAppend(&text_, ".0");
}

Json::Json(absl::string_view value) : text_(Quoted(value)) {}

Json::Json(std::initializer_list<Member> members) : text_(Joined('{', members, '}', MemberText)) {}

Json Json::Object(const std::vector<Member>& members) {
  return Verbatim(Joined('{', members, '}', MemberText));
}

Json Json::Array(const std::vector<Json>& elements) {
  return Verbatim(Joined('[', elements, ']', [](const Json& each) { return each.text(); }));
}

Json Json::Array(const std::vector<std::string>& elements) {
  return Verbatim(Joined('[', elements, ']', Quoted));
}

Json Json::Verbatim(std::string text) {
  Json json;
  json.text_ = std::move(text);
  return json;
}

std::string Json::Pretty() const {
  std::string out;
  size_t depth = 0;
  bool in_string = false;
  const auto line = [&] { absl::StrAppend(&out, "\n", std::string(2 * depth, ' ')); };
  for (size_t i = 0; i < text_.size(); ++i) {
    const char c = text_[i];
    if (in_string) {
      out.push_back(c);
      if (c == '\\') out.push_back(text_[++i]);
      in_string = c != '"';
      continue;
    }
    const bool closes = c == ']' || c == '}';
    const bool empty = closes && (text_[i - 1] == '[' || text_[i - 1] == '{');
    if (closes) --depth;
    if (closes && !empty) line();
    out.push_back(c);
    in_string = c == '"';
    if (c == ':') out.push_back(' ');
    if (c == '[' || c == '{') ++depth;
    const bool next_closes = i + 1 < text_.size() && (text_[i + 1] == ']' || text_[i + 1] == '}');
    if ((c == ',' || c == '[' || c == '{') && !(c != ',' && next_closes)) line();
  }
  return out;
}

}  // namespace berth::cli
