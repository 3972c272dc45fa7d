#include "runtime/agent/json_line.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmath>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace berth::agent_json {
namespace {

constexpr int kMaxDepth = 256;
constexpr double kMostTokens = 1e15;

// Whether arrays and objects lie more than kMaxDepth deep. Right for JSON; for anything else the
// parser will say that it is none.
bool TooDeep(absl::string_view text) {
  int depth = 0;
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    switch (*at) {
      case '"':  // skip the string: most of a line is inside of strings
        for (++at; at < end; ++at) {
          at = static_cast<const char*>(memchr(at, '"', static_cast<size_t>(end - at)));
          if (at == nullptr) return false;
          const char* slash = at;
          while (slash > text.data() && slash[-1] == '\\') --slash;
          if ((at - slash) % 2 == 0) break;
        }
        break;
      case '[':
      case '{':
        if (++depth > kMaxDepth) return true;
        break;
      case ']':
      case '}':
        --depth;
        break;
      default:
        break;
    }
  }
  return false;
}

// A place in the text. A type of this file alone, and with it all that the library makes for it: in
// a build that is not optimised this file is, and no other file's copy of the parser takes the
// place of this one's. Lines of 100 MB are parsed in tests, too.
class Place {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit Place(const char* at) : at_(at) {}
  reference operator*() const { return *at_; }
  Place& operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(Place a, Place b) { return a.at_ == b.at_; }

 private:
  const char* at_;
};

}  // namespace

Json Parse(absl::string_view text) {
  if (TooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(Place(text.data()), Place(text.data() + text.size()), nullptr,
                     /*allow_exceptions=*/false);
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& Get(const Json& object, const char* name) {
  static const Json* const none = new Json(nullptr);
  if (!object.is_object()) return *none;
  const auto found = object.find(name);
  return found == object.end() ? *none : *found;
}

absl::string_view Text(const Json& object, const char* name) {
  const Json& value = Get(object, name);
  return value.is_string() ? absl::string_view(value.get_ref<const std::string&>())
                           : absl::string_view();
}

bool Bool(const Json& object, const char* name) {
  const Json& value = Get(object, name);
  return value.is_boolean() && value.get<bool>();
}

int64_t Count(const Json& object, const char* name) {
  const double value = Number(object, name);
  return value > kMostTokens ? static_cast<int64_t>(kMostTokens) : static_cast<int64_t>(value);
}

double Number(const Json& object, const char* name) {
  const Json& value = Get(object, name);
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  return std::isfinite(number) && number > 0 ? number : 0;
}

std::string ContentText(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (content.is_null()) return "";
  if (!content.is_array()) return Dump(content);
  std::string text;
  for (const Json& block : content) {
    const Json& words = Get(block, "text");
    absl::StrAppend(&text, text.empty() ? "" : "\n",
                    words.is_string() ? words.get<std::string>() : Dump(block));
  }
  return text;
}

}  // namespace berth::agent_json
