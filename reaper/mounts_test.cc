// Mounts that a killed owner left in its session's folders, and only those, are taken away.

#include "reaper/mounts.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

TEST(MountsBelow, AreFoundByWholePartsOfTheirPathAndTheLastComesFirst) {
  const std::string info =
      "22 1 0:21 / / rw - ext4 /dev/a rw\n"
      "23 22 0:22 / /a/b rw shared:1 - tmpfs tmpfs rw\n"
      "24 23 0:23 / /a/b/c\\040d rw - tmpfs tmpfs rw\n"
      "25 22 0:24 / /a/bc rw - tmpfs tmpfs rw\n"
      "torn";
  EXPECT_THAT(MountsBelow(info, "/a/b"), ElementsAre("/a/b/c d", "/a/b"));
  EXPECT_THAT(MountsBelow(info, "/a/b/c"), IsEmpty());
}

class Mounts : public StoreTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount here";
    // The machine's own mounts are none of this test's business.
    ASSERT_EQ(unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    StoreTest::SetUp();
  }
  static void MountAt(const std::string& path) {
    fs::create_directories(path);
    ASSERT_EQ(mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1m"), 0) << path;
    WriteText(path + "/file", "x");
  }
  std::string Folder(const Record& record) const {
    return absl::StrCat(dir_.path(), "/state/sessions/", record.uid);
  }
};

TEST_F(Mounts, OfASessionWhoseOwnerWasKilledGoWithIt) {
  std::string temp;
  {
    // The owner dies at the end of this block, by SIGKILL, and leaves everything as it is.
    const TestChild owner([&](int ready) {
      auto lease = Lease::Acquire(store_->dir(), "owner");
      Record wanted;
      wanted.name = "mounted";
      wanted.backend = "native";
      wanted.owner_id = "owner";
      auto record = store_->Reserve(wanted);
      if (!lease.ok() || !record.ok()) _exit(1);
      record->state = kStateRunning;
      record->temp_dirs = {dir_ / absl::StrCat("berth-", record->uid, "-view")};
      if (!store_->Write(*record).ok()) _exit(2);
      MountAt(Folder(*record) + "/changes/0/merged");
      MountAt(Folder(*record) + "/changes/0/merged/with space");
      MountAt(record->temp_dirs[0]);
      MountAt(dir_ / "precious");
      SayReady(ready);
    });
    ASSERT_TRUE(owner.ready());
    temp = store_->Find("mounted")->temp_dirs[0];
  }
  ASSERT_THAT(ReadText("/proc/self/mountinfo"), HasSubstr("changes/0/merged"));
  const absl::StatusOr<Report> report = Sweep(*store_, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(ExitCodeOf(*report), kExitDone) << ToText(*report, true, false);
  EXPECT_THAT(ReadText("/proc/self/mountinfo"), Not(HasSubstr("changes/0/merged")));
  EXPECT_FALSE(fs::exists(temp));
  EXPECT_TRUE(store_->List()->records.empty());
  EXPECT_TRUE(fs::is_empty(dir_ / "state/sessions"));
  EXPECT_EQ(ReadText(dir_ / "precious/file"), "x");
  EXPECT_EQ(umount2((dir_ / "precious").c_str(), MNT_DETACH), 0);
}

TEST_F(Mounts, OfALivingOwnersSessionStay) {
  const auto lease = Lease::Acquire(store_->dir(), "mine");
  ASSERT_THAT(lease, IsOk());
  const Record record =
      MakeOrphan(*store_, "mine", lease->owner(), [](Record& it) { it.owner_id = "mine"; });
  MountAt(Folder(record) + "/changes/0/merged");
  const absl::StatusOr<Report> report = Sweep(*store_, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(ExitCodeOf(*report), kExitNothing) << ToText(*report, true, false);
  EXPECT_EQ(ReadText(Folder(record) + "/changes/0/merged/file"), "x");
  EXPECT_EQ(umount2((Folder(record) + "/changes/0/merged").c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace berth::reaper
