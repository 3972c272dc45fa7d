// What is left when a process is killed, or the disk gives out, in the middle.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

namespace fs = std::filesystem;

Record Wanted(const std::string& name, const std::string& owner_id) {
  Record record;
  record.name = name;
  record.backend = "native";
  record.owner_id = owner_id;
  return record;
}

// Reserves, writes, renames and removes without end.
[[noreturn]] void Churn(const Store& store, int ready) {
  static absl::StatusOr<Lease> lease = Lease::Acquire(store.dir());
  if (!lease.ok()) _exit(1);
  SayReady(ready);
  while (true) {
    absl::StatusOr<Record> record = store.Reserve(Wanted("churn", lease->owner_id()));
    if (!record.ok()) _exit(2);
    if (!store.Rename(record->uid, "churned").ok()) _exit(3);
    if (!store.Remove(record->uid).ok()) _exit(4);
  }
}

TEST(StoreCrash, KilledAtAnyMomentLeavesNothingOrAnOrphan) {
  TestDir test;
  const std::unique_ptr<Store> store = *Store::Open(test / "state");
  std::mt19937 random(7);
  int orphans = 0, unfinished = 0;
  for (int round = 0; round < 200; ++round) {
    TestChild child([&](int ready) { Churn(*store, ready); });
    ASSERT_TRUE(child.ready()) << round;
    // Anywhere in its loop; it must not have ended by itself until then.
    const absl::StatusOr<UniqueFd> pidfd = OpenProcess(*IdentifyProcess(child.pid()));
    ASSERT_THAT(pidfd, IsOk());
    pollfd ended{pidfd->get(), POLLIN, 0};
    const timespec moment{0, static_cast<long>(random() % 30'000'000)};
    ASSERT_EQ(ppoll(&ended, 1, &moment, nullptr), 0) << round;
    child.KillAndReap();

    const absl::StatusOr<Listing> listing = store->List();
    ASSERT_THAT(listing, IsOk());
    ASSERT_TRUE(listing->broken.empty()) << listing->broken[0].why;
    for (const Record& record : listing->records) {
      ++orphans;
      EXPECT_EQ(record.state, kStateStarting);
      EXPECT_EQ(OwnerLiveness(store->dir(), record), Liveness::kDead);
    }
    for (const char* name : {"churn", "churned"}) {
      const absl::StatusOr<Record> found = store->Find(name);
      EXPECT_TRUE(found.ok() || absl::IsNotFound(found.status())) << found.status();
    }
    for (const auto& entry : fs::directory_iterator(test / "state/sessions")) {
      unfinished += entry.path().filename().string().starts_with('.');
    }
    // Every other round the leftovers stay, and the next child takes its name over.
    if (round % 2 == 0) continue;
    for (const Record& record : listing->records) ASSERT_THAT(store->Remove(record.uid), IsOk());
    ASSERT_THAT(store->Tidy(), IsOk());
    ASSERT_TRUE(fs::is_empty(test / "state/sessions")) << round;
    for (const auto& entry : fs::directory_iterator(test / "state/names")) {
      const std::string name = entry.path().filename();
      ASSERT_TRUE(name == ".lock" || name == ".take") << name;
    }
  }
  RecordProperty("orphans", orphans);
  RecordProperty("unfinished", unfinished);
  EXPECT_GT(orphans, 0);
}

// Kills the child that runs `body` at the entry of its `nth` system call. False if it ended before.
template <typename Body>
bool KillAtSystemCall(int nth, Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    static absl::StatusOr<Lease> lease = body.Prepare();
    if (!lease.ok() || ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    raise(SIGSTOP);
    body.Run(lease->owner_id());
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status)) {
    ADD_FAILURE() << "the child could not be traced: " << WEXITSTATUS(status);
    return false;
  }
  ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
  // Each call stops twice, at its entry and at its end.
  for (int stops = 0; stops < 2 * nth - 1; ++stops) {
    ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    waitpid(pid, &status, 0);
    if (WIFSTOPPED(status)) continue;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
    return false;
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return true;
}

struct WholeLife {
  const Store* store;
  volatile int* step;  // shared with the child: how many steps it has done

  absl::StatusOr<Lease> Prepare() const { return Lease::Acquire(store->dir()); }
  void Run(const std::string& owner_id) const {
    absl::StatusOr<Record> record = store->Reserve(Wanted("old", owner_id));
    if (!record.ok()) _exit(1);
    *step = 1;
    record->state = kStateRunning;
    if (!store->Write(*record).ok()) _exit(2);
    *step = 2;
    if (!store->Rename(record->uid, "new").ok()) _exit(3);
    *step = 3;
    if (!store->Remove(record->uid).ok()) _exit(4);
    *step = 4;
  }
};

TEST(StoreCrash, KilledAtEachSystemCallLeavesWhatCanBeFoundAndRemoved) {
  TestDir test;
  const std::unique_ptr<Store> store = *Store::Open(test / "state");
  void* shared =
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  volatile int* step = static_cast<int*>(shared);
  int nth = 0, with_record = 0;
  bool killed = true;
  while (killed) {
    ++nth;
    *step = 0;
    killed = KillAtSystemCall(nth, WholeLife{store.get(), step});
    const absl::StatusOr<Listing> listing = store->List();
    ASSERT_THAT(listing, IsOk());
    ASSERT_TRUE(listing->broken.empty()) << "call " << nth << ": " << listing->broken[0].why;
    ASSERT_LE(listing->records.size(), 1u);
    if (*step == 1 || *step == 2) {
      ASSERT_EQ(listing->records.size(), 1u) << "call " << nth;
    }
    for (const Record& record : listing->records) {
      ++with_record;
      EXPECT_EQ(OwnerLiveness(store->dir(), record), Liveness::kDead) << "call " << nth;
      if (*step == 0) {
        EXPECT_EQ(record.state, kStateStarting);
      }
      if (*step == 1 || *step == 2) {
        const absl::StatusOr<Record> found = store->Find(record.name);
        ASSERT_THAT(found, IsOk()) << "call " << nth;
        EXPECT_EQ(found->uid, record.uid);
      }
      EXPECT_THAT(store->Remove(record.uid), IsOk());
      EXPECT_THAT(RemoveFreeLease(store->dir(), record.owner_id), IsOk());
    }
    ASSERT_THAT(store->Tidy(), IsOk());
    ASSERT_TRUE(fs::is_empty(test / "state/sessions")) << "call " << nth;
    for (const char* name : {"old", "new"}) {
      ASSERT_FALSE(fs::is_symlink(test / ("state/names/" + std::string(name)))) << "call " << nth;
    }
  }
  EXPECT_EQ(*step, 4);
  EXPECT_GT(nth, 50);
  EXPECT_GT(with_record, 20);
  RecordProperty("system_calls", nth);
  munmap(shared, sizeof(int));
}

TEST(StoreCrash, TidyDoesNotDisturbThoseAtWork) {
  TestDir test;
  const std::unique_ptr<Store> store = *Store::Open(test / "state");
  const absl::StatusOr<Lease> lease = Lease::Acquire(store->dir());
  TestChild tidier([&](int ready) {
    SayReady(ready);
    while (store->Tidy().ok()) continue;
    _exit(1);
  });
  for (int i = 0; i < 50; ++i) {
    const absl::StatusOr<Record> record = store->Reserve(Wanted("one", lease->owner_id()));
    ASSERT_THAT(record.status(), IsOk());
    ASSERT_THAT(store->Find("one").status(), IsOk());
    ASSERT_THAT(store->Remove(record->uid), IsOk());
  }
  EXPECT_EQ(waitpid(tidier.pid(), nullptr, WNOHANG), 0) << "Tidy failed";
}

// In a mount namespace with a file system of its own. Codes: 0 proven, 77 not possible here.
template <typename Body>
int OnSmallDisk(const std::string& path, const char* options, Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", path.c_str(), "tmpfs", 0, options) != 0) {
      _exit(77);
    }
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(StoreCrash, FullOrReadOnlyDiskFailsTheReservationAndLeavesNothing) {
  TestDir test;
  fs::create_directory(test / "disk");
  for (const char* options : {"size=64k,mode=0700", "nr_inodes=24,mode=0700"}) {
    const int result = OnSmallDisk(test / "disk", options, [&] {
      const auto store = Store::Open(test / "disk/state");
      if (!store.ok()) return 1;
      absl::StatusOr<Lease> lease = Lease::Acquire((*store)->dir());
      if (!lease.ok()) return 2;
      const std::string owner_id = lease->owner_id();
      size_t made = 0;
      absl::Status status;
      while (made < 1000) {
        Record record = Wanted(absl::StrCat("n", made), owner_id);
        record.labels["filler"] = std::string(4000, 'x');
        status = (*store)->Reserve(record).status();
        if (!status.ok()) break;
        ++made;
      }
      if (!absl::IsResourceExhausted(status)) return 3;
      const Listing listing = *(*store)->List();
      if (listing.records.size() != made || !listing.broken.empty()) return 4;
      if (!absl::IsNotFound((*store)->Find(absl::StrCat("n", made)).status())) return 5;
      for (const auto& entry : fs::directory_iterator(test / "disk/state/sessions")) {
        if (entry.path().filename().string().starts_with('.')) return 6;
      }
      // Removing must work on a full disk, and makes room.
      if (made == 0 || !(*store)->Remove(listing.records[0].uid).ok()) return 7;
      {
        const Lease released = *std::move(lease);
      }  // a disk with files open for writing stays writable
      if (mount(nullptr, (test / "disk").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
        return 10;
      if ((*store)->Reserve(Wanted("ro", owner_id)).ok()) return 8;
      return (*store)->List()->records.size() == made - 1 ? 0 : 9;
    });
    if (result == 77) GTEST_SKIP() << "no mount namespaces here (run as root)";
    EXPECT_EQ(result, 0) << options;
  }
}

}  // namespace
}  // namespace berth
