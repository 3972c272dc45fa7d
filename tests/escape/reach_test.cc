// Rows 13, 14, 17, 19 and 23 of the list of escapes: what of the host, and of other runs, can be
// reached.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "tests/escape/escape_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ReachTest : public EscapeTest {
 protected:
  static bool Reached(const UniqueFd& fd) {
    pollfd ready{fd.get(), POLLIN, 0};
    return poll(&ready, 1, 0) > 0;
  }
};

// "@name" is an abstract one.
socklen_t UnixAddress(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, name.data(), std::min(name.size(), sizeof(address->sun_path) - 1));
  if (name[0] == '@') address->sun_path[0] = '\0';
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() +
                                (name[0] == '@' ? 0 : 1));
}

sockaddr_storage InetAddress(int family, const char* host, int port, socklen_t* size) {
  sockaddr_storage storage{};
  if (family == AF_INET) {
    auto* in = reinterpret_cast<sockaddr_in*>(&storage);
    in->sin_family = AF_INET;
    in->sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, host, &in->sin_addr);
    *size = sizeof(*in);
  } else {
    auto* in = reinterpret_cast<sockaddr_in6*>(&storage);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET6, host, &in->sin6_addr);
    *size = sizeof(*in);
  }
  return storage;
}

// --- 13: sockets of the host ---

const Actor kSockets("sockets", [](const std::vector<std::string>& args) {
  for (const std::string& name : args) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
      sockaddr_un address;
      const socklen_t size = UnixAddress(name, &address);
      const UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
      Say(name, connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size));
      Say(absl::StrCat("send to ", name),
          sendto(fd.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&address), size));
    }
  }
  return 0;
});

TEST_P(ReachTest, SocketsOfTheHostAreOutOfReach) {
  std::vector<UniqueFd> servers;
  std::vector<std::string> command{"sockets"};
  for (const std::string& name :
       {absl::StrCat("@berth-escape-", getpid()), absl::StrCat(outside_, "/docker.sock")}) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      const std::string each = absl::StrCat(name, type);
      sockaddr_un address;
      const socklen_t size = UnixAddress(each, &address);
      UniqueFd server(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
      ASSERT_EQ(bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
      if (type == SOCK_STREAM) listen(server.get(), 8);
      servers.push_back(std::move(server));
      command.push_back(each);
    }
  }
  for (const char* path :
       {"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket",
        "/run/user/0/bus", "/tmp/.X11-unix/X0", "@/tmp/.X11-unix/X0", "/run/systemd/private",
        "/run/containerd/containerd.sock", "/run/systemd/notify"}) {
    command.push_back(path);
  }
  const Outcome outcome = Try(command);
  EXPECT_THAT(outcome.out, HasSubstr("notify: "));
  bool reached = false;
  for (const UniqueFd& server : servers) reached = reached || Reached(server);
  Held(13,
       "abstract sockets of the host; those of docker, D-Bus, X11, systemd, agents, tmux and berth "
       "by path",
       !reached && !AnyDone(outcome));
}

// --- 14: no network ---

const Actor kNetwork("network", [](const std::vector<std::string>& args) {
  int port = 0;
  if (!absl::SimpleAtoi(args[0], &port)) return 1;
  const struct {
    int family;
    const char* host;
    int port;
  } places[] = {{AF_INET, "127.0.0.1", port},       {AF_INET6, "::1", port},
                {AF_INET, "192.0.2.1", 443},        {AF_INET6, "2001:db8::1", 443},
                {AF_INET, "169.254.169.254", 80},   {AF_INET, "192.0.2.53", 53},
                {AF_INET6, "::ffff:192.0.2.1", 443}};
  for (const auto& place : places) {
    socklen_t size;
    const sockaddr_storage address = InetAddress(place.family, place.host, place.port, &size);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    for (const int protocol : {0, 262 /* MPTCP */}) {
      const UniqueFd tcp(socket(place.family, SOCK_STREAM | SOCK_CLOEXEC, protocol));
      Say(absl::StrCat("tcp ", place.host), connect(tcp.get(), to, size));
    }
    const UniqueFd fast(socket(place.family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    Say(absl::StrCat("fast open ", place.host),
        sendto(fast.get(), "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, to, size));
    const UniqueFd udp(socket(place.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    // To its own loopback a datagram may go, and is lost there.
    const long sent = sendto(udp.get(), "x", 1, 0, to, size);
    if (place.port != port) Say(absl::StrCat("udp ", place.host), sent);
    const int icmp = place.family == AF_INET ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6};
    const UniqueFd ping(socket(place.family, SOCK_DGRAM | SOCK_CLOEXEC, icmp));
    const char echo[8] = {8};
    if (place.port != port) {
      Say(absl::StrCat("ping ", place.host), sendto(ping.get(), echo, 8, 0, to, size));
    }
    Say(absl::StrCat("raw ", place.host), socket(place.family, SOCK_RAW | SOCK_CLOEXEC, icmp));
    Say("sctp", socket(place.family, SOCK_STREAM | SOCK_CLOEXEC, 132));
  }
  return 0;
});

const Actor kOwnLoopback("own-loopback", [](const std::vector<std::string>&) {
  socklen_t size;
  sockaddr_storage address = InetAddress(AF_INET, "127.0.0.1", 0, &size);
  const UniqueFd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(server.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(server.get(), 1) != 0 ||
      getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 1;
  }
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(client.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 ? 0 : 2;
});

TEST_P(ReachTest, WithoutANetworkNothingIsReachedAndItsOwnLoopbackWorks) {
  std::vector<UniqueFd> servers;
  int port = 0;
  for (const auto& [family, host, type] :
       {std::tuple(AF_INET, "127.0.0.1", SOCK_STREAM), std::tuple(AF_INET, "127.0.0.1", SOCK_DGRAM),
        std::tuple(AF_INET6, "::1", SOCK_STREAM), std::tuple(AF_INET6, "::1", SOCK_DGRAM)}) {
    socklen_t size;
    sockaddr_storage address = InetAddress(family, host, port, &size);
    UniqueFd server(socket(family, type | SOCK_CLOEXEC, 0));
    if (bind(server.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) continue;
    if (type == SOCK_STREAM) listen(server.get(), 8);
    ASSERT_EQ(getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
    servers.push_back(std::move(server));
  }
  ASSERT_FALSE(servers.empty());
  const Outcome outcome = Try({"network", absl::StrCat(port)});
  EXPECT_THAT(outcome.out, HasSubstr("sctp: "));
  const Outcome bash = Run(Agent(), {"/bin/bash", "-c",
                                     absl::StrCat("(echo x > /dev/tcp/127.0.0.1/", port,
                                                  ") 2> /dev/null && echo 'bash: done'")});
  bool reached = false;
  for (const UniqueFd& server : servers) reached = reached || Reached(server);
  Held(14, "TCP, MPTCP, UDP, DNS, ICMP, IPv6, raw sockets, /dev/tcp without a network",
       !reached && !AnyDone(outcome) && !AnyDone(bash));
  // Without namespaces there is none of its own.
  EXPECT_EQ(Try({"own-loopback"}).exit.code == 0, !landlock());
}

// --- 17: what one run leaves ---

const Actor kMark("mark", [](const std::vector<std::string>& args) {
  const bool leave = args[0] == "leave";
  const int make = leave ? IPC_CREAT | IPC_EXCL : 0;
  Say("shm", shmget(0x62727468, 4096, 0600 | make));
  Say("sem", semget(0x62727468, 1, 0600 | make));
  Say("msg", msgget(0x62727468, 0600 | make));
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 16;
  Say("mqueue", leave ? mq_open("/berth-mark", O_CREAT | O_EXCL | O_RDWR, 0600, &attributes)
                      : mq_open("/berth-mark", O_RDWR));
  for (const char* path : {"/tmp/berth-mark", "/var/tmp/berth-mark", "/dev/shm/berth-mark",
                           "/run/berth-mark", "/dev/berth-mark", "/berth-mark"}) {
    Say(path, open(path, O_RDWR | O_CLOEXEC | (leave ? O_CREAT | O_EXCL : 0), 0600));
  }
  return 0;
});

TEST_P(ReachTest, WhatOneRunLeavesNoOtherFinds) {
  const Outcome first = Try({"mark", "leave"});
  // Private folders are writable, where there are any.
  EXPECT_EQ(absl::StrContains(first.out, "/tmp/berth-mark: done"), !landlock()) << first.out;
  const Outcome second = Try({"mark", "look"});
  bool on_host = shmget(0x62727468, 4096, 0600) >= 0 || semget(0x62727468, 1, 0600) >= 0 ||
                 msgget(0x62727468, 0600) >= 0 || mq_open("/berth-mark", O_RDWR) >= 0;
  for (const char* path : {"/tmp/berth-mark", "/var/tmp/berth-mark", "/dev/shm/berth-mark",
                           "/run/berth-mark", "/dev/berth-mark", "/berth-mark"}) {
    on_host = on_host || fs::exists(path);
  }
  Held(17,
       "find a mark of an earlier run in /tmp, /dev/shm, message queues, System V; leave one on "
       "the host",
       !on_host && !AnyDone(second));
}

// --- 19: cgroups ---

TEST_P(ReachTest, CVE_2022_0492_ControlGroupsAreOutOfReach) {
  const Outcome outcome = TryLine(
      "for f in $(find /sys/fs/cgroup /proc/self/cgroup -name release_agent -o -name '*.max' -o "
      "-name cgroup.procs -o -name tasks 2> /dev/null | head -n 300); do "
      "(echo $$ >> $f) 2> /dev/null && echo \"$f: done\"; done; "
      "(echo 1 > /sys/fs/cgroup/memory/notify_on_release) 2> /dev/null && echo 'notify: done'; "
      "mkdir /sys/fs/cgroup/berth-escape 2> /dev/null && echo 'mkdir: done'; "
      "mount -t cgroup -o memory x /tmp 2> /dev/null && echo 'mount: done'; echo looked");
  EXPECT_THAT(outcome.out, HasSubstr("looked"));
  Held(19, "cgroup release_agent, own limits, a parent's cgroup.procs (CVE-2022-0492)",
       !AnyDone(outcome) && !fs::exists("/sys/fs/cgroup/berth-escape"));
}

// --- 23: secrets ---

TEST_P(ReachTest, SecretsCannotBeRead) {
  for (const char* folder : {".ssh", ".aws", ".config/gh"}) {
    fs::create_directories(absl::StrCat(outside_, "/", folder));
  }
  for (const char* file :
       {".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", "session.log"}) {
    Write(absl::StrCat("../outside/", file), "s3cr3t");
  }
  ASSERT_EQ(setenv("BERTH_TEST_SECRET", "s3cr3t", 1), 0);
  auto client = launcher::LauncherClient::Start("test");
  ASSERT_TRUE(client.ok());
  client_ = *std::move(client);
  unsetenv("BERTH_TEST_SECRET");
  fs::create_symlink(outside_, Path("link"));
  const Outcome outcome = TryLine(absl::StrCat(
      "for d in ", outside_, " link ../outside /proc/1/root", outside_, " /proc/1/cwd/../outside",
      "; do cat $d/.ssh/* $d/.aws/* $d/.config/gh/* $d/.netrc $d/session.log; done; env; "
      "cat /proc/*/environ | tr '\\0' '\\n'; cat /etc/shadow /etc/ssl/private/* && echo s3cr3t; "
      "echo looked"));
  EXPECT_THAT(outcome.out, HasSubstr("looked"));
  Held(23,
       "read the host's environment, ~/.ssh, ~/.aws, ~/.config, other sessions' workspaces and "
       "logs, by symlinks too",
       !absl::StrContains(outcome.out, "s3cr3t"));
}

INSTANTIATE_TEST_SUITE_P(Tiers, ReachTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
