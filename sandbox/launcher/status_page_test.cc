#include "sandbox/launcher/status_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {
namespace {

TEST(StatusPage, ShowsWhatItsKeeperSaidLast) {
  StatusPage page;
  ASSERT_TRUE(page.Make());
  const StatusView view(page.fd());
  ASSERT_TRUE(view.ok());
  Status status;
  EXPECT_FALSE(view.Read(&status));  // nothing yet
  page.Show("thirteen chars", 7, 0);
  ASSERT_TRUE(view.Read(&status));
  EXPECT_EQ(status.info, "thirteen chars");
  EXPECT_EQ(status.output_bytes, 7u);
  EXPECT_EQ(status.last_output_ns, 0u);
  page.Show("thirteen chars", 9, 12);
  page.Show("short", 9, 12);
  ASSERT_TRUE(view.Read(&status));
  EXPECT_EQ(status.info, "short");
  EXPECT_EQ(status.output_bytes, 9u);
  EXPECT_EQ(status.last_output_ns, 12u);
}

TEST(StatusPage, ShowsNothingRatherThanAPart) {
  StatusPage page;
  ASSERT_TRUE(page.Make());
  const StatusView view(page.fd());
  Status status;
  page.Show("short", 1, 1);
  page.Show(std::string(20000, 'x'), 2, 2);
  EXPECT_FALSE(view.Read(&status));
  page.Show("short", 3, 3);
  EXPECT_TRUE(view.Read(&status));
}

TEST(StatusPage, OutlivesItsKeeper) {
  StatusView view;
  {
    StatusPage page;
    ASSERT_TRUE(page.Make());
    page.Show("last words", 1, 2);
    view = StatusView(page.fd());
  }
  Status status;
  ASSERT_TRUE(view.Read(&status));
  EXPECT_EQ(status.info, "last words");
}

TEST(StatusPage, CanNeitherBeWrittenNorShrunkByItsReaders) {
  StatusPage page;
  ASSERT_TRUE(page.Make());
  EXPECT_NE(ftruncate(page.fd(), 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(write(page.fd(), "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page.fd(), 0), MAP_FAILED);
}

// One that could be shrunk under us would be a SIGBUS.
TEST(StatusView, TakesNoPageThatMayShrinkOrIsNone) {
  const UniqueFd loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(loose.get(), 16 << 10), 0);
  EXPECT_FALSE(StatusView(loose.get()).ok());
  ASSERT_EQ(fcntl(loose.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_FALSE(StatusView(loose.get()).ok());  // sealed, but not what it should be
  const UniqueFd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(StatusView(file.get()).ok());
  EXPECT_FALSE(StatusView(-1).ok());
  Status status;
  EXPECT_FALSE(StatusView().Read(&status));
}

TEST(StatusView, SeesNoMixtureWhileItIsWritten) {
  StatusPage page;
  ASSERT_TRUE(page.Make());
  const StatusView view(page.fd());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (uint64_t i = 0; i < 50000; ++i)
      page.Show(std::string(200 + i % 9, static_cast<char>('a' + i % 9)), i, i);
    done = true;
  });
  uint64_t last = 0, seen = 0;
  while (!done) {
    Status status;
    if (!view.Read(&status)) continue;
    ++seen;
    ASSERT_EQ(status.output_bytes, status.last_output_ns);
    ASSERT_GE(status.output_bytes, last);
    last = status.output_bytes;
    ASSERT_EQ(status.info, std::string(200 + last % 9, static_cast<char>('a' + last % 9)));
  }
  writer.join();
  Status status;
  ASSERT_TRUE(view.Read(&status));
  EXPECT_EQ(status.output_bytes, 49999u);
  RecordProperty("seen", static_cast<int>(seen));
}

}  // namespace
}  // namespace berth::launcher
