// Records of every kind, made without a runtime. For tests.
#ifndef BERTH_REAPER_TEST_RECORDS_H_
#define BERTH_REAPER_TEST_RECORDS_H_

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {

// The identity of a process that has ended.
inline Identity DeadProcess() {
  const pid_t pid = fork();
  if (pid == 0) {
    while (true) pause();
  }
  const absl::StatusOr<Identity> identity = IdentifyProcess(pid);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(identity.ok()) << identity.status();
  return identity.ok() ? *identity : Identity();
}

// A session of an owner that is gone, ephemeral and without processes unless `change` says
// otherwise.
template <typename Change>
Record MakeOrphan(const Store& store, const std::string& name, const Identity& owner,
                  Change change) {
  Record record;
  record.name = name;
  record.backend = "native";
  record.owner_id = "gone";
  record.owner = owner;
  absl::StatusOr<Record> made = store.Reserve(std::move(record));
  EXPECT_TRUE(made.ok()) << made.status();
  if (!made.ok()) return {};
  made->state = kStateRunning;
  change(*made);
  const absl::Status written = store.Write(*made);
  EXPECT_TRUE(written.ok()) << written;
  return *made;
}

inline Record MakeOrphan(const Store& store, const std::string& name, const Identity& owner) {
  return MakeOrphan(store, name, owner, [](Record&) {});
}

// A state directory of the test's own, and an owner that is gone.
class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(dir_ / "state");
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    dead_ = DeadProcess();
  }

  const TestDir dir_;
  std::unique_ptr<Store> store_;
  Identity dead_;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_TEST_RECORDS_H_
