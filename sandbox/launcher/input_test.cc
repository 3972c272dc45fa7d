#include "sandbox/launcher/input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

constexpr uint64_t kNever = ~uint64_t{0};

// A pipe of one page: what does not fit waits.
class Input : public testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    reads_ = UniqueFd(fds[0]);
    writes_ = UniqueFd(fds[1]);
    ASSERT_EQ(fcntl(fds[1], F_SETPIPE_SZ, 4096), 4096);
  }
  std::string Read() {
    std::string bytes(8192, '\0');
    const ssize_t n = read(reads_.get(), bytes.data(), bytes.size());
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return bytes;
  }
  static InputQueue::Item Item(uint64_t client, std::string bytes, uint64_t deadline = kNever,
                               Level await = Level::kWritten) {
    InputQueue::Item item;
    item.bytes = std::move(bytes);
    item.client = client;
    item.deadline = deadline;
    item.await = await;
    return item;
  }
  // Fills the pipe to the last byte and leaves one more item begun.
  void Block() {
    ASSERT_TRUE(queue_.Push(Item(0, std::string(5000, 'x'))));
    queue_.Write(writes_.get());
    ASSERT_TRUE(queue_.wants_write());
  }

  UniqueFd reads_, writes_;
  InputQueue queue_;
};

TEST_F(Input, IsWrittenInOrderAndTold) {
  queue_.Push(Item(1, "one "));
  InputQueue::Item submit = Item(2, "two\r");
  submit.submits = true;
  queue_.Push(submit);
  queue_.Push(Item(3, ""));
  queue_.Write(writes_.get());
  EXPECT_FALSE(queue_.wants_write());
  EXPECT_EQ(Read(), "one two\r");
  EXPECT_THAT(queue_.TakeResults(),
              ElementsAre(FieldsAre(1, 0, Level::kWritten), FieldsAre(2, 0, Level::kSubmitted),
                          FieldsAre(3, 0, Level::kWritten)));
  EXPECT_THAT(queue_.TakeResults(), IsEmpty());
}

TEST_F(Input, ThatIsOnlyQueuedIsToldAtOnce) {
  Block();
  queue_.Push(Item(1, "later", 0, Level::kQueued));
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(1, 0, Level::kQueued)));
  queue_.Expire(100);  // its deadline was for the answer
  queue_.Cancel(1);    // and its client may go
  EXPECT_EQ(Read().size(), 4096u);
  queue_.Write(writes_.get());
  EXPECT_EQ(Read(), std::string(904, 'x') + "later");
}

TEST_F(Input, ThatHasNotBegunByItsDeadlineIsNotSent) {
  Block();
  queue_.Push(Item(1, "late", 50));
  queue_.Push(Item(2, "later", 70));
  EXPECT_EQ(queue_.Expire(49), 50u);
  EXPECT_THAT(queue_.TakeResults(), IsEmpty());
  // Somebody has to be told before anybody waits again.
  EXPECT_EQ(queue_.Expire(50), 50u);
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(1, ETIMEDOUT, Level::kQueued)));
  EXPECT_EQ(queue_.Expire(51), 70u);
  EXPECT_EQ(Read().size(), 4096u);
  queue_.Write(writes_.get());
  EXPECT_EQ(Read(), std::string(904, 'x') + "later");
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(2, 0, Level::kWritten)));
  EXPECT_EQ(queue_.Expire(1000), kNever);
}

TEST_F(Input, ThatHasBegunByItsDeadlineGoesOnAndIsToldAsQueued) {
  queue_.Push(Item(1, std::string(5000, 'y'), 50));
  queue_.Write(writes_.get());
  queue_.Expire(50);
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(1, 0, Level::kQueued)));
  std::string all = Read();
  queue_.Write(writes_.get());
  EXPECT_EQ(all + Read(), std::string(5000, 'y'));
  EXPECT_THAT(queue_.TakeResults(), IsEmpty()) << "told twice";
}

TEST_F(Input, OfAClientThatWentIsDroppedUnlessBegun) {
  queue_.Push(Item(1, std::string(5000, 'y')));
  queue_.Push(Item(1, "second of the same"));
  queue_.Push(Item(2, "of another"));
  queue_.Write(writes_.get());
  queue_.Cancel(1);
  std::string all = Read();
  queue_.Write(writes_.get());
  EXPECT_EQ(all + Read(), std::string(5000, 'y') + "of another");
}

TEST_F(Input, IsConfirmedByOutputAfterIt) {
  queue_.OutputSeen();
  queue_.Push(Item(1, "a", 50, Level::kConfirmed));
  queue_.Write(writes_.get());
  EXPECT_THAT(queue_.TakeResults(), IsEmpty()) << "the output was before it";
  queue_.OutputSeen();
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(1, 0, Level::kConfirmed)));
  queue_.Push(Item(2, "b", 60, Level::kConfirmed));
  queue_.Write(writes_.get());
  EXPECT_EQ(queue_.Expire(59), 60u);
  queue_.Expire(60);
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(2, 0, Level::kWritten)));
}

TEST_F(Input, EndsWithTheProgramForAllWhoWait) {
  queue_.Push(Item(1, "a", 50, Level::kConfirmed));
  queue_.Write(writes_.get());
  queue_.Push(Item(2, "b"));
  queue_.Write(-1);
  EXPECT_THAT(queue_.TakeResults(),
              ElementsAre(FieldsAre(1, 0, Level::kWritten), FieldsAre(2, EPIPE, Level::kQueued)));
  EXPECT_FALSE(queue_.wants_write());
}

TEST_F(Input, ToAProgramThatClosedItsEndFails) {
  signal(SIGPIPE, SIG_IGN);
  reads_.reset();
  queue_.Push(Item(1, "a"));
  queue_.Push(Item(2, "b"));
  queue_.Write(writes_.get());
  EXPECT_THAT(queue_.TakeResults(), ElementsAre(FieldsAre(1, EPIPE, Level::kQueued),
                                                FieldsAre(2, EPIPE, Level::kQueued)));
}

TEST_F(Input, HasALimitThatIsGivenBack) {
  const std::string half(InputQueue::kMaxBytes / 2 + 1, 'x');
  EXPECT_TRUE(queue_.Push(Item(1, half)));
  EXPECT_FALSE(queue_.Push(Item(2, half)));
  queue_.Cancel(1);
  EXPECT_TRUE(queue_.Push(Item(2, half, 10)));
  queue_.Expire(10);
  EXPECT_TRUE(queue_.Push(Item(3, half)));
  queue_.Write(-1);
  EXPECT_TRUE(queue_.Push(Item(4, half)));
}

}  // namespace
}  // namespace berth::launcher
