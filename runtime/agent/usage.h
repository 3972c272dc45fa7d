// Usage: what a run has used up, and UsageTally, which counts every message once.
//
//   UsageTally tally;
//   tally.Add("msg_1", usage);   // true
//   tally.Add("msg_1", usage);   // false: agents repeat a message's usage with each block of it
//   tally.total();
//
// Not thread-safe.
#ifndef BERTH_RUNTIME_AGENT_USAGE_H_
#define BERTH_RUNTIME_AGENT_USAGE_H_

#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace berth {

struct Usage {
  int64_t input = 0;           // tokens read that were in no cache
  int64_t output = 0;          // tokens written
  int64_t cache_creation = 0;  // tokens read and put into a cache
  int64_t cache_read = 0;      // tokens read from a cache
  double cost_usd = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

// US dollars per million tokens, for agents that do not tell what they cost.
struct Prices {
  double input = 0, output = 0, cache_creation = 0, cache_read = 0;
  double Cost(const Usage& usage) const;
};

class UsageTally {
 public:
  // What the message `id` has used so far: a repetition adds nothing, a larger figure replaces the
  // smaller. Returns whether the total has changed. "" is a message of its own each time.
  bool Add(absl::string_view id, const Usage& usage);
  const Usage& total() const { return total_; }

 private:
  // Of how many messages the ids are kept: repetitions come close together, even with sub-agents.
  static constexpr size_t kMaxIds = 4096;

  Usage total_;
  absl::flat_hash_map<std::string, Usage> seen_;
  std::deque<std::string> order_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_USAGE_H_
