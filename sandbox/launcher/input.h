// InputQueue: messages on their way into the program, one after another, each whole or not at all.
#ifndef BERTH_SANDBOX_LAUNCHER_INPUT_H_
#define BERTH_SANDBOX_LAUNCHER_INPUT_H_

#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <string>
#include <vector>

namespace berth::launcher {

// Delivery, as in runtime/types.h.
enum class Level : uint8_t { kQueued = 0, kWritten = 1, kSubmitted = 2, kConfirmed = 3 };

class InputQueue {
 public:
  static constexpr size_t kMaxBytes = size_t{68} << 20;

  struct Item {
    std::string bytes;
    bool submits = false;  // the last of the bytes are a submit key
    Level await = Level::kWritten;
    uint64_t deadline = ~uint64_t{0};
    uint64_t client = 0;  // who wants to know; 0: nobody
    size_t done = 0;
  };
  // What is to be told to a client.
  struct Result {
    uint64_t client;
    int error;  // 0, ETIMEDOUT (nothing was sent), EPIPE (the program takes no input any more)
    Level level;
  };

  // False if the queue is full.
  bool Push(Item item);
  // The client went away: its messages of which nothing has been written are dropped.
  void Cancel(uint64_t client);
  // Writes to `fd` what it takes; -1 or an error other than EAGAIN fails everything that waits. -1
  // is also the end of waiting for confirmation.
  void Write(int fd);
  // The program wrote something: what was submitted before is confirmed.
  void OutputSeen();
  // Lets pass what is due. Returns the next deadline; `now` if there is something to tell.
  uint64_t Expire(uint64_t now);
  std::vector<Result> TakeResults();
  bool wants_write() const { return !items_.empty(); }

 private:
  void Finish(const Item& item);
  std::deque<Item> items_;
  std::vector<Item> unconfirmed_;
  std::vector<Result> results_;
  size_t bytes_ = 0;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_INPUT_H_
