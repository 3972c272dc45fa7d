// "did you mean": the candidate that a mistyped word was most likely meant to be. Pure.
#ifndef BERTH_TOOLS_BERTH_SUGGEST_H_
#define BERTH_TOOLS_BERTH_SUGGEST_H_

#include <stddef.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace berth::cli {

// Insertions, deletions, substitutions and swaps of neighbours between the two.
size_t EditDistance(absl::string_view a, absl::string_view b);

// The nearest candidate, or "" if none is near: at most a third of the word's letters are wrong,
// one in short words.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

// "did you mean 'x'?", or `otherwise` if nothing is near.
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& candidates,
                       absl::string_view otherwise);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SUGGEST_H_
