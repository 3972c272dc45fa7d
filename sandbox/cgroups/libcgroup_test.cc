// What LimitGroup set, read back by somebody else: libcgroup finds the groups by its own ways.

#include <libcgroup.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/cgroups/tree_place.h"
#include "sandbox/launcher/cgroup.h"

namespace berth::cgroups {
namespace {

class Libcgroup : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(cgroup_init(), 0); }
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "groups are made by root here";
  }

  // What is in the file of the group; -1: no such group, or no such file.
  int64_t Value(const std::string& group, const char* controller, const char* file) {
    const std::unique_ptr<cgroup, void (*)(cgroup*)> found(
        cgroup_new_cgroup(group.c_str()), [](cgroup* each) { cgroup_free(&each); });
    if (cgroup_get_cgroup(found.get()) != 0) return -1;
    cgroup_controller* part = cgroup_get_controller(found.get(), controller);
    int64_t value = -1;
    if (part == nullptr || cgroup_get_value_int64(part, file, &value) != 0) return -1;
    return value;
  }
};

TEST_F(Libcgroup, SeesTheLimitsAndThatTheyAreGone) {
  const Layout layout = Layout::Read();
  const GroupLimits limits{.memory_bytes = 64 << 20, .pids = 17, .cpu_millis = 250};
  const std::string place =
      PlaceFor(layout, layout.NotInV1(limits.controllers()), /*probe=*/false, nullptr);
  const std::string name = "berth-libcgroup-test-" + std::to_string(getpid());
  launcher::Cgroup tree = launcher::Cgroup::OpenAny(place).MakeChild(name);
  ASSERT_TRUE(tree.ok());
  LimitGroup group;
  ASSERT_EQ(group.Make(layout, tree.dir_fd(), name, limits).error, 0);

  const auto path = [&](Controller controller) {
    return layout.V1(controller).mounted() ? name : tree.path().substr(1);
  };
  const bool v1 = layout.V1(Controller::kMemory).mounted();
  EXPECT_EQ(Value(path(Controller::kMemory), "memory", v1 ? "memory.limit_in_bytes" : "memory.max"),
            64 << 20);
  EXPECT_EQ(Value(path(Controller::kPids), "pids", "pids.max"), 17);
  if (layout.V1(Controller::kCpu).mounted()) {
    EXPECT_EQ(Value(path(Controller::kCpu), "cpu", "cpu.cfs_quota_us"), 25000);
    EXPECT_EQ(Value(path(Controller::kCpu), "cpu", "cpu.cfs_period_us"), 100000);
  }

  EXPECT_EQ(group.Remove(), 0);
  const std::string was = path(Controller::kPids);
  EXPECT_TRUE(tree.Remove());
  EXPECT_EQ(Value(was, "pids", "pids.max"), -1);
}

}  // namespace
}  // namespace berth::cgroups
