// Latencies of several variants, taken in turns so that noise falls on all of them alike, as a
// table with ratios.
#ifndef BERTH_RUNTIME_NATIVE_BENCHMARK_SAMPLES_H_
#define BERTH_RUNTIME_NATIVE_BENCHMARK_SAMPLES_H_

#include <sched.h>
#include <stdio.h>

#include <algorithm>
#include <string>
#include <vector>

namespace berth {

class Samples {
 public:
  explicit Samples(std::string name) : name_(std::move(name)) {}
  void Add(double microseconds) { values_.push_back(microseconds); }
  double Percentile(double p) const {
    if (values_.empty()) return 0;
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<size_t>(p * static_cast<double>(sorted.size() - 1))];
  }
  const std::string& name() const { return name_; }

  static void PrintHeader(const char* title, const char* floor) {
    printf("\n%s\n%-34s %9s %9s %9s   p50 x %s\n", title, "", "p50", "p90", "p99", floor);
  }
  void Print(const Samples& floor) const {
    printf("%-34s %9.1f %9.1f %9.1f   %.2f\n", name_.c_str(), Percentile(0.5), Percentile(0.9),
           Percentile(0.99), Percentile(0.5) / floor.Percentile(0.5));
  }

 private:
  std::string name_;
  std::vector<double> values_;
};

// Real-time priority takes the noise of a shared machine out; everything started inherits it. False
// without the right.
inline bool UseFifo() {
  sched_param param{};
  param.sched_priority = 1;
  return sched_setscheduler(0, SCHED_FIFO, &param) == 0;
}

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_BENCHMARK_SAMPLES_H_
