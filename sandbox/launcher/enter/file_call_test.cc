#include "sandbox/launcher/enter/file_call.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "sandbox/launcher/enter/caller.h"
#include "sandbox/launcher/enter/file_view.h"

namespace berth::launcher {
namespace {

FileCall Call(int number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0) {
  seccomp_data data{};
  data.nr = number;
  data.args[0] = a;
  data.args[1] = b;
  data.args[2] = c;
  data.args[3] = d;
  FileCall call;
  EXPECT_TRUE(ReadFileCall(data, &call)) << number;
  return call;
}

uint64_t Address(const void* at) { return reinterpret_cast<uint64_t>(at); }

TEST(FileCall, OpensAreReadsOrWritesByTheirFlags) {
  const struct {
    uint64_t flags;
    FileAccess access;
    const char* verb;
  } kOpens[] = {{O_RDONLY | O_CLOEXEC, FileAccess::kRead, "open"},
                {O_RDONLY | O_CREAT, FileAccess::kRead, "open"},
                {O_PATH | O_DIRECTORY, FileAccess::kLook, "open"},
                {O_WRONLY, FileAccess::kWrite, "write"},
                {O_RDWR | O_APPEND, FileAccess::kWrite, "write"},
                {O_RDONLY | O_TRUNC, FileAccess::kWrite, "write"},
                {O_WRONLY | O_CREAT | O_TRUNC, FileAccess::kCreate, "write"}};
  for (const auto& open : kOpens) {
    const FileCall call = Call(SYS_openat, 7, 100, open.flags);
    EXPECT_EQ(call.names[0].access, open.access) << open.flags;
    EXPECT_STREQ(call.verb, open.verb) << open.flags;
    EXPECT_EQ(call.names[0].folder, 7);
    EXPECT_EQ(call.names[0].address, 100u);
    EXPECT_EQ(call.count, 1);
  }
  // The kernel takes the descriptor as 32 bits.
  EXPECT_EQ(
      Call(SYS_openat, 0xffffffff00000000 | static_cast<uint32_t>(AT_FDCWD), 1, 0).names[0].folder,
      AT_FDCWD);
}

TEST(FileCall, OthersHaveTheirNamesAndFolders) {
  FileCall call = Call(SYS_renameat2, 3, 30, 4, 40);
  EXPECT_STREQ(call.verb, "rename");
  ASSERT_EQ(call.count, 2);
  EXPECT_EQ(call.names[0].access, FileAccess::kRemove);
  EXPECT_EQ(call.names[1].access, FileAccess::kReplace);
  EXPECT_EQ(call.names[1].folder, 4);
  EXPECT_EQ(call.names[1].address, 40u);
  call = Call(SYS_symlinkat, 10, 5, 50);
  EXPECT_EQ(call.names[0].folder, 5);
  EXPECT_EQ(call.names[0].address, 50u);
  EXPECT_EQ(call.names[0].access, FileAccess::kMake);
  EXPECT_EQ(Call(SYS_linkat, 3, 30, 4, 40).names[0].access, FileAccess::kLook);
  EXPECT_EQ(Call(SYS_unlinkat, 3, 30, AT_REMOVEDIR).names[0].access, FileAccess::kRemove);
  EXPECT_EQ(Call(SYS_truncate, 30).names[0].access, FileAccess::kWrite);
#if defined(__x86_64__)
  EXPECT_EQ(Call(SYS_mkdir, 30).names[0].folder, AT_FDCWD);
  EXPECT_EQ(Call(SYS_creat, 30).names[0].access, FileAccess::kCreate);
  EXPECT_EQ(Call(SYS_link, 30, 40).names[1].address, 40u);
#endif
  seccomp_data data{};
  data.nr = SYS_read;
  EXPECT_FALSE(ReadFileCall(data, &call));
}

TEST(FileCall, IsDescribedByTheNamesThatCouldBeRead) {
  EXPECT_EQ(DescribeFileCall(Call(SYS_unlinkat), {"/a", ""}), "remove /a");
  EXPECT_EQ(DescribeFileCall(Call(SYS_renameat2), {"/a", "/b"}), "rename /a to /b");
  EXPECT_EQ(DescribeFileCall(Call(SYS_linkat), {"", "/b"}), "link /b");
}

TEST(CallersPath, IsReadUpToTheEndOfAMapping) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* const map = static_cast<char*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(map, MAP_FAILED);
  ASSERT_EQ(mprotect(map + 2 * page, page, PROT_NONE), 0);
  std::string path;
  char* at = map + 2 * page - 5;
  memcpy(at, "/a/b", 5);
  ASSERT_TRUE(ReadCallersPath(getpid(), Address(at), &path));
  EXPECT_EQ(path, "/a/b");
  // From one page into the next.
  at = map + page - 2;
  memcpy(at, "/long", 6);
  ASSERT_TRUE(ReadCallersPath(getpid(), Address(at), &path));
  EXPECT_EQ(path, "/long");
  // No NUL before the end.
  memset(map, 'x', 2 * page);
  EXPECT_FALSE(ReadCallersPath(getpid(), Address(map + 2 * page - 5), &path));
  EXPECT_FALSE(ReadCallersPath(getpid(), Address(map), &path));
  EXPECT_FALSE(ReadCallersPath(getpid(), Address(map + 2 * page), &path));
  EXPECT_FALSE(ReadCallersPath(getpid(), 0, &path));
  EXPECT_FALSE(ReadCallersPath(getpid(), ~uint64_t{0}, &path));
  // The longest that the kernel takes.
  map[PATH_MAX - 1] = '\0';
  EXPECT_TRUE(ReadCallersPath(getpid(), Address(map), &path));
  EXPECT_EQ(path.size(), size_t{PATH_MAX} - 1);
  munmap(map, 3 * page);
}

TEST(CallersPath, BelowAFolderIsAbsolute) {
  std::string path;
  const int folder = open("/usr/bin", O_PATH | O_CLOEXEC);
  ASSERT_TRUE(ReadCallersPath(getpid(), folder, Address("../x"), &path));
  EXPECT_EQ(CleanPath(path), "/usr/x");
  ASSERT_TRUE(ReadCallersPath(getpid(), folder, Address("/y"), &path));
  EXPECT_EQ(path, "/y");
  char here[PATH_MAX];
  ASSERT_NE(getcwd(here, sizeof(here)), nullptr);
  ASSERT_TRUE(ReadCallersPath(getpid(), AT_FDCWD, Address("z"), &path));
  EXPECT_EQ(path, std::string(here) + "/z");
  close(folder);
  EXPECT_FALSE(ReadCallersPath(getpid(), folder, Address("x"), &path));
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  EXPECT_FALSE(ReadCallersPath(getpid(), pipes[0], Address("x"), &path));
  close(pipes[0]);
  close(pipes[1]);
}

}  // namespace
}  // namespace berth::launcher
