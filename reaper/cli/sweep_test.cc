// berth-reaper sweep, on machines of all kinds.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "reaper/cli/cli_test.h"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

TEST_F(ReaperCli, SweepsAndItsExitCodeSaysWhatItFound) {
  const auto store = Open("state");
  const std::vector<std::string> sweep{"sweep", "--state-dir", dir_ / "state"};
  const auto with = [&sweep](std::vector<std::string> more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  EXPECT_EQ(Run(sweep).code, 0);
  EXPECT_EQ(Run(with({"--quiet"})).out, "");

  MakeOrphan(*store, "orphan", dead_, [](Record& it) { it.labels["team"] = "red"; });
  const Ran plan = Run(with({"--dry-run"}));
  EXPECT_EQ(plan.code, 10) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("would be ended and removed: session orphan"));
  EXPECT_THAT(plan.out, HasSubstr("owner process"));
  EXPECT_THAT(plan.out, Not(HasSubstr("\x1b")));
  const Ran why = Run(with({"--explain", "orphan"}));
  EXPECT_EQ(why.code, 10);
  EXPECT_THAT(why.out, HasSubstr("nobody needs it"));
  EXPECT_EQ(Run(with({"--except", "^team=red$"})).code, 0);
  EXPECT_EQ(Run(with({"--only", "^other$"})).code, 0);
  EXPECT_EQ(Run(with({"--older-than", "1d"})).code, 0);
  EXPECT_THAT(store->Find("orphan"), IsOk());

  const std::string metrics = dir_ / "berth.prom";
  const Ran done = Run(with({"--json", "--metrics", metrics}));
  EXPECT_EQ(done.code, 10) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["done"], 1);
  EXPECT_EQ(json["items"][0]["name"], "orphan");
  EXPECT_EQ(json["items"][0]["result"], "done");
  EXPECT_THAT(ReadText(metrics), HasSubstr("\nberth_reaper_done 1\n"));
  EXPECT_TRUE(store->List()->records.empty());

  MakeOrphan(*store, "doubtful", *IdentifySelf());
  EXPECT_EQ(Run(sweep).code, 12);
}

TEST_F(ReaperCli, WrongUsageIsToldAndChangesNothing) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{},
                                             {"swep"},
                                             {"sweep", "--only", "("},
                                             {"sweep", "--older-than", "soon"},
                                             {"sweep", "--state-dir", "relative"},
                                             {"sweep", "--time", "-1s"},
                                             {"install"},
                                             {"install", "--user", "--system"}}) {
    const Ran ran = Run(args);
    EXPECT_EQ(ran.code, 2) << (args.empty() ? "" : args.back()) << ran.out << ran.err;
    EXPECT_NE(ran.err, "");
  }
  const Ran help = Run({"sweep", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:"));
  EXPECT_EQ(Run({"sweep", "--state-dir", dir_ / "none"}).code, 125);
  EXPECT_FALSE(fs::exists(dir_ / "none"));
}

TEST_F(ReaperCli, NeedsNothingOfTheMachineButProc) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change its root";
  if (getenv("BERTH_REAPER_IS_STATIC") == nullptr) {
    GTEST_SKIP() << "sanitizers cannot be linked statically";
  }
  fs::create_directories(dir_ / "root/proc");
  MakeOrphan(*Open("root/state"), "orphan", dead_);
  const Ran ran = Run({"sweep", "--state-dir", "/state"}, [&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("proc", (dir_ / "root/proc").c_str(), "proc", 0, nullptr) != 0 ||
        chroot((dir_ / "root").c_str()) != 0 || chdir("/") != 0) {
      _exit(126);
    }
  });
  EXPECT_EQ(ran.code, 10) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("session orphan"));
  EXPECT_TRUE(fs::is_empty(dir_ / "root/state/sessions"));
}

// System calls from that number on are not there: 442 is the first that Linux 5.10 (Debian 11) has
// not, 437 is openat2, which seccomp filters of older container runtimes do not know.
void WithoutCallsFrom(uint32_t first) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(code), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(126);
  }
}

TEST_F(ReaperCli, EndsWhatIsToEndOnAKernelAsOldAsDebian11s) {
  const auto store = Open("state");
  for (const uint32_t first : {442u, 437u}) {
    // What a killed keeper left: a process with the session's token.
    pid_t left = -1;
    MakeOrphan(*store, "orphan", dead_, [&](Record& it) {
      it.tree = kTreeSubreaper;
      std::string token = absl::StrCat("BERTH_TOKEN=", it.token), name = "sleep", time = "1000";
      char* const argv[] = {name.data(), time.data(), nullptr};
      char* const env[] = {token.data(), nullptr};
      // Returns once it has been executed.
      ASSERT_EQ(posix_spawn(&left, "/bin/sleep", nullptr, nullptr, argv, env), 0);
    });
    const Ran ran = Run({"sweep", "--grace", "0", "--state-dir", dir_ / "state"},
                        [&] { WithoutCallsFrom(first); });
    EXPECT_EQ(ran.code, 10) << first << ran.out << ran.err;
    int status = 0;
    EXPECT_EQ(waitpid(left, &status, 0), left);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    EXPECT_TRUE(store->List()->records.empty());
  }
}

}  // namespace
}  // namespace berth::reaper
