// Rows 1, 7, 9, 11 and 12 of the list of escapes, under the agent preset as it is compiled for this
// machine: what the filter holds, in both tiers, and that it is told.

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/compile.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/policy.h"
#include "sandbox/tiers.h"
#include "tests/escape/enclosed_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;

void Say(const std::string& what, long result) {
  printf("%s: %s\n", what.c_str(), result < 0 ? strerror(errno) : "done");
}

class AgentTest : public EnclosedTest, public testing::WithParamInterface<Tier> {
 protected:
  launcher::SandboxPlan Agent() {
    const absl::StatusOr<Policy> policy =
        Policy::Agent(work_).ReadOnly(getenv("BERTH_TEST_SELF")).Tier(GetParam()).Build();
    EXPECT_THAT(policy, IsOk());
    PolicyCompiler compiler(TierReport::Probe());
    const absl::StatusOr<CompiledPolicy> compiled = compiler.Compile(*policy, {.tmp_dir = work_});
    EXPECT_THAT(compiled, IsOk());
    return compiled.ok() ? compiled->plan : launcher::SandboxPlan();
  }
  Outcome Try(const char* actor) { return Run(Agent(), {getenv("BERTH_TEST_SELF"), "act", actor}); }
};

const Actor kTerminals("terminals", [](const std::vector<std::string>&) {
  const char byte = 'x';
  Say("TIOCSTI", ioctl(0, 0x5412, &byte));
  Say("TIOCSTI with high bits", syscall(SYS_ioctl, 0, 0x5412 | (1ul << 32), &byte));
  Say("TIOCLINUX", ioctl(0, 0x541c, &byte));
  int discipline = 0;
  Say("TIOCSETD", ioctl(0, 0x5423, &discipline));
  return 0;
});

// CVE-2017-5226, CVE-2019-10063.
TEST_P(AgentTest, NothingCanBeTypedIntoATerminal) {
  const Outcome outcome = Try("terminals");
  EXPECT_EQ(outcome.out,
            "TIOCSTI: Operation not permitted\nTIOCSTI with high bits: Operation not permitted\n"
            "TIOCLINUX: Operation not permitted\nTIOCSETD: Operation not permitted\n");
}

const Actor kNamespaces("namespaces", [](const std::vector<std::string>&) {
  Say("unshare user", unshare(CLONE_NEWUSER));
  Say("unshare net", unshare(CLONE_NEWNET));
  Say("setns", syscall(SYS_setns, 0, 0));
  Say("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  clone_args args{};
  args.flags = CLONE_NEWUSER;
  args.exit_signal = SIGCHLD;
  Say("clone3", syscall(SYS_clone3, &args, sizeof(args)));
  std::thread([] { printf("threads work\n"); }).join();
  return 0;
});

TEST_P(AgentTest, NoNamespaceCanBeMadeAndThreadsWork) {
  const Outcome outcome = Try("namespaces");
  EXPECT_FALSE(absl::StrContains(outcome.out, "done")) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("threads work\n"));
}

const Actor kCalls("calls", [](const std::vector<std::string>&) {
  Say("io_uring_setup", syscall(SYS_io_uring_setup, 1, nullptr));
  Say("bpf", syscall(SYS_bpf, 0, nullptr, 0));
  Say("perf_event_open", syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
  Say("userfaultfd", syscall(SYS_userfaultfd, 0));
  Say("kexec_load", syscall(SYS_kexec_load, 0, 0, nullptr, 0));
  Say("init_module", syscall(SYS_init_module, nullptr, 0, ""));
  Say("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, nullptr, 0));
  Say("acct", syscall(SYS_acct, nullptr));
  Say("swapon", syscall(SYS_swapon, "/", 0));
  Say("quotactl", syscall(SYS_quotactl, 0, nullptr, 0, nullptr));
  Say("add_key", syscall(SYS_add_key, "user", "k", "v", 1, -3));
  Say("keyctl", syscall(SYS_keyctl, 0, -3, 0));
  Say("ptrace", syscall(SYS_ptrace, 0, 0, 0, 0));
  Say("process_vm_readv", process_vm_readv(getpid(), nullptr, 0, nullptr, 0, 0));
  Say("kcmp", syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0));
  Say("personality", syscall(SYS_personality, 0x0040000));
  Say("PR_SET_MM", prctl(PR_SET_MM, 0, 0, 0, 0));
  return 0;
});

TEST_P(AgentTest, CallsThatNoAgentNeedsAreRefused) {
  const Outcome outcome = Try("calls");
  EXPECT_THAT(outcome.out, HasSubstr("PR_SET_MM: "));
  EXPECT_FALSE(absl::StrContains(outcome.out, "done")) << outcome.out;
}

const Actor kFamilies("families", [](const std::vector<std::string>&) {
  for (const int family : {AF_ALG, AF_VSOCK, AF_PACKET, AF_KEY, AF_XDP, AF_BLUETOOTH}) {
    Say(absl::StrCat("family ", family), socket(family, SOCK_RAW, 0));
  }
  return 0;
});

// CVE-2026-31431 was in AF_ALG.
TEST_P(AgentTest, OnlyTheListedFamiliesOfSocketsAreThere) {
  const Outcome outcome = Try("families");
  EXPECT_FALSE(absl::StrContains(outcome.out, "done")) << outcome.out;
}

#if defined(__x86_64__)
const Actor kForeign("foreign", [](const std::vector<std::string>&) {
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");  // getpid of i386
  printf("i386: %s\n", result > 0 ? "done" : "refused");
  printf("x32: %s\n", syscall(SYS_getpid | 0x40000000) > 0 ? "done" : "refused");
  return 0;
});

TEST_P(AgentTest, CallsOfAForeignAbiAreRefusedAndTold) {
  absl::StatusOr<launcher::Spawned> spawned =
      Start(Agent(), {getenv("BERTH_TEST_SELF"), "act", "foreign"}, work_, -1, -1);
  ASSERT_THAT(spawned, IsOk());
  const launcher::ExitNotice end = AwaitEnd(*spawned);
  AwaitGone(*spawned);
  const absl::StatusOr<std::string> told = client_->Violations(spawned->pid, 0);
  ASSERT_THAT(told, IsOk());
  launcher::Reader in(told->data(), told->size());
  EXPECT_TRUE(in.Get<uint64_t>() > 0 || end.reason == 8) << "neither told nor killed";
}
#endif

INSTANTIATE_TEST_SUITE_P(Tiers, AgentTest,
                         testing::Values(Tier::kNamespaces, Tier::kPooled, Tier::kLandlock),
                         [](const auto& tier) { return std::string(TierName(tier.param)); });

}  // namespace
}  // namespace berth
