// Reading JSON that others wrote: a wrong type is as good as a missing field, counts are never
// negative, and nothing throws. Internal to runtime/agent.
#ifndef BERTH_RUNTIME_AGENT_JSON_LINE_H_
#define BERTH_RUNTIME_AGENT_JSON_LINE_H_

#include <stdint.h>

#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace berth::agent_json {

using Json = nlohmann::json;

// Discarded (is_discarded()) if `text` is not JSON, or nested so deeply that writing it out again
// could use up the stack.
Json Parse(absl::string_view text);

// One line. Bytes that are not UTF-8 become U+FFFD.
std::string Dump(const Json& json);

// The member, or null.
const Json& Get(const Json& object, const char* name);
// "" if it is no string.
absl::string_view Text(const Json& object, const char* name);
bool Bool(const Json& object, const char* name);
// 0 if it is no number or negative.
int64_t Count(const Json& object, const char* name);
double Number(const Json& object, const char* name);

// The text of a message's content: a string, or an array of blocks of which those with a text are
// joined by line ends. What is neither is written as JSON.
std::string ContentText(const Json& content);

}  // namespace berth::agent_json

#endif  // BERTH_RUNTIME_AGENT_JSON_LINE_H_
