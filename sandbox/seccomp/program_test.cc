// The program that Assemble makes decides as the one that libseccomp makes of the same rules, on
// every number and on the arguments at which rules change their minds.
#include "sandbox/seccomp/program.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/seccomp/describe.h"
#include "sandbox/seccomp/filter.h"

namespace berth::seccomp {
namespace {

using ::absl_testing::IsOk;
using Kind = Condition::Kind;

#if defined(__x86_64__)
constexpr uint32_t kNative = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kNative = AUDIT_ARCH_AARCH64;
#endif

// What the kernel does with it.
uint32_t Decide(const std::string& program, const seccomp_data& call) {
  const auto* code = reinterpret_cast<const sock_filter*>(program.data());
  const size_t size = program.size() / sizeof(*code);
  uint32_t a = 0;
  for (size_t at = 0; at < size; ++at) {
    const sock_filter& step = code[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k > sizeof(call) - sizeof(a)) return 0xdead0001;
        memcpy(&a, reinterpret_cast<const char*>(&call) + step.k, sizeof(a));
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= step.k;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += a == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        at += a > step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += a >= step.k ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        return 0xdead0002;
    }
  }
  return 0xdead0003;
}

// libseccomp has no "none of these": each branch of the tree of bits that leads to none of them is
// one masked comparison.
std::vector<scmp_arg_cmp> Branches(const Condition& condition) {
  std::vector<scmp_arg_cmp> all;
  std::vector<std::pair<uint32_t, uint32_t>> open = {{0, 0}};
  for (int bit = 31; bit >= 0; --bit) {
    std::vector<std::pair<uint32_t, uint32_t>> next;
    for (const auto& [prefix, mask] : open) {
      for (const uint32_t side : {uint32_t{0}, uint32_t{1} << bit}) {
        const uint32_t wider = mask | (uint32_t{1} << bit);
        bool leads = false;
        for (const uint32_t value : condition.values) {
          leads = leads || (value & wider) == (prefix | side);
        }
        if (leads) next.emplace_back(prefix | side, wider);
        if (!leads) {
          all.push_back({condition.argument, SCMP_CMP_MASKED_EQ, wider, prefix | side});
        }
      }
    }
    open = next;
  }
  return all;
}

void AddTo(scmp_filter_ctx context, const Rule& rule) {
  std::vector<std::vector<scmp_arg_cmp>> ways = {{}};
  for (const Condition& condition : rule.conditions) {
    std::vector<scmp_arg_cmp> each;
    switch (condition.kind) {
      case Kind::kMasked:
        each = {{condition.argument, SCMP_CMP_MASKED_EQ, condition.mask, condition.value}};
        break;
      case Kind::kNotIn:
        each = Branches(condition);
        break;
      case Kind::kNull:
        each = {{condition.argument, SCMP_CMP_EQ, 0, 0}};
        break;
      case Kind::kNotNull:
        each = {{condition.argument, SCMP_CMP_NE, 0, 0}};
        break;
    }
    std::vector<std::vector<scmp_arg_cmp>> longer;
    for (const auto& way : ways) {
      for (const scmp_arg_cmp& one : each) {
        longer.push_back(way);
        longer.back().push_back(one);
      }
    }
    ways = longer;
  }
  for (const auto& way : ways) {
    const int error =
        seccomp_rule_add_array(context, rule.action, rule.number, static_cast<unsigned>(way.size()),
                               way.empty() ? nullptr : way.data());
    EXPECT_TRUE(error == 0 || error == -EEXIST) << rule.number << ": " << error;
  }
}

std::string ByLibseccomp(const std::vector<Rule>& rules, const Actions& actions) {
  std::unique_ptr<void, void (*)(void*)> context(seccomp_init(actions.otherwise), &seccomp_release);
  EXPECT_EQ(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, actions.foreign), 0);
  for (const Rule& rule : rules) AddTo(context.get(), rule);
  size_t size = 0;
  EXPECT_EQ(seccomp_export_bpf_mem(context.get(), nullptr, &size), 0);
  std::string program(size, '\0');
  EXPECT_EQ(seccomp_export_bpf_mem(context.get(), program.data(), &size), 0);
  program.resize(size);
  return program;
}

// Values of an argument around which the rules of one call differ.
std::vector<uint64_t> Edges(const std::vector<Rule>& rules, int number, unsigned argument) {
  std::vector<uint64_t> edges = {0, 1, ~uint64_t{0}, uint64_t{1} << 32};
  const auto around = [&edges](uint32_t value, uint32_t mask) {
    for (const uint64_t high : {uint64_t{0}, uint64_t{0xffffffff00000000}}) {
      edges.push_back(high | value);
      edges.push_back(high | value | ~mask);
      for (int bit = 0; bit < 32; ++bit) edges.push_back(high | (value ^ (uint32_t{1} << bit)));
    }
  };
  for (const Rule& rule : rules) {
    if (rule.number != number) continue;
    for (const Condition& condition : rule.conditions) {
      if (condition.argument != argument) continue;
      around(condition.value, condition.mask);
      for (const uint32_t value : condition.values) around(value, ~uint32_t{0});
    }
  }
  return edges;
}

void ExpectSame(const FilterSpec& spec) {
  const auto rules = FilterRules(spec);
  ASSERT_THAT(rules, IsOk());
  const Actions actions = FilterActions(spec);
  const std::string ours = Assemble(*rules, actions), theirs = ByLibseccomp(*rules, actions);
  EXPECT_LT(ours.size(), theirs.size());
  std::mt19937_64 random(1);
  int compared = 0;
  const auto compare = [&](const seccomp_data& call) {
    ++compared;
    ASSERT_EQ(Decide(ours, call), Decide(theirs, call))
        << "call " << call.nr << " of " << std::hex << call.arch << ": " << call.args[0] << ", "
        << call.args[1] << ", " << call.args[2] << ", " << call.args[3];
  };
  for (int number = 0; number < 1200; ++number) {
    for (const uint32_t arch : {kNative, uint32_t{AUDIT_ARCH_I386}, uint32_t{AUDIT_ARCH_ARM}}) {
      for (const uint32_t base : {0u, 0x40000000u}) {
        seccomp_data call{};
        call.nr = static_cast<int>(base + static_cast<uint32_t>(number));
        call.arch = arch;
        compare(call);
      }
    }
    std::vector<uint64_t> edges[6];
    bool any = false;
    for (unsigned i = 0; i < 6; ++i) {
      edges[i] = Edges(*rules, number, i);
      any = any || edges[i].size() > 4;
    }
    for (int i = 0; i < (any ? 20000 : 4); ++i) {
      seccomp_data call{};
      call.nr = number;
      call.arch = kNative;
      for (unsigned k = 0; k < 6; ++k) call.args[k] = edges[k][random() % edges[k].size()];
      compare(call);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (const int number : {-1, -2, 0x3fffffff, 0x7fffffff, 5000}) {
    seccomp_data call{};
    call.nr = number;
    call.arch = kNative;
    compare(call);
  }
  EXPECT_GT(compared, 100000);
}

TEST(Program, OfTheAgentPresetDecidesAsLibseccomps) {
  ExpectSame({.sockets = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK},
              .notify = true,
              .notify_connect = true});
}

TEST(Program, WithoutNotificationsDecidesAsLibseccomps) {
  ExpectSame({.sockets = {AF_UNIX, AF_INET}, .debugging = true});
}

TEST(Program, OfTheTierLandlockDecidesAsLibseccomps) {
  ExpectSame({.ipc = false, .own_pids = false, .notify = true});
}

TEST(Program, WithNamespacesAndDeniedCallsDecidesAsLibseccomps) {
  ExpectSame({.sockets = {AF_NETLINK},
              .namespaces = true,
              .notify = true,
              .deny = {"ioctl", "read", "socket", "clone"}});
}

TEST(Program, ThatTellsFilesDecidesAsLibseccomps) {
  ExpectSame(
      {.sockets = {AF_UNIX}, .notify = true, .notify_files = true, .deny = {"mkdir", "openat"}});
}

// Only what was allowed is notified besides, and whoever serves it can tell the two apart.
TEST(Program, ThatTellsFilesRefusesWhatItRefusesWithout) {
  FilterSpec spec = {.sockets = {AF_UNIX}, .notify = true, .deny = {"mkdirat"}};
  const auto rules = FilterRules(spec);
  ASSERT_THAT(rules, IsOk());
  const std::string before = CompileFilter(spec).value_or("");
  EXPECT_THAT(ToldFileCalls(spec), testing::IsEmpty());
  spec.notify_files = true;
  const std::string now = CompileFilter(spec).value_or("");
  const std::vector<int> told = ToldFileCalls(spec);
  EXPECT_THAT(told, testing::Contains(SYS_openat));
  EXPECT_THAT(told, testing::Not(testing::Contains(SYS_mkdirat)));
  std::mt19937_64 random(1);
  int notified = 0;
  for (int number = 0; number < 600; ++number) {
    std::vector<uint64_t> edges[6];
    for (unsigned k = 0; k < 6; ++k) edges[k] = Edges(*rules, number, k);
    for (int i = 0; i < 500; ++i) {
      seccomp_data call{};
      call.nr = number;
      call.arch = kNative;
      for (unsigned k = 0; k < 6; ++k) call.args[k] = edges[k][random() % edges[k].size()];
      const uint32_t was = Decide(before, call), is = Decide(now, call);
      const bool listed = std::find(told.begin(), told.end(), number) != told.end();
      if (listed && was == SECCOMP_RET_ALLOW) {
        ASSERT_EQ(is, SECCOMP_RET_USER_NOTIF) << number;
        ASSERT_FALSE(AsksForSetId(call)) << number;
        ++notified;
      } else {
        ASSERT_EQ(is, was) << number;
        ASSERT_TRUE(!listed || AsksForSetId(call)) << number;
      }
    }
  }
  EXPECT_GT(notified, 5000);
}

TEST(Program, TellsNoFilesWithoutASupervisor) {
  FilterSpec spec = {.sockets = {AF_UNIX}};
  const std::string before = CompileFilter(spec).value_or("");
  spec.notify_files = true;
  EXPECT_EQ(CompileFilter(spec).value_or("other"), before);
  EXPECT_THAT(ToldFileCalls(spec), testing::IsEmpty());
}

TEST(Program, TheFirstRuleThatHoldsCounts) {
  const std::string program =
      Assemble({{.number = 1, .action = SECCOMP_RET_ALLOW, .conditions = {{.value = 7}}},
                {.number = 1, .action = SECCOMP_RET_ERRNO | 1},
                {.number = 1, .action = SECCOMP_RET_ERRNO | 2}},
               {.otherwise = SECCOMP_RET_ERRNO | 3, .foreign = SECCOMP_RET_KILL_PROCESS});
  seccomp_data call{};
  call.arch = AUDIT_ARCH_X86_64;
  call.nr = 1;
  call.args[0] = 7;
  EXPECT_EQ(Decide(program, call), SECCOMP_RET_ALLOW);
  call.args[0] = 8;
  EXPECT_EQ(Decide(program, call), SECCOMP_RET_ERRNO | 1);
  call.nr = 2;
  EXPECT_EQ(Decide(program, call), SECCOMP_RET_ERRNO | 3);
}

TEST(Program, IsNotMadeOfARuleThatIsTooLongToJumpOver) {
  Condition none_of{.kind = Kind::kNotIn};
  for (uint32_t value = 0; value < 255; ++value) none_of.values.push_back(value);
  const Actions actions = {.otherwise = SECCOMP_RET_KILL_PROCESS,
                           .foreign = SECCOMP_RET_KILL_PROCESS};
  const Rule longest{.number = 1, .action = SECCOMP_RET_ALLOW, .conditions = {none_of}};
  const std::string program = Assemble({longest}, actions);
  seccomp_data call{};
  call.arch = AUDIT_ARCH_X86_64;
  call.nr = 1;
  EXPECT_EQ(Decide(program, call), SECCOMP_RET_KILL_PROCESS);
  call.args[0] = 255;
  EXPECT_EQ(Decide(program, call), SECCOMP_RET_ALLOW);

  none_of.values.push_back(255);
  const Rule longer{.number = 1, .action = SECCOMP_RET_ALLOW, .conditions = {none_of}};
  EXPECT_EQ(Assemble({longer}, actions), "");
}

}  // namespace
}  // namespace berth::seccomp
