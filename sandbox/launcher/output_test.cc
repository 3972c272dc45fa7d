#include "sandbox/launcher/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {
namespace {

// A reader's pipe of one page.
struct Pipe {
  Pipe() {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    reads = UniqueFd(fds[0]);
    writes = UniqueFd(fds[1]);
    fcntl(reads.get(), F_SETFL, O_NONBLOCK);
    EXPECT_EQ(fcntl(writes.get(), F_SETPIPE_SZ, 4096), 4096);
  }
  std::string Read() {
    std::string bytes(8192, '\0');
    const ssize_t n = read(reads.get(), bytes.data(), bytes.size());
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    ended = n == 0;
    return bytes;
  }
  UniqueFd reads, writes;
  bool ended = false;
};

TEST(Output, IsKeptForWhoComesLate) {
  Output output(6);
  output.Append("0123456789");
  Pipe all, some, none;
  EXPECT_EQ(output.AddReader(std::move(all.writes), 0, 100), 4u);
  EXPECT_EQ(output.AddReader(std::move(some.writes), 8, 100), 8u);
  EXPECT_EQ(output.AddReader(std::move(none.writes), -1, 100), 10u);
  EXPECT_EQ(all.Read(), "456789");
  EXPECT_EQ(some.Read(), "89");
  EXPECT_EQ(none.Read(), "");
  output.Append("a");
  EXPECT_EQ(none.Read(), "a");
  output.Close();
  output.Flush();
  for (Pipe* pipe : {&all, &some, &none}) {
    pipe->Read();
    EXPECT_EQ(pipe->Read(), "");
    EXPECT_TRUE(pipe->ended);
  }
  EXPECT_TRUE(output.drained());
}

TEST(Output, WaitsForAReaderWithABuffer) {
  Output output(0);
  Pipe pipe;
  output.AddReader(std::move(pipe.writes), 0, 1000);
  EXPECT_EQ(output.Room(5000), 1000u);
  output.Append(std::string(4096, 'a'));  // its pipe is full
  EXPECT_EQ(output.Room(5000), 1000u);
  output.Append(std::string(900, 'b'));
  EXPECT_EQ(output.Room(5000), 100u);
  output.Append(std::string(100, 'c'));
  EXPECT_EQ(output.Room(5000), 0u);
  std::vector<pollfd> fds;
  output.AppendPoll(&fds);
  ASSERT_EQ(fds.size(), 1u);
  EXPECT_EQ(fds[0].events, POLLOUT);
  EXPECT_EQ(pipe.Read(), std::string(4096, 'a'));
  output.Flush();
  EXPECT_EQ(pipe.Read(), std::string(900, 'b') + std::string(100, 'c'));
  EXPECT_EQ(output.Room(5000), 1000u);
}

TEST(Output, NeverWaitsForAReaderWithoutOne) {
  Output output(10);
  Pipe pipe;
  output.AddReader(std::move(pipe.writes), 0, 0);
  EXPECT_EQ(output.Room(5000), 5000u);
  output.Append(std::string(4096, 'a'));
  output.Append(std::string(5000, 'b'));
  output.Append("0123456789abcdef");
  EXPECT_EQ(output.Room(5000), 5000u);
  EXPECT_EQ(pipe.Read(), std::string(4096, 'a'));
  output.Flush();
  EXPECT_EQ(pipe.Read(), "0123456789abcdef");  // the b were missed
}

// With little or nothing kept, a reader that had not lagged at all missed the beginning of each
// piece.
TEST(Output, GivesAReaderThatKeepsUpEverythingHoweverLittleIsKept) {
  Output output(0);
  Pipe pipe;
  output.AddReader(std::move(pipe.writes), 0, 0);
  for (int i = 0; i < 100; ++i) {
    const std::string piece(static_cast<size_t>(i * 13 % 4000), static_cast<char>('a' + i % 26));
    output.Append(piece);
    EXPECT_EQ(pipe.Read(), piece);
  }
}

TEST(Output, ForgetsAReaderThatWentAway) {
  signal(SIGPIPE, SIG_IGN);
  Output output(0);
  Pipe pipe;
  output.AddReader(std::move(pipe.writes), 0, 10);
  pipe.reads.reset();
  output.Append("x");
  EXPECT_TRUE(output.drained());
  EXPECT_EQ(output.Room(5000), 5000u);
}

}  // namespace
}  // namespace berth::launcher
