// Scenario 28 and the rest of 27: a state directory in which somebody put everything that could
// lead a reaper astray. Nothing is harmed, nothing blocks, and what is no record lies in quarantine
// with its bytes.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
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
#include "nlohmann/json.hpp"
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

class Hostile : public StoreTest {
 protected:
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

  const std::string sessions_ = dir_ / "state/sessions/";
};

// What stands in the place of a session's folder or of its record, one test for each.
struct Intruder {
  const char* name;
  // Makes `entry` (its path), of which a good record would be `text`.
  void (*make)(const std::string& entry, const std::string& text, const std::string& precious);
};

void MakeFolder(const std::string& entry, const std::string& text) {
  fs::create_directory(entry);
  WriteText(entry + "/record.json", text);
}

// Names `pid` as the main process.
void MakeNaming(const std::string& entry, const std::string& text, const std::string& pid) {
  nlohmann::json record = nlohmann::json::parse(text);
  record["uid"] = fs::path(entry).filename();
  record["leader"] = record["owner"];
  record["leader"]["pid"] = nlohmann::json::parse(pid);
  MakeFolder(entry, record.dump());
}

const Intruder kIntruders[] = {
    {"ATornRecord", [](const std::string& entry, const std::string& text,
                       const std::string&) { MakeFolder(entry, text.substr(0, text.size() / 2)); }},
    {"AnotherSessionsRecord", [](const std::string& entry, const std::string& text,
                                 const std::string&) { MakeFolder(entry, text); }},
    {"AnEmptyRecord", [](const std::string& entry, const std::string&,
                         const std::string&) { MakeFolder(entry, ""); }},
    {"ARecordOfOneGigabyte",
     [](const std::string& entry, const std::string& text, const std::string&) {
       MakeFolder(entry, text);
       EXPECT_EQ(truncate((entry + "/record.json").c_str(), off_t{1} << 30), 0);
     }},
    {"AFifoForARecord",
     [](const std::string& entry, const std::string&, const std::string&) {
       fs::create_directory(entry);
       EXPECT_EQ(mkfifo((entry + "/record.json").c_str(), 0600), 0);
     }},
    {"ASymlinkForARecord",
     [](const std::string& entry, const std::string&, const std::string& precious) {
       fs::create_directory(entry);
       fs::create_symlink(precious, entry + "/record.json");
     }},
    {"AFolderForARecord",
     [](const std::string& entry, const std::string&, const std::string&) {
       fs::create_directories(entry + "/record.json");
     }},
    {"ASymlinkForASession",
     [](const std::string& entry, const std::string&, const std::string& precious) {
       fs::create_directory_symlink(fs::path(precious).parent_path(), entry);
     }},
    {"AFifoForASession", [](const std::string& entry, const std::string&,
                            const std::string&) { EXPECT_EQ(mkfifo(entry.c_str(), 0600), 0); }},
    {"AFileForASession", [](const std::string& entry, const std::string&,
                            const std::string&) { WriteText(entry, "x"); }},
    {"ARecordNamingPid1", [](const std::string& entry, const std::string& text,
                             const std::string&) { MakeNaming(entry, text, "1"); }},
    {"ARecordNamingPid0", [](const std::string& entry, const std::string& text,
                             const std::string&) { MakeNaming(entry, text, "0"); }},
    {"ARecordNamingPidMinus1", [](const std::string& entry, const std::string& text,
                                  const std::string&) { MakeNaming(entry, text, "-1"); }},
    {"ARecordNamingAPidPastAll",
     [](const std::string& entry, const std::string& text, const std::string&) {
       MakeNaming(entry, text, "99999999999");
     }},
};

class Intruders : public Hostile, public testing::WithParamInterface<Intruder> {};

INSTANTIATE_TEST_SUITE_P(Each, Intruders, testing::ValuesIn(kIntruders),
                         [](const auto& param) { return param.param.name; });

TEST_P(Intruders, IsQuarantinedAsItIsAndHarmsNothing) {
  const Record good = MakeOrphan(*store_, "good", dead_, [](Record& it) { it.durable = true; });
  const std::string precious = dir_ / "precious";
  WriteText(precious, "do not touch");
  const std::string entry = sessions_ + Entry('b');
  GetParam().make(entry, ToJson(good), precious);
  struct stat before, after;
  ASSERT_EQ(lstat(entry.c_str(), &before), 0);
  const Report report = SweepNow();
  ASSERT_EQ(report.items.size(), 1u) << ToText(report, true, false);
  EXPECT_EQ(report.items[0].kind, "record");
  EXPECT_EQ(report.items[0].deed, "quarantined");
  EXPECT_EQ(report.items[0].result, Result::kDone) << report.items[0].error;
  ASSERT_EQ(lstat((dir_ / absl::StrCat("state/quarantine/", Entry('b'), ".0")).c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);  // moved: every byte of it is there
  EXPECT_EQ(ReadText(precious), "do not touch");
  EXPECT_THAT(store_->Find("good"), IsOk());
  EXPECT_EQ(ExitCodeOf(SweepNow()), kExitNothing);
}

TEST_F(Hostile, AnEntryThatIsNoUidIsQuarantinedToo) {
  WriteText(sessions_ + "not-a-uid", "x");
  const Report report = SweepNow();
  EXPECT_EQ(report.done, 1) << ToText(report, true, false);
  EXPECT_EQ(ReadText(dir_ / "state/quarantine/not-a-uid.0"), "x");
}

TEST_F(Hostile, ARecordOfANewerBerthIsLeftWhereItIs) {
  const Record good = MakeOrphan(*store_, "good", dead_);
  const std::string path = absl::StrCat(sessions_, good.uid, "/record.json");
  const std::string newer = absl::StrReplaceAll(ReadText(path), {{"\"schema\":1", "\"schema\":2"}});
  WriteText(path, newer);
  const Report report = SweepNow({.show_kept = true});
  EXPECT_EQ(ExitCodeOf(report), kExitNothing) << ToText(report, true, false);
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
  EXPECT_EQ(report.failed, 3) << ToText(report, true, false);
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
  EXPECT_EQ(report.done, 3) << ToText(report, true, false);
  EXPECT_EQ(CheckIdentity(*identity), Liveness::kAlive);
  EXPECT_TRUE(store_->List()->records.empty());
}

TEST_F(Hostile, WhoCalledTheReaperIsNotSignalled) {
  const TestChild caller([&](int ready) {
    const pid_t sweeper = fork();
    if (sweeper == 0) {
      MakeOrphan(*store_, "caller", dead_,
                 [&](Record& it) { it.keeper = *IdentifyProcess(getppid()); });
      const Report report = SweepNow();
      _exit(ExitCodeOf(report));
    }
    int status = 0;
    waitpid(sweeper, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != kExitDoubt) _exit(1);
    SayReady(ready);
  });
  EXPECT_TRUE(caller.ready());
}

TEST_F(Hostile, TheReaperItselfIsNotSignalled) {
  const absl::StatusOr<Identity> self = IdentifySelf();
  ASSERT_THAT(self, IsOk());
  MakeOrphan(*store_, "self", dead_, [&](Record& it) { it.leader = *self; });
  const Report report = SweepNow();
  EXPECT_EQ(report.done + report.failed, 0) << ToText(report, true, false);
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
  EXPECT_EQ(report.failed, 4) << ToText(report, true, false);
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
  EXPECT_EQ(ExitCodeOf(report), kExitDone) << ToText(report, true, false);
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
