// Rows 1 to 3, 8 to 10 and 21 of the list of escapes: the host's terminal, the helper, descriptors,
// privileges and processes.

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/sha256.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/pty.h"
#include "sandbox/launcher/wire.h"
#include "tests/escape/escape_test.h"
#include "tests/support/actor.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class HostTest : public EscapeTest {};

// --- 1: the terminal ---

const Actor kType("type", [](const std::vector<std::string>&) {
  const char byte = 'x';
  for (const unsigned long high : {0ul, 1ul << 32, 1ul << 63}) {
    Say("TIOCSTI", syscall(SYS_ioctl, 0, TIOCSTI | high, &byte));
    Say("TIOCLINUX", syscall(SYS_ioctl, 0, TIOCLINUX | high, &byte));
    const int discipline = 2;
    Say("TIOCSETD", syscall(SYS_ioctl, 0, TIOCSETD | high, &discipline));
  }
  const UniqueFd tty(open("/dev/tty", O_RDWR | O_CLOEXEC));
  Say("TIOCSTI on /dev/tty", ioctl(tty.get(), TIOCSTI, &byte));
  return 0;
});

// CVE-2017-5226 (bubblewrap), CVE-2019-10063 (flatpak: high bits pass a filter of 64 bits).
TEST_P(HostTest, CVE_2017_5226_NothingIsTypedIntoTheTerminal) {
  launcher::Pty pty;
  ASSERT_EQ(launcher::OpenPty(24, 80, &pty), 0);
  const launcher::SandboxPlan plan = Agent();
  launcher::SpawnRequest request;
  request.argv = ActorCommand({"type"});
  request.env = {"PATH=/usr/bin:/bin"};
  request.cwd = work_;
  request.terminal = true;
  for (int& fd : request.stdio) fd = pty.slave.get();
  request.plan = plan.Encode();
  const auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  EXPECT_EQ(AwaitEnd(*spawned).code, 0);
  AwaitGone(*spawned);
  int typed = -1, discipline = -1;
  // The input queue counts whole lines until it is raw.
  termios raw;
  ASSERT_EQ(tcgetattr(pty.slave.get(), &raw), 0);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON);
  ASSERT_EQ(tcsetattr(pty.slave.get(), TCSANOW, &raw), 0);
  ASSERT_EQ(ioctl(pty.slave.get(), FIONREAD, &typed), 0);
  ASSERT_EQ(ioctl(pty.slave.get(), TIOCGETD, &discipline), 0);
  // The kernel hands lines over one by one; with the last writer gone there is an end to them.
  pty.slave.reset();
  std::string output;
  char buffer[4096];
  for (ssize_t n; (n = read(pty.master.get(), buffer, sizeof(buffer))) > 0;)
    output.append(buffer, static_cast<size_t>(n));
  EXPECT_THAT(output, HasSubstr("TIOCSTI on /dev/tty: "));
  Held(1,
       "type into the terminal: TIOCSTI, with high bits too; TIOCLINUX, TIOCSETD (CVE-2017-5226, "
       "CVE-2019-10063)",
       typed == 0 && discipline == 0 && !absl::StrContains(output, ": done"));
}

// --- 2: the helper's own program ---

std::string BytesOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return Sha256Hex(text.str());
}

const Actor kOverwrite("overwrite", [](const std::vector<std::string>&) {
  for (const char* path : {"/proc/self/exe", "/proc/1/exe", "/proc/thread-self/exe"}) {
    for (const int flags : {O_WRONLY, O_WRONLY | O_TRUNC, O_RDWR}) {
      Say(path, open(path, flags | O_CLOEXEC));
    }
  }
  Say("truncate", truncate("/proc/self/exe", 0));
  // What runc's helper was caught by: its own descriptor of what it executes.
  for (int fd = 0; fd < 64; ++fd) {
    const std::string path = absl::StrCat("/proc/self/fd/", fd);
    char target[256];
    const ssize_t n = readlink(path.c_str(), target, sizeof(target));
    if (n > 0 && absl::StrContains(absl::string_view(target, static_cast<size_t>(n)), "memfd:")) {
      Say("memfd", open(path.c_str(), O_WRONLY | O_CLOEXEC));
    }
  }
  return 0;
});

TEST_P(HostTest, CVE_2019_5736_TheHelpersProgramCannotBeOverwritten) {
  const std::string helper = absl::StrCat("/proc/", client_->pid(), "/exe");
  const std::string before = BytesOf(helper);
  const Outcome outcome = Try({"overwrite"});
  EXPECT_THAT(outcome.out, HasSubstr("truncate: "));
  // As the command, which is then executed by whoever has /proc/self.
  for (const char* line : {"#!/proc/self/exe\n", "#!/proc/self/exe keeper\n", "#!/proc/1/exe\n"}) {
    Write("script", line);
    fs::permissions(Path("script"), fs::perms::owner_all);
    const auto spawned = Start(Agent(), {Path("script")}, work_, -1, -1);
    if (spawned.ok()) AwaitGone(*spawned);
  }
  EXPECT_EQ(TryLine("exit 6").exit.code, 6);
  Held(2, "overwrite the helper by /proc/self/exe, /proc/1/exe or #!/proc/self/exe (CVE-2019-5736)",
       !AnyDone(outcome) && BytesOf(helper) == before);
}

// --- 3: descriptors ---

const Actor kDescriptors("descriptors", [](const std::vector<std::string>& args) {
  for (int fd = 3; fd < 4096; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    printf("descriptor %d: done\n", fd);
  }
  // Up and out from whatever is there.
  for (int fd = 0; fd < 4096; ++fd) {
    std::string up = absl::StrCat("/proc/self/fd/", fd, "/");
    for (int i = 0; i < 40; ++i) up += "../";
    const UniqueFd secret(open((up + args[0]).c_str(), O_RDONLY | O_CLOEXEC));
    if (secret.ok()) printf("escape by %d: done\n", fd);
  }
  printf("looked\n");
  return 0;
});

TEST_P(HostTest, CVE_2024_21626_NoDescriptorOfTheHostIsThere) {
  Write("../outside/secret", "s");
  // A careless host: not close-on-exec, and a helper that is started with it.
  const UniqueFd careless(open(outside_.c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(fcntl(careless.get(), F_GETFD) & FD_CLOEXEC, 0);
  auto client = launcher::LauncherClient::Start("test");
  ASSERT_THAT(client, IsOk());
  client_ = *std::move(client);
  const Outcome outcome = Try({"descriptors", outside_ + "/secret"});
  EXPECT_THAT(outcome.out, HasSubstr("looked\n"));
  bool entered = false;
  for (int fd = 3; fd < 64; ++fd) {
    for (const char* form : {"/proc/self/fd/", "/proc/1/fd/", "/dev/fd/"}) {
      int out[2];
      ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
      const UniqueFd reads(out[0]);
      UniqueFd writes(out[1]);
      const auto spawned =
          Start(Agent(), {"/bin/cat", "secret"}, absl::StrCat(form, fd), writes.get(), -1);
      writes.reset();
      if (!spawned.ok()) continue;
      AwaitGone(*spawned);
      char byte;
      entered = entered || read(reads.get(), &byte, 1) == 1;
    }
  }
  Held(3,
       "use a descriptor that was left open, walk .. from one, /proc/self/fd/N as working "
       "directory (CVE-2024-21626)",
       !AnyDone(outcome) && !entered);
}

// --- 8: privileges ---

const Actor kPrivileges("privileges", [](const std::vector<std::string>&) {
  for (const char* file : {"setgroups", "uid_map", "gid_map"}) {
    const UniqueFd fd(open(absl::StrCat("/proc/self/", file).c_str(), O_WRONLY | O_CLOEXEC));
    Say(file, fd.ok() ? write(fd.get(), "0 0 1000\n", 9) : -1);
  }
  Say("setuid", setresuid(getuid() + 1, getuid() + 1, getuid() + 1));
  Say("setgid", setresgid(getgid() + 1, getgid() + 1, getgid() + 1));
  const gid_t group = 0;
  Say("setgroups", syscall(SYS_setgroups, 1, &group));
  Say("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
  Say("securebits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
  Say("priority", setpriority(PRIO_PROCESS, 0, -10));
  Say("host name", sethostname("x", 1));
  return 0;
});

TEST_P(HostTest, NothingGivesAPrivilege) {
  const Outcome outcome = Try({"privileges"});
  EXPECT_THAT(outcome.out, HasSubstr("host name: "));
  const Outcome status = TryLine("grep -E '^(Cap|NoNewPrivs)' /proc/self/status");
  bool none = absl::StrContains(status.out, "NoNewPrivs:\t1\n");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    none = none && absl::StrContains(status.out, absl::StrCat(set, ":\t0000000000000000\n"));
  }
  // A plain user without namespaces has no right to empty a set that nothing can be taken from.
  if (!landlock() || geteuid() == 0) {
    none = none && absl::StrContains(status.out, "CapBnd:\t0000000000000000\n");
  }
  Held(8, "gain capabilities or ids: setgroups, uid_map, gid_map, setuid, ambient sets",
       none && !AnyDone(outcome));
}

const Actor kSetId("set-id", [](const std::vector<std::string>&) {
  const UniqueFd made(open("made", O_CREAT | O_WRONLY | O_CLOEXEC, 06755));
  const UniqueFd plain(open("plain", O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
  Say("chmod", chmod("plain", 06755));
  Say("fchmod", fchmod(plain.get(), 04755));
  Say("fchmodat", fchmodat(AT_FDCWD, "plain", 02755, 0));
  Say("fchmodat2", syscall(452, AT_FDCWD, "plain", 04755, 0));
  Say("creat", creat("created", 04755));
  Say("mknod", mknod("node", S_IFREG | 04755, 0));
  struct {
    uint64_t flags = O_CREAT | O_WRONLY, mode = 04755, resolve = 0;
  } how;
  Say("openat2", syscall(SYS_openat2, AT_FDCWD, "opened", &how, sizeof(how)));
  const UniqueFd nameless(open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 04755));
  linkat(nameless.get(), "", AT_FDCWD, "linked", AT_EMPTY_PATH);
  // cap_setuid+ep
  const unsigned char caps[20] = {1, 0, 0, 2, 0x80};
  Say("file capability", setxattr("plain", "security.capability", caps, sizeof(caps), 0));
  return 0;
});

TEST_P(HostTest, NoSetUserIdOrFileCapabilityIsLeftForTheHost) {
  const Outcome outcome = Try({"set-id"});
  EXPECT_THAT(outcome.out, HasSubstr("file capability: "));
  bool none = true;
  for (const auto& entry : fs::directory_iterator(work_)) {
    struct stat st;
    ASSERT_EQ(lstat(entry.path().c_str(), &st), 0);
    char caps[64];
    none = none && (!S_ISREG(st.st_mode) || (st.st_mode & (S_ISUID | S_ISGID)) == 0) &&
           getxattr(entry.path().c_str(), "security.capability", caps, sizeof(caps)) < 0;
  }
  Held(8, "leave a set-user-id or set-group-id file, or one with capabilities, in the workspace",
       none && !AnyDone(outcome));
}

// --- 9: foreign system calls ---

#if defined(__x86_64__)
const Actor kForeign("foreign", [](const std::vector<std::string>&) {
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");  // getpid of i386
  printf("i386: %s\n", result > 0 ? "done" : "refused");
  printf("x32: %s\n", syscall(SYS_getpid | 0x40000000) > 0 ? "done" : "refused");
  // socketcall, which would get past a filter of socket families.
  asm volatile("int $0x80" : "=a"(result) : "a"(102), "b"(1), "c"(0) : "memory");
  printf("socketcall: %s\n", result >= 0 ? "done" : "refused");
  return 0;
});

TEST_P(HostTest, CallsOfAForeignAbiAreRefusedAndTold) {
  const auto spawned = Start(Agent(), ActorCommand({"foreign"}), work_, -1, -1);
  ASSERT_THAT(spawned, IsOk());
  const launcher::ExitNotice end = AwaitEnd(*spawned);
  AwaitGone(*spawned);
  const auto told = client_->Violations(spawned->pid, 0);
  ASSERT_THAT(told, IsOk());
  launcher::Reader in(told->data(), told->size());
  const Outcome outcome = Try({"foreign"});
  Held(9, "system calls of i386 (int 0x80) and x32; each is told as a violation",
       !AnyDone(outcome) && (in.Get<uint64_t>() >= 2 || end.reason == 8));
}
#endif

// --- 10: other processes ---

const Actor kOutsider("outsider", [](const std::vector<std::string>& args) {
  pid_t pid = 0;
  unsigned long address = 0;
  if (!absl::SimpleAtoi(args[0], &pid) || !absl::SimpleAtoi(args[1], &address)) return 1;
  Say("ptrace", ptrace(PTRACE_SEIZE, pid, nullptr, nullptr));
  char byte = 'x';
  iovec ours{&byte, 1}, theirs{reinterpret_cast<void*>(address), 1};
  Say("process_vm_writev", process_vm_writev(pid, &ours, 1, &theirs, 1, 0));
  Say("process_vm_readv", process_vm_readv(pid, &ours, 1, &theirs, 1, 0));
  Say("kcmp", syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, 0, 0));
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  Say("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, 0, 0));
  Say("pidfd_send_signal", syscall(SYS_pidfd_send_signal, pidfd, SIGURG, nullptr, 0));
  Say("kill", kill(pid, SIGURG));
  Say("tgkill", syscall(SYS_tgkill, pid, pid, SIGURG));
  Say("rt_sigqueueinfo", sigqueue(pid, SIGURG, {}));
  pid_t group = 0;
  if (!absl::SimpleAtoi(args[2], &group)) return 1;
  Say("group", kill(-group, SIGURG));
  Say("prlimit", [&] {
    const rlimit limit{1, 1};
    return prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
  }());
  Say("priority", setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 19));
  for (const char* file : {"mem", "environ", "maps", "root", "cwd", "exe", "fd/0", "ns/net"}) {
    Say(file, open(absl::StrCat("/proc/", pid, "/", file).c_str(), O_RDONLY | O_CLOEXEC));
  }
  const UniqueFd score(open(absl::StrCat("/proc/", pid, "/oom_score_adj").c_str(), O_WRONLY));
  Say("oom_score_adj", write(score.get(), "1000", 4));
  // Everybody. A signal that does nothing, should it arrive.
  kill(-1, SIGURG);
  return 0;
});

TEST_P(HostTest, OutsidersAreOutOfReach) {
  sigset_t urgent, before, pending;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &urgent, &before), 0);
  static char secret = 's';
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const Outcome outcome =
      Try({"outsider", absl::StrCat(getpid()), absl::StrCat(reinterpret_cast<uintptr_t>(&secret)),
           absl::StrCat(getpgrp())});
  EXPECT_THAT(outcome.out, HasSubstr("oom_score_adj: "));
  ASSERT_EQ(sigpending(&pending), 0);
  const bool signalled = sigismember(&pending, SIGURG) == 1;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  rlimit now;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  Held(10, "ptrace, read, compare with or take descriptors of outsiders; kill, also -1",
       !signalled && secret == 's' && now.rlim_cur == limit.rlim_cur && !AnyDone(outcome));
}

TEST_P(HostTest, ProcessesOfTheHostAreNotSeen) {
  const Outcome outcome = TryLine(absl::StrCat("cat /proc/", getpid(), "/comm; ls /proc"));
  Held(10, "see the host's processes in /proc",
       !absl::StrContains(outcome.out, absl::StrCat("\n", getppid(), "\n")),
       "`/proc` is the host's: names, states and command lines of processes can be read, memory "
       "and environment cannot");
}

// --- 21: nothing outlives ---

const Actor kDaemon("daemon", [](const std::vector<std::string>&) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1}) ::signal(signal, SIG_IGN);
  for (int i = 0; i < 3; ++i) {
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      prctl(PR_SET_PDEATHSIG, 0);
      prctl(PR_SET_CHILD_SUBREAPER, 1);
      setpgid(0, 0);
      StayForever();
    }
  }
  return 3;
});

TEST_P(HostTest, NothingOutlivesTheLeader) {
  const auto spawned = Start(Agent(), ActorCommand({"daemon"}), work_, -1, -1);
  ASSERT_THAT(spawned, IsOk());
  EXPECT_EQ(AwaitEnd(*spawned).code, 3);
  AwaitGone(*spawned);
  client_.reset();
  const std::vector<std::string> left = World::Leftovers();
  Held(21, "outlive the leader: setsid, double fork, ignored signals, cleared PDEATHSIG",
       left.empty());
}

INSTANTIATE_TEST_SUITE_P(Tiers, HostTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
