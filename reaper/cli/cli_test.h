// ReaperCli: runs berth-reaper as people, cron and root do, in a folder of the test's own.
#ifndef BERTH_REAPER_CLI_CLI_TEST_H_
#define BERTH_REAPER_CLI_CLI_TEST_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {

struct Ran {
  int code = -1;
  std::string out, err;
};

class ReaperCli : public testing::Test {
 protected:
  using Words = std::vector<std::string>;
  // Called in the new process, before it is the program.
  using Become = std::function<void()>;

  void SetUp() override;
  std::unique_ptr<Store> Open(const std::string& name);
  // Of berth-reaper, whose output goes to these files.
  pid_t Start(
      const Words& args, const std::string& out, const std::string& err,
      const Become& become = [] {});
  Ran Run(const Words& args, const Become& become = [] {});
  // Of any program that is on PATH.
  Ran RunOther(const Words& argv);

  // Others may go through the folders that lead to what is theirs, and run the program.
  void OpenToOthers();
  // A home of that user with one orphan in its state directory.
  void MakeHome(const std::string& name, uid_t uid);

  TestDir dir_;
  std::string program_;
  Identity dead_;

 private:
  // `exec` is called in the new process and does not return.
  pid_t Fork(const std::string& out, const std::string& err, const Become& exec);
  Ran Finish(pid_t pid);
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CLI_CLI_TEST_H_
