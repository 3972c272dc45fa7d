// Json: a value that is only ever written. What --json prints is made of these; its keys are a
// promise: docs/cli.md lists them, keys are added and never changed.
//
//   PrintJson({{"name", session->name()}, {"exit", ToJson(end)}})
#ifndef BERTH_TOOLS_BERTH_JSON_H_
#define BERTH_TOOLS_BERTH_JSON_H_

#include <stddef.h>
#include <stdint.h>

#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace berth::cli {

class Json {
 public:
  struct Member;

  Json(std::nullptr_t) : text_("null") {}
  Json(bool value) : text_(value ? "true" : "false") {}
  Json(std::integral auto value) : text_(std::to_string(value)) {}
  Json(double value);  // null if it is none
  // Bytes that are not UTF-8 become U+FFFD.
  Json(absl::string_view value);
  Json(const std::string& value) : Json(absl::string_view(value)) {}
  Json(const char* value) : Json(absl::string_view(value)) {}
  // An object, its keys in this order.
  Json(std::initializer_list<Member> members);

  static Json Object(const std::vector<Member>& members);
  static Json Array(const std::vector<Json>& elements);
  static Json Array(const std::vector<std::string>& elements);
  // Text that is JSON already.
  static Json Verbatim(std::string text);

  const std::string& text() const { return text_; }  // on one line, without spaces
  std::string Pretty() const;                        // indented by two

 private:
  Json() = default;

  std::string text_;
};

struct Json::Member {
  absl::string_view key;
  Json value;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_JSON_H_
