// What a keeper shows of its session to those who look without asking: one memfd. The keeper alone
// can write to it and nobody can shrink it, so it can be mapped and looked at by whoever was handed
// it, however untrusting, without a fault and without waking the keeper.
//
// It tells what its keeper said last. That the keeper still is there to say something else is for
// the reader to find out: see runtime/native/status_views.h.
//
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_STATUS_PAGE_H_
#define BERTH_SANDBOX_LAUNCHER_STATUS_PAGE_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <utility>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

struct StatusLayout;

struct Status {
  std::string info;  // as kInfo answers, with the two below left out: 0, and none
  uint64_t output_bytes = 0;
  uint64_t last_output_ns = 0;  // by CLOCK_MONOTONIC; 0: none
};

// The keeper's end.
class StatusPage {
 public:
  StatusPage() = default;
  ~StatusPage();
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  // False if there can be none: then the keeper has to be asked.
  bool Make();
  // To be handed out; -1 if there is none.
  int fd() const { return fd_.get(); }
  // Cheap where only the numbers are new. An info that does not fit is not shown.
  void Show(std::string_view info, uint64_t output_bytes, uint64_t last_output_ns);

 private:
  UniqueFd fd_;
  StatusLayout* page_ = nullptr;
  std::string shown_;
};

// A reader's. Threads: any, at once.
class StatusView {
 public:
  StatusView() = default;
  // Not ok() if `fd` is not a page that can be trusted to stay.
  explicit StatusView(int fd);
  ~StatusView();
  StatusView(StatusView&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  StatusView& operator=(StatusView&& other) noexcept {
    std::swap(page_, other.page_);
    return *this;
  }

  bool ok() const { return page_ != nullptr; }
  // False if nothing is shown, or it does not hold still: as that of a keeper that was killed, or
  // stopped, in the middle of it.
  bool Read(Status* status) const;

 private:
  const StatusLayout* page_ = nullptr;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_STATUS_PAGE_H_
