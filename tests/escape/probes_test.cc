// Rows of the list of escapes that the namespaces and the loss of privileges stop by themselves,
// without a filter: each probe tries, and the host is looked at. Tier: namespaces.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "tests/escape/enclosed_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using Kind = launcher::SandboxMount::Kind;
namespace fs = std::filesystem;

using ProbesTest = EnclosedTest;

// Prints "what: errno" for what failed and "what: done" for what did not.
int Say(const char* what, long result) {
  printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
  return 0;
}

const Actor kMounts("mounts", [](const std::vector<std::string>& args) {
  Say("proc", mount("proc", "/tmp", "proc", 0, nullptr));
  Say("tmpfs", mount("t", "/tmp", "tmpfs", 0, nullptr));
  Say("remount", mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr));
  Say("bind", mount("/usr", "/tmp", nullptr, MS_BIND, nullptr));
  Say("unmount", umount2(args[0].c_str(), MNT_DETACH));
  Say("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 /* OPEN_TREE_CLONE */));
  Say("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0));
  Say("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
  Say("pivot_root", syscall(SYS_pivot_root, ".", "."));
  return Say("chroot", chroot("/tmp"));
});

// Row 6.
TEST_F(ProbesTest, NoMountCanBeMadeMovedRemountedOrTakenOff) {
  fs::create_directory(Path("hidden"));
  Write("hidden/key", "k");
  launcher::SandboxPlan plan = Plan();
  plan.mounts.push_back({.kind = Kind::kMask, .target = Path("hidden")});
  const Outcome outcome = Act(plan, {"mounts", Path("hidden")});
  EXPECT_THAT(outcome.out, HasSubstr("chroot: Operation not permitted"));
  EXPECT_FALSE(absl::StrContains(outcome.out, "done")) << outcome.out;
}

const Actor kPrivileges("privileges", [](const std::vector<std::string>&) {
  for (const char* file : {"setgroups", "uid_map", "gid_map"}) {
    const UniqueFd fd(open(absl::StrCat("/proc/self/", file).c_str(), O_WRONLY | O_CLOEXEC));
    Say(file, fd.ok() ? write(fd.get(), "0 0 1000\n", 9) : -1);
  }
  Say("setuid", setuid(getuid() + 1));
  Say("setgid", setgid(getgid() + 1));
  Say("mknod", mknod("device", S_IFBLK | 0600, 0x800));
  Say("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
  Say("sethostname", sethostname("x", 1));
  return Say("priority", setpriority(PRIO_PROCESS, 0, -10));
});

// Rows 8 and 18.
TEST_F(ProbesTest, NothingGivesAPrivilege) {
  const Outcome outcome = Act(Plan(), {"privileges"});
  EXPECT_THAT(outcome.out, HasSubstr("priority: "));
  EXPECT_FALSE(absl::StrContains(outcome.out, "done")) << outcome.out;
  EXPECT_FALSE(fs::exists(Path("device")));
  const Outcome status = Shell(Plan(), "grep -E '^(Cap|NoNewPrivs)' /proc/self/status");
  EXPECT_EQ(status.out,
            "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
            "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_F(ProbesTest, ASetUserIdProgramInTheWorkspaceGivesNothing) {
  const Outcome outcome =
      Shell(Plan(),
            "cp /usr/bin/id me && chmod 4755 me; ./me -u; grep -c space /proc/self/mountinfo; "
            "grep space /proc/self/mountinfo | grep -c nosuid");
  EXPECT_EQ(outcome.out, absl::StrCat(geteuid(), "\n1\n1\n")) << outcome.err;
}

const Actor kLook("look", [](const std::vector<std::string>& args) {
  pid_t pid = 0;
  if (!absl::SimpleAtoi(args[0], &pid)) return 1;
  const int seen = kill(pid, SIGKILL);
  Say("kill", seen);
  Say("pidfd", syscall(SYS_pidfd_open, pid, 0));
  if (seen == 0) return 1;  // not enclosed: the last probe would end the machine
  return Say("everybody", kill(-1, SIGKILL));
});

// Row 10.
TEST_F(ProbesTest, OutsidersCannotBeSeenNorSignalled) {
  const Outcome outcome = Act(Plan(), {"look", absl::StrCat(getpid())});
  EXPECT_THAT(outcome.out, HasSubstr("kill: No such process\npidfd: No such process\n"));
}

TEST_F(ProbesTest, InitCannotBeLookedIntoKilledOrExecuted) {
  const Outcome outcome = Shell(Plan(),
                                "kill -KILL 1; cat /proc/1/maps /proc/1/environ; readlink "
                                "/proc/1/fd/*; cat /proc/1/fd/*; readlink /proc/1/exe; "
                                "ls /proc/1/root; echo x > /proc/1/exe; echo still here");
  EXPECT_EQ(outcome.out, "still here\n");
}

// Row 2, CVE-2019-5736.
TEST_F(ProbesTest, TheProgramOfTheHelperCannotBeReachedByProcSelfExe) {
  Write("script", "#!/proc/self/exe\n");
  fs::permissions(Path("script"), fs::perms::owner_all);
  const absl::StatusOr<launcher::Spawned> spawned = Start(Plan(), {Path("script")}, work_, -1, -1);
  if (spawned.ok()) AwaitGone(*spawned);
  // The helper still is what it was: it starts others.
  EXPECT_EQ(Shell(Plan(), "exit 6").exit.code, 6);
}

const Actor kOpens("opens", [](const std::vector<std::string>&) {
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 && fd > 2) printf("fd %d is open\n", fd);
  }
  printf("looked\n");
  return 0;
});

// Row 3, CVE-2024-21626.
TEST_F(ProbesTest, NoDescriptorOfTheHelperIsInheritedAndNoneIsAWorkingDirectory) {
  EXPECT_EQ(Act(Plan(), {"opens"}).out, "looked\n");
  for (int fd = 3; fd < 16; ++fd) {
    EXPECT_FALSE(Start(Plan(), {"/bin/true"}, absl::StrCat("/proc/self/fd/", fd), -1, -1).ok());
  }
}

const Actor kReach("reach", [](const std::vector<std::string>& args) {
  sockaddr_un abstract{};
  abstract.sun_family = AF_UNIX;
  memcpy(abstract.sun_path + 1, args[0].data(), args[0].size());
  const UniqueFd unix_socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Say("abstract",
      connect(unix_socket.get(), reinterpret_cast<sockaddr*>(&abstract),
              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + args[0].size())));
  sockaddr_un by_path{};
  by_path.sun_family = AF_UNIX;
  snprintf(by_path.sun_path, sizeof(by_path.sun_path), "/run/dbus/system_bus_socket");
  const UniqueFd bus(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Say("path", connect(bus.get(), reinterpret_cast<sockaddr*>(&by_path), sizeof(by_path)));
  int port = 0;
  if (!absl::SimpleAtoi(args[1], &port)) return 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const UniqueFd tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Say("host", connect(tcp.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  address.sin_addr.s_addr = inet_addr("192.0.2.1");
  const UniqueFd far(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Say("far", connect(far.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  const UniqueFd udp(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Say("udp", sendto(udp.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  Say("raw", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  Say("packet", socket(AF_PACKET, SOCK_RAW, 0));
  // Its own loopback works.
  const UniqueFd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      listen(server.get(), 1) == 0) {
    const UniqueFd own(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    printf("own: %d\n", connect(own.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  }
  return 0;
});

// Rows 13 and 14.
TEST_F(ProbesTest, NothingOfTheHostsNetworkIsReachableAndItsOwnLoopbackWorks) {
  const std::string name = absl::StrCat("berth-test-", getpid());
  sockaddr_un abstract{};
  abstract.sun_family = AF_UNIX;
  memcpy(abstract.sun_path + 1, name.data(), name.size());
  const UniqueFd host_unix(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(host_unix.get(), reinterpret_cast<sockaddr*>(&abstract),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  ASSERT_EQ(listen(host_unix.get(), 1), 0);
  const UniqueFd host_tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(host_tcp.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(getsockname(host_tcp.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(listen(host_tcp.get(), 1), 0);
  const Outcome outcome = Act(Plan(), {"reach", name, absl::StrCat(ntohs(address.sin_port))});
  EXPECT_FALSE(absl::StrContains(outcome.out, "done")) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("abstract: Connection refused"));
  EXPECT_THAT(outcome.out, HasSubstr("own: 0\n"));
}

const Actor kMark("mark", [](const std::vector<std::string>& args) {
  const int shm = shmget(0x62727468, 4096, 0600 | (args[0] == "leave" ? IPC_CREAT | IPC_EXCL : 0));
  Say("sysv", shm);
  for (const char* path : {"/tmp/mark", "/dev/shm/mark"}) {
    Say(path, open(path, O_RDWR | (args[0] == "leave" ? O_CREAT | O_EXCL : 0), 0600));
  }
  return 0;
});

// Row 17.
TEST_F(ProbesTest, WhatOneRunLeavesInPrivatePlacesAnotherDoesNotFind) {
  const Outcome first = Act(Plan(), {"mark", "leave"});
  EXPECT_EQ(first.out, "sysv: done\n/tmp/mark: done\n/dev/shm/mark: done\n");
  const Outcome second = Act(Plan(), {"mark", "look"});
  EXPECT_FALSE(absl::StrContains(second.out, "done")) << second.out;
  EXPECT_FALSE(fs::exists("/dev/shm/mark"));
  EXPECT_EQ(shmget(0x62727468, 4096, 0600), -1);
}

// Rows 19 and 24, and what the host's root may write to by its name alone.
TEST_F(ProbesTest, TheKernelsSettingsCannotBeWritten) {
  const Outcome outcome =
      Shell(Plan(),
            "ls -d /sys /sys/fs/cgroup; for f in $(find /proc -path '/proc/[0-9]*' -prune -o "
            "-path /proc/self -prune -o -path /proc/thread-self -prune -o -type f -print); do "
            "test -w $f && (: >> $f) 2> /dev/null && echo writable $f; done; "
            "grep -s . /proc/sys/kernel/core_pattern > /dev/null; echo looked");
  EXPECT_EQ(outcome.out, "looked\n") << outcome.err;
}

// Row 23.
TEST_F(ProbesTest, TheHostsFilesAndEnvironmentAreNotThere) {
  Write("../outside/secret", "s");
  setenv("BERTH_TEST_SECRET", "s3cr3t", 1);
  const Outcome outcome =
      Shell(Plan(), absl::StrCat("cat ", outside_,
                                 "/secret; env; ls /root /home /var /run; "
                                 "cat /proc/*/environ | tr '\\0' '\\n' | grep SECRET"));
  EXPECT_FALSE(absl::StrContains(outcome.out, "s3cr3t"));
  EXPECT_THAT(outcome.err, HasSubstr("secret: No such file or directory"));
}

// Row 21.
TEST_F(ProbesTest, NothingOutlivesTheLeader) {
  const Outcome outcome =
      Shell(Plan(),
            "trap '' TERM HUP INT; (setsid sh -c 'trap \"\" TERM HUP INT; sleep 1000' > /dev/null "
            "2>&1 &); exit 0");
  EXPECT_EQ(outcome.exit.code, 0);  // and TearDown finds nothing left
}

}  // namespace
}  // namespace berth
