// Groups of codefly's: by proof, or not at all.

#include "reaper/codefly.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

namespace fs = std::filesystem;

std::string RecordText(const Identity& owner, const std::string& secret) {
  const std::string identity =
      absl::StrCat("{\"pid\":", owner.pid, ",\"boot_id\":\"", owner.boot_id,
                   "\",\"start_id\":", owner.start_time, ",\"executable\":\"x\"}");
  return absl::StrCat("{\"pgid\":", owner.pid, ",\"leader\":", identity, ",\"owner\":", identity,
                      ",\"authentication\":\"", secret, "\"}");
}

pid_t StartWith(const std::string& entry) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) abort();
  const pid_t pid = fork();
  if (pid == 0) {
    setsid();
    char* env[] = {const_cast<char*>(entry.c_str()), nullptr};
    execle("/bin/sleep", "sleep", "1000", nullptr, env);
    _exit(127);
  }
  close(ready[1]);
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 0);  // it has executed
  close(ready[0]);
  return pid;
}

TEST(Codefly, GroupsOfDeadOwnersEndByTheirSecretAndNothingElseDoes) {
  const TestDir dir;
  const std::string ours(64, 'a'), other(64, 'b');
  const pid_t member = StartWith("CODEFLY_PROCESS_GROUP_AUTH=" + ours);
  const pid_t stranger = StartWith("CODEFLY_PROCESS_GROUP_AUTH=" + other);
  fs::create_directory(dir / "v2");
  WriteText(dir / "v2/1.pgid", RecordText(DeadProcess(), ours));
  WriteText(dir / "2.pgid", RecordText(*IdentifySelf(), other));
  WriteText(dir / "3.pgid", absl::StrCat("pgid=", stranger, "\nparent=4194000\nstarted=1\n"));
  WriteText(dir / "4.pgid", RecordText(DeadProcess(), "short"));
  fs::create_symlink(dir / "v2/1.pgid", dir / "5.pgid");
  Report plan, report;
  SweepCodefly(dir.path(), {.dry_run = true}, absl::InfiniteFuture(), &plan);
  EXPECT_EQ(plan.planned, 1) << ToText(plan, true, false);
  SweepCodefly(dir.path(), {}, absl::Now() + absl::Minutes(1), &report);
  EXPECT_EQ(report.done, 1) << ToText(report, true, false);
  EXPECT_EQ(report.kept, 1);
  EXPECT_EQ(report.doubts, 3);
  int status = 0;
  EXPECT_EQ(waitpid(member, &status, 0), member);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_FALSE(fs::exists(dir / "v2/1.pgid"));
  EXPECT_TRUE(fs::exists(dir / "3.pgid"));
  EXPECT_EQ(waitpid(stranger, &status, WNOHANG), 0);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

}  // namespace
}  // namespace berth::reaper
