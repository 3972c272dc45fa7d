// Words as manual pages, in mdoc(7), want them.
#ifndef BERTH_TOOLS_MDOC_MDOC_H_
#define BERTH_TOOLS_MDOC_MDOC_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace berth::mdoc {

// Text that is no markup: no escapes, no request at the beginning of a line, ASCII only.
std::string Plain(absl::string_view text);

// Words of a macro's line, quoted, since some words and punctuation mean something there.
std::string Quote(absl::string_view text);

// A sentence begins a line, and no line is long.
std::string Sentences(absl::string_view text);

// The beginning of a page of section 1, up to the end of NAME.
std::string Head(absl::string_view page, absl::string_view summary);

// An item of a list: the names of an option with their dashes and the kind of its value, or "".
std::string Option(const std::vector<std::string>& names, absl::string_view type,
                   absl::string_view help);

}  // namespace berth::mdoc

#endif  // BERTH_TOOLS_MDOC_MDOC_H_
