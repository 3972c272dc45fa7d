#include "sandbox/cgroups/layout.h"

#include <string>

#include "gtest/gtest.h"

namespace berth::cgroups {
namespace {

constexpr char kV1Mounts[] =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n";
constexpr char kV2Mount[] =
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(Layout, TellsTheThreeLayoutsApart) {
  EXPECT_STREQ(Layout::Parse("", "").Name(), "none");
  EXPECT_STREQ(Layout::Parse(kV1Mounts, "").Name(), "v1");
  EXPECT_STREQ(Layout::Parse(kV2Mount, "").Name(), "v2");
  EXPECT_STREQ(Layout::Parse(std::string(kV1Mounts) + kV2Mount, "").Name(), "hybrid");
}

TEST(Layout, FindsControllersThatShareAHierarchy) {
  const Layout layout = Layout::Parse(kV1Mounts, "2:cpuacct,cpu:/a/b\n4:memory:/\n0::/c\n");
  EXPECT_EQ(layout.V1(Controller::kCpu).point, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(layout.V1(Controller::kCpu).own, "/a/b");
  EXPECT_EQ(layout.V1(Controller::kMemory).own, "/");
  EXPECT_EQ(layout.V1(Controller::kPids).own, "");
  EXPECT_EQ(layout.v2.own, "/c");
}

TEST(Layout, KnowsWhatIsLeftToTheV2Tree) {
  const Layout layout =
      Layout::Parse("35 31 0:32 / /m rw - cgroup cgroup rw,memory\n" + std::string(kV2Mount), "");
  EXPECT_EQ(layout.NotInV1(Bit(Controller::kMemory)), 0);
  EXPECT_EQ(layout.NotInV1(Bit(Controller::kMemory) | Bit(Controller::kPids)),
            Bit(Controller::kPids));
}

TEST(Layout, AContainerSeesAPartOfTheTree) {
  const Layout layout = Layout::Parse(
      "41 31 0:38 /docker/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/c1/x\n");
  EXPECT_EQ(layout.v2.Directory("/docker/c1/x"), "/sys/fs/cgroup/x");
  EXPECT_EQ(layout.v2.Directory("/docker/c1"), "/sys/fs/cgroup");
  EXPECT_EQ(layout.v2.Directory("/docker/c12"), "") << "a neighbour";
  EXPECT_EQ(layout.v2.Directory("/"), "");
}

TEST(Layout, ReadsMountPointsWithSpaces) {
  const Layout layout =
      Layout::Parse("1 2 0:3 / /odd\\040place\\134x rw - cgroup2 cgroup2 rw\n", "0::/\n");
  EXPECT_EQ(layout.v2.Directory("/"), "/odd place\\x");
}

TEST(Layout, TornLinesAreNoMounts) {
  EXPECT_STREQ(Layout::Parse("41 31 0:38 / /x rw - cgroup", "0:").Name(), "none");
  EXPECT_STREQ(Layout::Parse(" - cgroup2", ":::\n0::\n").Name(), "none");
}

TEST(Layout, OfThisMachineHasSomething) { EXPECT_STRNE(Layout::Read().Name(), "none"); }

}  // namespace
}  // namespace berth::cgroups
