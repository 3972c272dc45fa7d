// From words to the values that Arguments describes. The parser behind it is CLI11, which no other
// file sees: it is by far the most costly header here.
#ifndef BERTH_TOOLS_BERTH_PARSE_H_
#define BERTH_TOOLS_BERTH_PARSE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"

namespace berth::cli {

struct Parsed {
  bool help = false;               // -h or --help was there, and nothing else matters
  std::vector<std::string> words;  // what is not for berth, byte for byte
};

// `args` are the words behind the name of `command`. A mistake is InvalidArgument with a hint: the
// option that was meant, or where to look.
absl::StatusOr<Parsed> Parse(absl::string_view command, const Arguments& arguments, Words words,
                             std::vector<std::string> args);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PARSE_H_
