#include "runtime/record/record_cache.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

class RecordCacheTest : public ::testing::Test {
 protected:
  Record Make(const std::string& name) {
    Record record;
    record.name = name;
    record.backend = "native";
    record.owner_id = lease_.owner_id();
    return *store_->Reserve(record);
  }
  std::string RecordFile(const Record& record) {
    return test_ / ("state/sessions/" + record.uid + "/record.json");
  }
  // The one session's.
  Record Only() {
    const Listing listing = *store_->List(&cache_);
    EXPECT_EQ(listing.records.size(), 1u);
    EXPECT_TRUE(listing.broken.empty());
    return listing.records.empty() ? Record() : listing.records[0];
  }

  TestDir test_;
  const std::unique_ptr<Store> store_ = *Store::Open(test_ / "state");
  const Lease lease_ = *Lease::Acquire(store_->dir());
  RecordCache cache_{absl::ZeroDuration()};
};

TEST_F(RecordCacheTest, GivesWhatTheFileSaysAndReadsItOnce) {
  const Record made = Make("one");
  EXPECT_EQ(Only(), made);
  // Still the version that was read; its bytes are not looked at again.
  EXPECT_EQ(Only(), made);
  EXPECT_TRUE(
      cache_.Find(made.uid, *VersionOf(store_->dir().sessions_fd(), made.uid + "/record.json"))
          .has_value());
}

TEST_F(RecordCacheTest, SeesEachWriteAndRename) {
  Record record = Make("one");
  for (int i = 0; i < 50; ++i) {
    record.log = "/log/" + std::to_string(i % 10);
    ASSERT_THAT(store_->Write(record), IsOk());
    ASSERT_EQ(Only().log, record.log);
    record.name = "n" + std::to_string(i % 10);
    ASSERT_THAT(store_->Rename(record.uid, record.name), IsOk());
    ASSERT_EQ(Only().name, record.name);
  }
}

TEST_F(RecordCacheTest, SeesAFileThatWasEditedInPlace) {
  const Record made = Make("one");
  ASSERT_EQ(Only(), made);
  std::ostringstream text;
  text << std::ifstream(RecordFile(made)).rdbuf();
  std::ofstream(RecordFile(made)) << absl::StrReplaceAll(text.str(), {{"native", "docker"}});
  EXPECT_EQ(Only().backend, "docker");
  std::ofstream(RecordFile(made)) << "{}";
  EXPECT_EQ(store_->List(&cache_)->broken.size(), 1u);
}

TEST_F(RecordCacheTest, ForgetsWhatIsGone) {
  const Record made = Make("one");
  ASSERT_EQ(Only(), made);
  const FileVersion version = *VersionOf(store_->dir().sessions_fd(), made.uid + "/record.json");
  ASSERT_TRUE(cache_.Find(made.uid, version).has_value());
  ASSERT_THAT(store_->Remove(made.uid), IsOk());
  EXPECT_TRUE(store_->List(&cache_)->records.empty());
  EXPECT_FALSE(cache_.Find(made.uid, version).has_value());
}

// Its next change might have the same time.
TEST_F(RecordCacheTest, KeepsNothingThatHasJustBeenWritten) {
  RecordCache cautious;
  const Record made = Make("one");
  ASSERT_EQ(store_->List(&cautious)->records.size(), 1u);
  EXPECT_FALSE(
      cautious.Find(made.uid, *VersionOf(store_->dir().sessions_fd(), made.uid + "/record.json"))
          .has_value());
}

}  // namespace
}  // namespace berth
