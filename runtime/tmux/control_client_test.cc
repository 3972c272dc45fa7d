#include "runtime/tmux/control_client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"

namespace berth::tmux {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class ControlClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    server_.reset(pair[1]);
    client_ = std::make_unique<ControlClient>(UniqueFd(pair[0]));
  }
  void Say(absl::string_view text) {
    ASSERT_EQ(write(server_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  static absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

  UniqueFd server_;
  std::unique_ptr<ControlClient> client_;
};

TEST_F(ControlClientTest, HasStartedOnceItsFirstCommandIsDone) {
  Say("%begin 1 7 0\n%end 1 7 0\n%begin 1 8 0\n%error 1 8 0\n%session-changed $0 hold\n");
  EXPECT_THAT(client_->AwaitStart(Soon()), IsOk());
  EXPECT_THAT(client_->AwaitStart(absl::InfinitePast()), IsOk());
  Say("%begin 1 9 1\nyes\n%end 1 9 1\n");
  EXPECT_THAT(client_->Call("anything", Soon()), IsOkAndHolds("yes\n"));
}

TEST_F(ControlClientTest, HasNotStartedByAnAnswerToUs) {
  const ControlClient::Ticket early = client_->Begin("early");
  Say("%begin 1 7 1\nfirst\n%end 1 7 1\n%window-add @0\n");
  EXPECT_THAT(client_->Await(early, Soon()), IsOkAndHolds("first\n"));
  EXPECT_THAT(client_->AwaitStart(absl::Now() + absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("does not answer")));
  Say("%begin 1 8 0\n%end 1 8 0\n");
  EXPECT_THAT(client_->AwaitStart(Soon()), IsOk());
}

TEST_F(ControlClientTest, TellsWhyItCouldNotStart) {
  Say("%begin 1 7 0\nduplicate session: hold\n%error 1 7 0\n");
  EXPECT_THAT(client_->AwaitStart(Soon()),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("duplicate session")));
}

TEST_F(ControlClientTest, ThatIsClosedBeforeItHasStartedIsUnavailable) {
  server_.reset();
  EXPECT_THAT(client_->AwaitStart(Soon()), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace berth::tmux
