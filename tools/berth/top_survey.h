// What is known of all sessions, for `berth top`.
#ifndef BERTH_TOOLS_BERTH_TOP_SURVEY_H_
#define BERTH_TOOLS_BERTH_TOP_SURVEY_H_

#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "tools/berth/top_view.h"

namespace berth::cli {

// Asked again and again: who the sessions are, and of those that are shown also what they use and
// last wrote.
class Survey {
 public:
  explicit Survey(Runtime* runtime) : runtime_(runtime) {}

  enum class Order { kName, kCpu, kMemory };

  // `detailed`: how many, from `first` on, are asked for details too.
  absl::Status Refresh(size_t first, size_t detailed);

  void set_order(Order order) {
    order_ = order;
    Sort();
  }
  const std::vector<TopRow>& rows() const { return rows_; }
  // Null if it is gone. Stays until a Refresh that does not find it any more.
  Session* Open(const std::string& handle);

 private:
  struct Known {
    std::unique_ptr<Session> session;
    absl::Duration used;
    absl::Time when = absl::InfinitePast();
    double cores = -1;
    int64_t memory = -1;
    std::string last_line;
    int64_t seen_bytes = -1;
  };

  void Detail(TopRow* row);
  void Sort();

  Runtime* const runtime_;
  std::map<std::string, Known> known_;  // by handle
  std::vector<TopRow> rows_;
  Order order_ = Order::kName;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_TOP_SURVEY_H_
