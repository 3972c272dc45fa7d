// Scenario 28 and the rest of 27: a state directory in which somebody put everything that could
// lead a reaper astray. Nothing is harmed, nothing blocks, and what is no record lies in quarantine
// with its bytes.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "reaper/facts.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    auto store = Store::Open(dir_ / "state");
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
    sessions_ = dir_ / "state/sessions/";
    dead_ = DeadProcess();
  }
  Report SweepNow(Options options = {}) {
    options.grace = absl::Milliseconds(50);
    absl::StatusOr<Report> report = Sweep(*store_, options);
    EXPECT_THAT(report, IsOk());
    return report.ok() ? *std::move(report) : Report();
  }
  const Item* ItemOf(const Report& report, const std::string& id) {
    for (const Item& item : report.items) {
      if (item.id == id || item.name == id) return &item;
    }
    return nullptr;
  }
  std::string Entry(char c) { return std::string(26, c); }
  void MakeEntry(char c, const std::string& text) {
    fs::create_directory(sessions_ + Entry(c));
    WriteText(sessions_ + Entry(c) + "/record.json", text);
  }

  TestDir dir_;
  std::string sessions_;
  std::unique_ptr<Store> store_;
  Identity dead_;
};

TEST_F(Hostile, WhatIsNoRecordIsQuarantinedWithItsBytes) {
  const Record good = MakeOrphan(*store_, "good", dead_, [](Record& it) { it.durable = true; });
  const std::string text = ToJson(good);
  const std::string precious = dir_ / "precious";
  WriteText(precious, "do not touch");

  MakeEntry('b', text.substr(0, text.size() / 2));  // torn
  MakeEntry('c', text);                             // of another session
  MakeEntry('d', "");
  fs::create_directory(sessions_ + Entry('e'));
  ASSERT_EQ(mkfifo((sessions_ + Entry('e') + "/record.json").c_str(), 0600), 0);
  fs::create_directory(sessions_ + Entry('f'));
  fs::create_symlink(precious, sessions_ + Entry('f') + "/record.json");
  fs::create_symlink(dir_.path(), sessions_ + Entry('g'));
  ASSERT_EQ(mkfifo((sessions_ + Entry('h')).c_str(), 0600), 0);
  WriteText(sessions_ + "not-a-uid", "x");
  MakeEntry('i', "");
  ASSERT_EQ(truncate((sessions_ + Entry('i') + "/record.json").c_str(), off_t{1} << 30), 0);
  // Processes that no record may name.
  int n = 0;
  for (const char* pid : {"1", "0", "-1", "99999999999"}) {
    Record it = good;
    it.uid = Entry(static_cast<char>('j' + n++));
    it.leader = dead_;
    const std::string named = absl::StrCat("\"pid\":", dead_.pid);
    fs::create_directory(sessions_ + it.uid);
    it.owner = *IdentifySelf();
    WriteText(sessions_ + it.uid + "/record.json",
              absl::StrReplaceAll(ToJson(it), {{named, absl::StrCat("\"pid\":", pid)}}));
  }
  int quarantined = 0;
  const Report report = SweepNow();
  for (const Item& item : report.items) {
    EXPECT_EQ(item.kind, "record") << item.id;
    EXPECT_EQ(item.result, Result::kDone) << item.id << ": " << item.error;
    ++quarantined;
  }
  // {pid 0 with a boot id} is refused, like the others.
  EXPECT_EQ(quarantined, 9 + 4) << ToText(report, false, true, false);
  EXPECT_EQ(ReadText(dir_ / absl::StrCat("state/quarantine/", Entry('b'), ".0/record.json")),
            text.substr(0, text.size() / 2));
  EXPECT_EQ(fs::file_size(dir_ / absl::StrCat("state/quarantine/", Entry('i'), ".0/record.json")),
            uintmax_t{1} << 30);
  EXPECT_EQ(ReadText(precious), "do not touch");
  EXPECT_THAT(store_->Find("good"), IsOk());
  EXPECT_EQ(ExitCodeOf(SweepNow()), kExitNothing);
}

TEST_F(Hostile, ARecordOfANewerBerthIsLeftWhereItIs) {
  const Record good = MakeOrphan(*store_, "good", dead_);
  const std::string path = absl::StrCat(sessions_, good.uid, "/record.json");
  const std::string newer = absl::StrReplaceAll(ReadText(path), {{"\"schema\":1", "\"schema\":2"}});
  WriteText(path, newer);
  const Report report = SweepNow({.show_kept = true});
  EXPECT_EQ(ExitCodeOf(report), kExitNothing) << ToText(report, false, true, false);
  EXPECT_EQ(ReadText(path), newer);
}

TEST_F(Hostile, AnotherUsersRecordIsNotBelieved) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const Record good = MakeOrphan(*store_, "good", dead_);
  const std::string path = absl::StrCat(sessions_, good.uid, "/record.json");
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  const Report report = SweepNow();
  const Item* item = ItemOf(report, good.uid);
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->deed, "quarantined");
}

// A record with everything right but what it names: any process of this user, by its true identity.
TEST_F(Hostile, AStrangerWhoseIdentityIsInARecordIsNotSignalled) {
  const TestChild stranger([](int ready) { SayReady(ready); });
  ASSERT_TRUE(stranger.ready());
  const absl::StatusOr<Identity> identity = IdentifyProcess(stranger.pid());
  ASSERT_THAT(identity, IsOk());
  MakeOrphan(*store_, "as-leader", dead_, [&](Record& it) { it.leader = *identity; });
  MakeOrphan(*store_, "as-keeper", dead_, [&](Record& it) { it.keeper = *identity; });
  MakeOrphan(*store_, "as-init", dead_, [&](Record& it) { it.pid_namespace_init = *identity; });
  const Report report = SweepNow();
  EXPECT_EQ(report.failed, 3) << ToText(report, false, true, false);
  for (const char* name : {"as-leader", "as-keeper", "as-init"}) {
    const Item* item = ItemOf(report, name);
    ASSERT_NE(item, nullptr);
    EXPECT_THAT(std::string(item->error.message()), HasSubstr("cannot be proven"));
    EXPECT_THAT(store_->Find(name), IsOk());
  }
  EXPECT_EQ(kill(stranger.pid(), 0), 0);
  EXPECT_EQ(CheckIdentity(*identity), Liveness::kAlive);
}

TEST_F(Hostile, AWrongStartTimeBootOrTokenMeansAnotherProcess) {
  const TestChild stranger([](int ready) { SayReady(ready); });
  const absl::StatusOr<Identity> identity = IdentifyProcess(stranger.pid());
  ASSERT_THAT(identity, IsOk());
  Identity other_start = *identity, other_boot = *identity;
  other_start.start_time += 1;
  other_boot.boot_id = "00000000-0000-0000-0000-000000000000";
  MakeOrphan(*store_, "start", dead_, [&](Record& it) { it.leader = other_start; });
  MakeOrphan(*store_, "boot", dead_, [&](Record& it) { it.keeper = other_boot; });
  MakeOrphan(*store_, "token", dead_, [&](Record& it) { it.tree = kTreeSubreaper; });
  const Report report = SweepNow();
  EXPECT_EQ(report.done, 3) << ToText(report, false, true, false);
  EXPECT_EQ(CheckIdentity(*identity), Liveness::kAlive);
  EXPECT_TRUE(store_->List()->records.empty());
}

TEST_F(Hostile, TheReaperItselfAndWhoCalledItAreNotSignalled) {
  const absl::StatusOr<Identity> self = IdentifySelf(), parent = IdentifyProcess(getppid());
  ASSERT_THAT(self, IsOk());
  MakeOrphan(*store_, "self", dead_, [&](Record& it) { it.leader = *self; });
  if (parent.ok() && parent->pid > 1) {
    MakeOrphan(*store_, "parent", dead_, [&](Record& it) { it.keeper = *parent; });
  }
  const Report report = SweepNow();
  EXPECT_EQ(report.done + report.failed, 0) << ToText(report, false, true, false);
  const Item* item = ItemOf(report, "self");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->verdict, Verdict::kDoubt);
  EXPECT_EQ(ExitCodeOf(report), kExitDoubt);
}

TEST_F(Hostile, PathsThatAreNotTheSessionsAreLeftAlone) {
  const std::string precious = dir_ / "precious";
  fs::create_directory(precious);
  WriteText(precious + "/file", "x");
  MakeOrphan(*store_, "folder", dead_, [&](Record& it) { it.temp_dirs = {precious}; });
  MakeOrphan(*store_, "socket", dead_, [&](Record& it) { it.socket = precious + "/file"; });
  MakeOrphan(*store_, "cgroup", dead_, [&](Record& it) { it.cgroup = "/system.slice"; });
  MakeOrphan(*store_, "linked", dead_, [&](Record& it) {
    const std::string link = dir_ / absl::StrCat("berth-", it.uid);
    fs::create_directory_symlink(precious, link);
    it.temp_dirs = {link};
  });
  const Report report = SweepNow();
  EXPECT_EQ(report.failed, 4) << ToText(report, false, true, false);
  EXPECT_EQ(ReadText(precious + "/file"), "x");
}

TEST_F(Hostile, OfAnEarlierBootEphemeralOnesGoAndDurableOnesStay) {
  absl::StatusOr<Surroundings> here = Surroundings::Here();
  ASSERT_THAT(here, IsOk());
  const auto earlier = [&](Record& it) {
    it.boot_id = "00000000-0000-0000-0000-000000000000";
    it.owner.boot_id = it.boot_id;
    it.owner.pid = getpid();  // somebody has that number now
    it.keeper = it.leader = it.owner;
    it.host_id = std::string(32, 'a');
  };
  MakeOrphan(*store_, "ephemeral", dead_, earlier);
  MakeOrphan(*store_, "durable", dead_, [&](Record& it) {
    earlier(it);
    it.durable = true;
  });
  MakeOrphan(*store_, "elsewhere", dead_, [&](Record& it) {
    earlier(it);
    it.host_id = std::string(32, 'b');
  });
  MakeOrphan(*store_, "somewhere", dead_, [&](Record& it) {
    earlier(it);
    it.host_id = "";
  });
  here->host_id = std::string(32, 'a');
  const absl::StatusOr<Report> report = SweepFrom(*here, *store_, {.show_kept = true}, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(ItemOf(*report, "ephemeral")->result, Result::kDone);
  EXPECT_EQ(ItemOf(*report, "durable")->verdict, Verdict::kKeep);
  EXPECT_EQ(ItemOf(*report, "elsewhere")->because.back(), "another machine made it");
  EXPECT_EQ(ItemOf(*report, "somewhere")->verdict, Verdict::kDoubt);
  const absl::StatusOr<Report> forgets =
      SweepFrom(*here, *store_, {.forget_ended = absl::ZeroDuration()}, {});
  ASSERT_THAT(forgets, IsOk());
  EXPECT_EQ(ItemOf(*forgets, "durable")->result, Result::kDone);
}

TEST_F(Hostile, LeasesAndSocketsOfTheDeadGoAndThoseOfTheLivingStay) {
  {
    const TestChild owner([&](int ready) {
      auto lease = Lease::Acquire(store_->dir(), "dead");
      if (!lease.ok()) _exit(1);
      SayReady(ready);
      while (true) pause();
    });
    ASSERT_TRUE(owner.ready());
  }
  auto mine = Lease::Acquire(store_->dir(), "mine");
  ASSERT_THAT(mine, IsOk());
  const std::string run = store_->dir().run_path();
  const auto bind_old = [&](const std::string& name, bool listens) {
    UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = absl::StrCat("/proc/self/fd/", store_->dir().run_fd(), "/", name);
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    if (listens) {
      EXPECT_EQ(listen(fd.get(), 1), 0);
    }
    return fd;
  };
  const UniqueFd alive = bind_old(Entry('a'), true);
  bind_old(Entry('b'), false);  // new: its maker may be about to listen
  const Report report = SweepNow();
  EXPECT_EQ(ExitCodeOf(report), kExitDone) << ToText(report, false, true, false);
  EXPECT_FALSE(fs::exists(dir_ / "state/owners/dead"));
  EXPECT_TRUE(fs::exists(dir_ / "state/owners/mine"));
  EXPECT_TRUE(fs::exists(run + "/" + Entry('a')));
  EXPECT_TRUE(fs::exists(run + "/" + Entry('b')));
}

TEST_F(Hostile, AStateDirectoryThatOthersCanWriteToIsNotSwept) {
  ASSERT_EQ(chmod((dir_ / "state/sessions").c_str(), 0777), 0);
  EXPECT_THAT(Store::Open(dir_ / "state"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace berth::reaper
