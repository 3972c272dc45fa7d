#include "runtime/agent/usage.h"

#include <stdint.h>

#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"

namespace berth {
namespace {

// Far above any count and far below overflow: counts come from outside.
constexpr int64_t kMost = int64_t{1} << 60;
constexpr size_t kMaxIdBytes = 256;

int64_t Sum(int64_t a, int64_t b) { return std::min(a + std::clamp<int64_t>(b, 0, kMost), kMost); }

// Brings `known` up to `now` where that is larger; what it grew by goes to `total`.
void Grow(int64_t now, int64_t* known, int64_t* total) {
  now = std::min(now, kMost);
  if (now <= *known) return;
  *total = Sum(*total, now - *known);
  *known = now;
}

}  // namespace

double Prices::Cost(const Usage& usage) const {
  const auto price = [](int64_t tokens, double dollars) {
    return static_cast<double>(tokens) * dollars / 1e6;
  };
  return price(usage.input, input) + price(usage.output, output) +
         price(usage.cache_creation, cache_creation) + price(usage.cache_read, cache_read);
}

bool UsageTally::Add(absl::string_view id, const Usage& usage) {
  const Usage before = total_;
  Usage once;
  Usage* known = &once;
  if (!id.empty()) {
    const std::string key(id.substr(0, kMaxIdBytes));
    const auto [entry, added] = seen_.try_emplace(key);
    if (added) order_.push_back(key);
    known = &entry->second;
  }
  Grow(usage.input, &known->input, &total_.input);
  Grow(usage.output, &known->output, &total_.output);
  Grow(usage.cache_creation, &known->cache_creation, &total_.cache_creation);
  Grow(usage.cache_read, &known->cache_read, &total_.cache_read);
  if (usage.cost_usd > known->cost_usd) {
    total_.cost_usd += usage.cost_usd - known->cost_usd;
    known->cost_usd = usage.cost_usd;
  }
  if (order_.size() > kMaxIds) {
    seen_.erase(order_.front());
    order_.pop_front();
  }
  return !(total_ == before);
}

}  // namespace berth
