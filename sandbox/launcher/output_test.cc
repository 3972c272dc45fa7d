#include "sandbox/launcher/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/ring.h"

namespace berth::launcher {
namespace {

// A reader's pipe, of one page unless told otherwise.
struct Pipe {
  explicit Pipe(int size = 4096) {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    reads = UniqueFd(fds[0]);
    writes = UniqueFd(fds[1]);
    fcntl(reads.get(), F_SETFL, O_NONBLOCK);
    EXPECT_EQ(fcntl(writes.get(), F_SETPIPE_SZ, size), size);
  }
  std::string Read(size_t most = 8192) {
    std::string bytes(most, '\0');
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

std::string Kept(Output& output, int64_t from) {
  Pipe late(1 << 20);
  output.AddReader(std::move(late.writes), from, 1);
  return late.Read(1 << 20);
}

TEST(Output, PassesBytesOnAndKeepsThemForLater) {
  Output output(100000);
  Pipe program(1 << 18), reader(1 << 18);
  output.AddReader(std::move(reader.writes), 0, 1000);
  std::string all;
  for (int i = 0; i < 20; ++i) {
    const std::string piece(static_cast<size_t>(60000 + i), static_cast<char>('a' + i));
    ASSERT_EQ(write(program.writes.get(), piece.data(), piece.size()), ssize_t(piece.size()));
    ASSERT_EQ(output.Pass(program.reads.get(), 1 << 20), piece.size());
    EXPECT_TRUE(reader.Read(1 << 20) == piece) << i;
    all += piece;
    EXPECT_EQ(output.end(), all.size());
  }
  EXPECT_TRUE(Kept(output, 0) == all.substr(all.size() - 100000));
  EXPECT_EQ(program.Read(), "");
}

TEST(Output, PassesNothingWhileAReaderLags) {
  Output output(10);
  Pipe program(1 << 18), reader;
  output.AddReader(std::move(reader.writes), 0, 100000);
  output.Append(std::string(5000, 'a'));
  ASSERT_EQ(write(program.writes.get(), "b", 1), 1);
  EXPECT_EQ(output.Pass(program.reads.get(), 100), 0u);
  EXPECT_EQ(program.Read(), "b");  // it is still there
}

TEST(Output, SettlesIntoWhatIsMixed) {
  Ring mixed(8);
  Output one(100, &mixed), two(0, &mixed);
  Pipe program(1 << 16);
  ASSERT_EQ(write(program.writes.get(), "0123456789", 10), 10);
  EXPECT_EQ(two.Pass(program.reads.get(), 100), 10u);
  two.Settle();
  one.Append("abc");
  EXPECT_EQ(std::string(mixed.At(mixed.begin())), "56789abc");
}

// A reader that checks what it gets.
struct Checker {
  Checker(int size, const std::string& bytes) : pipe(size), all(bytes), got(bytes.size()) {}
  void Read(size_t most) {
    const std::string bytes = pipe.Read(most);
    right = right && all.compare(got, bytes.size(), bytes) == 0;
    got += bytes.size();
  }
  Pipe pipe;
  const std::string& all;
  size_t got;
  bool right = true;
};

// Whatever way each piece takes, every reader gets every byte, in order and once.
TEST(Output, IsTheSameWhicheverWayBytesTake) {
  std::mt19937 random(3);
  std::string noise(200000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  for (const size_t keep : {size_t{0}, size_t{5000}, size_t{300000}}) {
    Output output(keep);
    std::string all;
    Pipe program(1 << 18);
    Checker fast(1 << 17, all);
    std::optional<Checker> slow;
    output.AddReader(std::move(fast.pipe.writes), 0, 1 << 20);
    for (int i = 0; i < 600; ++i) {
      if (i == 200)
        output.AddReader(std::move(slow.emplace(1 << 14, all).pipe.writes), -1, 1 << 18);
      if (i == 400) slow.reset();
      const size_t size = random() % (i % 7 == 0 ? 100000 : 9000);
      const std::string piece = noise.substr(random() % 100000, output.Room(size));
      ASSERT_EQ(write(program.writes.get(), piece.data(), piece.size()), ssize_t(piece.size()));
      all += piece;
      while (true) {
        const size_t most = 1 + random() % 70000;
        if (random() % 4 != 0 && output.Pass(program.reads.get(), most) > 0) continue;
        if (random() % 2 != 0) output.Share(program.reads.get(), most);
        const std::string bytes = program.Read(most);
        if (bytes.empty()) break;
        output.Append(bytes);
      }
      ASSERT_EQ(output.end(), all.size());
      fast.Read(random() % 200000);
      if (slow.has_value()) slow->Read(random() % 9000);
      output.Flush();
      ASSERT_TRUE(fast.right && (!slow.has_value() || slow->right)) << i;
      if (i % 20 == 0) {
        const size_t kept = std::min(keep, all.size());
        ASSERT_TRUE(Kept(output, static_cast<int64_t>(all.size() - kept)) ==
                    all.substr(all.size() - kept))
            << i;
      }
    }
    output.Close();
    output.Flush();
    while (!fast.pipe.ended) {
      fast.Read(1 << 17);
      output.Flush();
    }
    EXPECT_TRUE(fast.right);
    EXPECT_EQ(fast.got, all.size());
    EXPECT_TRUE(output.drained());
  }
}

}  // namespace
}  // namespace berth::launcher
