// ReapingTest: a TreeTest with owners that can be killed, and a reaper.
#ifndef BERTH_TESTS_REAPING_REAPING_TEST_H_
#define BERTH_TESTS_REAPING_REAPING_TEST_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reaper/engine.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"
#include "tests/support/tree_test.h"

namespace berth {

class ReapingTest : public TreeTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Runs an actor with the state directory and the fifo as its first arguments, and then `args`.
  pid_t StartOwner(const std::string& actor, const std::vector<std::string>& args = {});
  // SIGKILL, and waits until it is gone.
  static void KillChild(pid_t pid);
  // SIGKILL to a process that is no child.
  static void KillOther(pid_t pid);
  // The next `count` reports, each `NAME PID PORT`, are added to pids_ and ports_.
  void TakePids(size_t count);
  // Whether somebody could have that port of 127.0.0.1.
  static bool IsFree(uint16_t port);

  // One sweep of the state directory. Fails the test if it cannot be done.
  reaper::Report Sweep(reaper::Options options = {});
  // A folder of the state directory has nothing in it but locks.
  void ExpectEmpty(const std::string& folder) const;
  // Nothing is left of any session: no process, cgroup, mount, socket or file.
  void ExpectNothing() const;
  const reaper::Item* ItemOf(const reaper::Report& report, const std::string& name) const;

  std::unique_ptr<Fifo> reports_;
  std::unique_ptr<Store> store_;
  reaper::Engines engines_;
  std::map<std::string, pid_t> pids_;
  std::map<std::string, uint16_t> ports_;
  std::string mounts_;  // as they were at first
};

}  // namespace berth

#endif  // BERTH_TESTS_REAPING_REAPING_TEST_H_
