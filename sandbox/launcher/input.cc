#include "sandbox/launcher/input.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth::launcher {

bool InputQueue::Push(Item item) {
  if (bytes_ + item.bytes.size() > kMaxBytes) return false;
  bytes_ += item.bytes.size();
  if (item.await == Level::kQueued && item.client != 0) {
    results_.push_back({std::exchange(item.client, 0), 0, Level::kQueued});
  }
  items_.push_back(std::move(item));
  return true;
}

void InputQueue::Cancel(uint64_t client) {
  for (auto it = items_.begin(); it != items_.end();) {
    if (it->client == client && it->done == 0) {
      bytes_ -= it->bytes.size();
      it = items_.erase(it);
    } else {
      ++it;
    }
  }
  std::erase_if(unconfirmed_, [client](const Item& item) { return item.client == client; });
}

void InputQueue::Finish(const Item& item) {
  bytes_ -= item.bytes.size();
  if (item.client == 0) return;
  if (item.await == Level::kConfirmed) {
    unconfirmed_.push_back({"", item.submits, item.await, item.deadline, item.client, 0});
  } else {
    results_.push_back({item.client, 0, item.submits ? Level::kSubmitted : Level::kWritten});
  }
}

void InputQueue::Write(int fd) {
  if (fd < 0) {
    // No answer will come.
    for (const Item& item : unconfirmed_) {
      results_.push_back({item.client, 0, item.submits ? Level::kSubmitted : Level::kWritten});
    }
    unconfirmed_.clear();
  }
  while (!items_.empty()) {
    Item& item = items_.front();
    while (item.done < item.bytes.size()) {
      const ssize_t n =
          fd < 0 ? (errno = EPIPE, -1)
                 : write(fd, item.bytes.data() + item.done, item.bytes.size() - item.done);
      if (n > 0) {
        item.done += static_cast<size_t>(n);
      } else if (n == 0 || errno == EAGAIN) {
        return;
      } else if (errno != EINTR) {
        for (const Item& lost : items_) {
          if (lost.client != 0) results_.push_back({lost.client, EPIPE, Level::kQueued});
        }
        items_.clear();
        bytes_ = 0;
        return;
      }
    }
    Finish(item);
    items_.pop_front();
  }
}

void InputQueue::OutputSeen() {
  for (const Item& item : unconfirmed_) results_.push_back({item.client, 0, Level::kConfirmed});
  unconfirmed_.clear();
}

uint64_t InputQueue::Expire(uint64_t now) {
  uint64_t next = ~uint64_t{0};
  for (auto it = items_.begin(); it != items_.end();) {
    if (it->client != 0 && it->deadline <= now) {
      const uint64_t client = std::exchange(it->client, 0);
      if (it->done == 0) {
        results_.push_back({client, ETIMEDOUT, Level::kQueued});
        bytes_ -= it->bytes.size();
        it = items_.erase(it);
        continue;
      }
      // A part of it is in the program's hands: the rest will follow, so it counts as queued, not
      // as failed.
      results_.push_back({client, 0, Level::kQueued});
    }
    if (it->client != 0) next = std::min(next, it->deadline);
    ++it;
  }
  std::erase_if(unconfirmed_, [&](const Item& item) {
    if (item.deadline > now) {
      next = std::min(next, item.deadline);
      return false;
    }
    results_.push_back({item.client, 0, item.submits ? Level::kSubmitted : Level::kWritten});
    return true;
  });
  return results_.empty() ? next : now;
}

std::vector<InputQueue::Result> InputQueue::TakeResults() { return std::exchange(results_, {}); }

}  // namespace berth::launcher
