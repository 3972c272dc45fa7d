#include "runtime/record/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/record_cache.h"
#include "runtime/record/test_dir.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class StoreTest : public ::testing::Test {
 protected:
  Record Wanted(const std::string& name) const {
    Record record;
    record.name = name;
    record.backend = "native";
    record.owner_id = lease_.owner_id();
    return record;
  }
  std::string Session(const std::string& uid) const { return test_ / ("state/sessions/" + uid); }
  std::string RecordFile(const std::string& uid) const { return Session(uid) + "/record.json"; }

  // A session "starting" whose owner reserved it and was killed.
  Record Orphan(const std::string& name) {
    TestChild owner([&](int ready) {
      static absl::StatusOr<Lease> lease = Lease::Acquire(store_->dir(), "killed");
      Record record = Wanted(name);
      record.owner_id = "killed";
      if (!store_->Reserve(record).ok()) _exit(1);
      SayReady(ready);
    });
    EXPECT_TRUE(owner.ready());
    owner.KillAndReap();
    return *store_->Find(name);
  }
  void ExpectNothingLeft() const {
    EXPECT_TRUE(fs::is_empty(test_ / "state/sessions"));
    for (const auto& entry : fs::directory_iterator(test_ / "state/names")) {
      EXPECT_EQ(entry.path().filename(), ".lock");
    }
  }

  TestDir test_;
  std::unique_ptr<Store> store_ = *Store::Open(test_ / "state");
  Lease lease_ = *Lease::Acquire(store_->dir());
};

TEST_F(StoreTest, ReservedSessionIsFoundWrittenAndRemoved) {
  absl::StatusOr<Record> record = store_->Reserve(Wanted("builder"));
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->uid.size(), 26u);
  EXPECT_EQ(record->token.size(), 32u);
  EXPECT_EQ(record->install_id, store_->dir().install_id());
  EXPECT_EQ(record->owner, *IdentifySelf());
  EXPECT_GT(record->created_at_unix_ns, 0);
  EXPECT_THAT(store_->Find("builder"), IsOkAndHolds(*record));
  EXPECT_THAT(store_->Read(record->uid), IsOkAndHolds(*record));
  struct stat file;
  ASSERT_EQ(stat(RecordFile(record->uid).c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600u);

  record->state = kStateRunning;
  record->leader = *IdentifySelf();
  EXPECT_THAT(store_->Write(*record), IsOk());
  EXPECT_THAT((*Store::Open(test_ / "state"))->Find("builder"), IsOkAndHolds(*record));

  EXPECT_THAT(store_->Remove(record->uid), IsOk());
  EXPECT_THAT(store_->Remove(record->uid), IsOk());
  EXPECT_THAT(store_->Find("builder"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Read(record->uid), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Write(*record), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->OpenSessionDir(record->uid), StatusIs(absl::StatusCode::kNotFound));
  ExpectNothingLeft();
}

TEST_F(StoreTest, NamesAreExactAndTakenOnce) {
  const Record record = *store_->Reserve(Wanted("builder"));
  EXPECT_THAT(store_->Reserve(Wanted("builder")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(record.uid)));
  for (const char* other : {"build", "builder2", "Builder"}) {
    EXPECT_THAT(store_->Find(other), StatusIs(absl::StatusCode::kNotFound));
  }
  EXPECT_THAT(store_->Find("../names/builder"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(store_->Reserve(Wanted("a/b")), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(store_->Read("../../etc"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(store_->List()->records.size(), 1u);
}

TEST_F(StoreTest, ReserveNeedsALeaseAndFitsTheLimit) {
  Record record = Wanted("x");
  record.owner_id = "";
  EXPECT_THAT(store_->Reserve(record),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("owner_id")));
  record = Wanted("x");
  for (int i = 0; i < 20; ++i) record.labels[absl::StrCat(i)] = std::string(4000, 'x');
  EXPECT_THAT(store_->Reserve(record),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than")));
  ExpectNothingLeft();
}

TEST_F(StoreTest, OfManyThreadsOneGetsTheName) {
  std::atomic<int> winners = 0, losers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      const absl::StatusOr<Record> record = store_->Reserve(Wanted("one"));
      if (record.ok()) ++winners;
      if (absl::IsAlreadyExists(record.status())) ++losers;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(losers, 31);
  const Listing listing = *store_->List();
  EXPECT_EQ(listing.records.size(), 1u);
  EXPECT_TRUE(listing.broken.empty());
}

TEST_F(StoreTest, OfManyThreadsOneTakesOverTheNameOfAnOrphan) {
  const Record orphan = Orphan("one");
  std::atomic<int> winners = 0, losers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const absl::StatusOr<Record> record = store_->Reserve(Wanted("one"));
      if (record.ok()) ++winners;
      if (absl::IsAlreadyExists(record.status())) ++losers;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(losers, 15);
  // The orphan is still there to be reaped, and its removal does not touch the new holder.
  const Record holder = *store_->Find("one");
  EXPECT_NE(holder.uid, orphan.uid);
  EXPECT_THAT(store_->Read(orphan.uid), IsOk());
  EXPECT_THAT(store_->Remove(orphan.uid), IsOk());
  EXPECT_EQ(store_->Find("one")->uid, holder.uid);
}

TEST_F(StoreTest, OfTwoProcessesOneGetsEachName) {
  int start[2], done[2];
  ASSERT_EQ(pipe(start), 0);
  ASSERT_EQ(pipe(done), 0);
  std::vector<std::unique_ptr<TestChild>> children;
  for (int process = 0; process < 2; ++process) {
    children.push_back(std::make_unique<TestChild>([&](int ready) {
      static absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(test_ / "state");
      SayReady(ready);
      char won = 0;
      if (read(start[0], &won, 1) != 1) _exit(1);
      for (int i = 0; i < 20; ++i) won += (*store)->Reserve(Wanted(absl::StrCat("n", i))).ok();
      if (write(done[1], &won, 1) != 1) _exit(1);
    }));
    EXPECT_TRUE(children.back()->ready());
  }
  char won[2] = {0, 0};
  ASSERT_EQ(write(start[1], won, 2), 2);
  ASSERT_EQ(read(done[0], &won[0], 1), 1);
  ASSERT_EQ(read(done[0], &won[1], 1), 1);
  EXPECT_EQ(won[0] + won[1], 20);
  for (const int fd : {start[0], start[1], done[0], done[1]}) close(fd);
  EXPECT_EQ(store_->List()->records.size(), 20u);
}

TEST_F(StoreTest, NameOfARunningSessionIsKeptThoughItsOwnerDied) {
  Record orphan = Orphan("one");
  orphan.state = kStateRunning;
  ASSERT_THAT(store_->Write(orphan), IsOk());
  EXPECT_THAT(store_->Reserve(Wanted("one")), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(StoreTest, AContainersSessionThatItsKeeperGaveUpHasNotStarted) {
  Record orphan = Orphan("one");
  orphan.state = kStateRunning;
  orphan.container_id = "berth-one";
  ASSERT_THAT(store_->Write(orphan), IsOk());
  RecordCache cache(absl::ZeroDuration());
  EXPECT_EQ(store_->List(&cache)->records[0].state, kStateRunning);
  WriteText(fs::path(RecordFile(orphan.uid)).replace_filename("given-up"), "");
  EXPECT_EQ(store_->Read(orphan.uid)->state, kStateStarting);
  EXPECT_EQ(store_->List(&cache)->records[0].state, kStateStarting);
  // And so its name passes on.
  EXPECT_NE(store_->Reserve(Wanted("one"))->uid, orphan.uid);
}

TEST_F(StoreTest, NameOfASessionThatIsGoneIsFree) {
  fs::create_symlink(std::string(26, 'a'), test_ / "state/names/one");
  fs::create_symlink("/etc/passwd", test_ / "state/names/two");
  EXPECT_THAT(store_->Find("one"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Find("two"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Reserve(Wanted("one")), IsOk());
  EXPECT_THAT(store_->Reserve(Wanted("two")), IsOk());
  EXPECT_THAT(store_->Find("two"), IsOk());
}

TEST_F(StoreTest, RenameKeepsTheSessionAndFreesTheOldName) {
  Record one = *store_->Reserve(Wanted("one"));
  const Record two = *store_->Reserve(Wanted("two"));
  EXPECT_THAT(store_->Rename(one.uid, "two"), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(store_->Find("one")->uid, one.uid);
  EXPECT_THAT(store_->Rename(one.uid, "bad name"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(store_->Rename(one.uid, "three"), IsOk());
  EXPECT_THAT(store_->Rename(one.uid, "three"), IsOk());
  EXPECT_THAT(store_->Find("one"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(store_->Find("three")->uid, one.uid);
  EXPECT_EQ(store_->Read(one.uid)->name, "three");
  // A writer that does not know of the rename does not undo it.
  one.state = kStateRunning;
  EXPECT_THAT(store_->Write(one), IsOk());
  EXPECT_EQ(store_->Read(one.uid)->name, "three");
  EXPECT_THAT(store_->Remove(one.uid), IsOk());
  EXPECT_THAT(store_->Remove(two.uid), IsOk());
  ExpectNothingLeft();
}

TEST_F(StoreTest, RenameCutShortIsFoundByOneNameAndRemovedWhole) {
  for (const bool moved : {false, true}) {
    Record record = *store_->Reserve(Wanted("old"));
    record.renaming_to = "new";
    WriteText(RecordFile(record.uid), ToJson(record));
    if (moved) fs::rename(test_ / "state/names/old", test_ / "state/names/new");
    EXPECT_EQ(store_->Find(moved ? "new" : "old")->uid, record.uid);
    EXPECT_EQ(store_->Read(record.uid)->name, moved ? "new" : "old");
    EXPECT_THAT(store_->Remove(record.uid), IsOk());
    ExpectNothingLeft();
  }
}

TEST_F(StoreTest, RemoveTakesFilesOfAnyKindAndFollowsNothing) {
  const Record record = *store_->Reserve(Wanted("one"));
  fs::create_directory(test_ / "outside");
  WriteText(test_ / "outside/precious", "x");
  const std::string session = Session(record.uid);
  WriteText(session + "/log", "x");
  ASSERT_EQ(mkfifo((session + "/fifo").c_str(), 0600), 0);
  fs::create_symlink(test_ / "outside", session + "/link");
  fs::create_directory(session + "/sub");
  WriteText(session + "/sub/file", "x");
  fs::create_symlink(test_ / "outside", session + "/sub/link");
  // As a program leaves it that sees a folder copy-on-write.
  fs::create_directories(session + "/changes/0/upper/deep/er");
  WriteText(session + "/changes/0/upper/deep/er/file", "x");
  fs::create_directory(session + "/changes/0/work");
  ASSERT_EQ(chmod((session + "/changes/0/work").c_str(), 0), 0);
  EXPECT_THAT(store_->Remove(record.uid), IsOk());
  EXPECT_EQ(ReadText(test_ / "outside/precious"), "x");
  ExpectNothingLeft();
}

TEST_F(StoreTest, HostileRecordsAreToldApartAndQuarantinedWithTheirBytes) {
  const auto expect = [&](absl::StatusCode code, const std::string& why, auto&& spoil) {
    const Record record = *store_->Reserve(Wanted("victim"));
    fs::remove(RecordFile(record.uid));
    spoil(record);
    EXPECT_THAT(store_->Read(record.uid), StatusIs(code, HasSubstr(why)));
    EXPECT_THAT(store_->Find("victim"), StatusIs(code));
    const Listing listing = *store_->List();
    EXPECT_TRUE(listing.records.empty()) << why;
    ASSERT_EQ(listing.broken.size(), 1u) << why;
    EXPECT_EQ(listing.broken[0].entry, record.uid);
    EXPECT_THAT(store_->Reserve(Wanted("victim")), StatusIs(absl::StatusCode::kAlreadyExists))
        << why;
    EXPECT_THAT(store_->Quarantine(record.uid), IsOk());
    EXPECT_TRUE(fs::exists(fs::symlink_status(
                    test_ / ("state/quarantine/" + record.uid + ".0/record.json"))) ||
                code == absl::StatusCode::kNotFound);
    ExpectNothingLeft();
  };
  const auto text = [&](const std::string& bytes) {
    return [this, bytes](const Record& record) { WriteText(RecordFile(record.uid), bytes); };
  };
  using enum absl::StatusCode;
  expect(kNotFound, "record.json", [](const Record&) {});
  expect(kDataLoss, "torn", text(""));
  expect(kDataLoss, "torn", [&](const Record& record) {
    const std::string json = ToJson(record);
    WriteText(RecordFile(record.uid), json.substr(0, json.size() / 2));
  });
  expect(kDataLoss, "record is of", [&](Record record) {
    const std::string path = RecordFile(record.uid);
    record.uid = std::string(26, 'q');
    WriteText(path, ToJson(record));
  });
  for (const int64_t pid : {1, -1, -getpid()}) {
    expect(kDataLoss, "keeper", [&](Record record) {
      record.keeper = *IdentifySelf();
      record.keeper.pid = pid;
      WriteText(RecordFile(record.uid), ToJson(record));
    });
  }
  expect(kOutOfRange, "longer", text(std::string(kMaxRecordBytes + 1, ' ')));
  expect(kOutOfRange, "longer", [&](const Record& record) {
    WriteText(RecordFile(record.uid), "");
    EXPECT_EQ(truncate(RecordFile(record.uid).c_str(), 1 << 30), 0);
  });
  expect(kFailedPrecondition, "newer", text("{\"schema\":99}"));
  expect(kFailedPrecondition, "a symlink",
         [&](const Record& record) { fs::create_symlink("/etc/passwd", RecordFile(record.uid)); });
  expect(kFailedPrecondition, "a fifo",
         [&](const Record& record) { EXPECT_EQ(mkfifo(RecordFile(record.uid).c_str(), 0600), 0); });
  expect(kFailedPrecondition, "a folder",
         [&](const Record& record) { fs::create_directory(RecordFile(record.uid)); });
  if (geteuid() == 0) {
    expect(kPermissionDenied, "belongs to uid", [&](const Record& record) {
      WriteText(RecordFile(record.uid), ToJson(record));
      EXPECT_EQ(chown(RecordFile(record.uid).c_str(), 65534, 65534), 0);
    });
  }
}

TEST_F(StoreTest, EntriesThatAreNoSessionsAreListedAsBroken) {
  WriteText(test_ / "state/sessions/file", "x");
  fs::create_symlink("/etc", Session(std::string(26, 'l')));
  fs::create_directory(Session(std::string(255, 'd')));
  const Listing listing = *store_->List();
  EXPECT_EQ(listing.broken.size(), 3u);
  for (const BrokenRecord& broken : listing.broken) {
    EXPECT_THAT(store_->Quarantine(broken.entry), IsOk()) << broken.entry;
  }
  WriteText(test_ / "state/sessions/file", "y");
  EXPECT_THAT(store_->Quarantine("file"), IsOk());
  EXPECT_EQ(ReadText(test_ / "state/quarantine/file.0"), "x");
  EXPECT_EQ(ReadText(test_ / "state/quarantine/file.1"), "y");
  for (const char* bad : {"", ".", "..", "../names", "a/b"}) {
    EXPECT_THAT(store_->Quarantine(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  ExpectNothingLeft();
}

TEST_F(StoreTest, ListsAThousandSessions) {
  const Record record = *store_->Reserve(Wanted("one"));
  for (int i = 0; i < 1000; ++i) {
    Record copy = record;
    for (int digit = 0, rest = i; digit < 10; ++digit, rest /= 2)
      copy.uid[digit] = rest % 2 ? 'a' : 'b';
    copy.name = absl::StrCat("n", i);
    fs::create_directory(Session(copy.uid));
    WriteText(RecordFile(copy.uid), ToJson(copy));
  }
  const absl::Time begin = absl::Now();
  const Listing listing = *store_->List();
  RecordProperty("microseconds", static_cast<int>(absl::ToInt64Microseconds(absl::Now() - begin)));
  EXPECT_GE(listing.records.size(), 1000u);
  EXPECT_TRUE(listing.broken.empty());
}

// As a keeper does, at the end of its session: without the lock.
TEST_F(StoreTest, RemovesWhatAnotherRemovesAtTheSameTime) {
  for (int i = 0; i < 300; ++i) {
    const Record record = *store_->Reserve(Wanted("one"), Sync::kLater);
    std::atomic<bool> go = false;
    std::thread keeper([&] {
      while (!go) continue;
      std::error_code error;
      fs::remove(test_ / "state/names/one", error);
      fs::remove_all(Session(record.uid), error);
    });
    go = true;
    const absl::Status removed = store_->Remove(record.uid);
    keeper.join();
    ASSERT_THAT(removed, IsOk()) << i;
    ASSERT_THAT(store_->Tidy(), IsOk());
    ASSERT_TRUE(fs::is_empty(test_ / "state/sessions"));
  }
}

// A keeper's last step but one: its session is not known any more, and its folder still there.
TEST_F(StoreTest, RemovesWhatAnotherHasBegunToRemove) {
  const Record record = *store_->Reserve(Wanted("one"), Sync::kLater);
  for (const auto& entry : fs::directory_iterator(Session(record.uid))) fs::remove(entry);
  ASSERT_THAT(store_->Remove(record.uid), IsOk());
  EXPECT_TRUE(fs::is_empty(test_ / "state/sessions"));
  EXPECT_FALSE(fs::is_symlink(test_ / "state/names/one"));
}

}  // namespace
}  // namespace berth
