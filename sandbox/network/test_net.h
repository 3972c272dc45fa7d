// A small network for tests, in a network namespace that the test has made: processes, addresses on
// the loopback, and a name server.
#ifndef BERTH_SANDBOX_NETWORK_TEST_NET_H_
#define BERTH_SANDBOX_NETWORK_TEST_NET_H_

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "sandbox/base/unique_fd.h"
#include "sandbox/network/address.h"

namespace berth::network {

// A process that runs `body` and is gone at the end of the test.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : parent_(getpid()), pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    _exit(0);
  }
  ~Child() {
    if (getpid() == parent_) Kill();
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  int Wait() {
    int status = -1;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

 private:
  const pid_t parent_;
  pid_t pid_;
};

inline bool LoopbackUp() {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request;
  memset(&request, 0, sizeof(request));
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  return ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0;
}

inline bool AddToLoopback(const char* address) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request;
  memset(&request, 0, sizeof(request));
  strcpy(request.ifr_name, "lo:1");
  auto* in = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  in->sin_family = AF_INET;
  inet_pton(AF_INET, address, &in->sin_addr);
  return ioctl(fd.get(), SIOCSIFADDR, &request) == 0;
}

inline UniqueFd Bound(int type, const char* host, uint16_t port) {
  Address address;
  ParseAddress(host, &address);
  sockaddr_storage to;
  const socklen_t size = ToSockaddr(address, port, &to);
  UniqueFd fd(socket(to.ss_family, type | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&to), size) != 0) return UniqueFd();
  return fd;
}

// A name server that knows these, each with one IPv4 or IPv6 address.
inline void ServeNames(int socket, const std::map<std::string, std::string>& names) {
  while (true) {
    char bytes[512];
    sockaddr_storage from;
    socklen_t size = sizeof(from);
    const ssize_t n =
        recvfrom(socket, bytes, sizeof(bytes), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (n < 12 + 5 + 11) continue;
    std::string answer(bytes, static_cast<size_t>(n) - 11);  // without EDNS
    std::string name;
    for (size_t at = 12; at < answer.size() && answer[at] != 0;) {
      const size_t length = static_cast<size_t>(answer[at]);
      name += (name.empty() ? "" : ".") + answer.substr(at + 1, length);
      at += length + 1;
    }
    const bool v6 = answer[answer.size() - 3] == 28;
    answer[2] = '\x81';
    answer[3] = '\x80';
    answer[11] = 0;
    Address address;
    const auto it = names.find(name);
    if (it == names.end()) {
      answer[3] = '\x83';
    } else if (ParseAddress(it->second, &address) && address.v6 == v6) {
      answer[7] = 1;
      answer += std::string("\xc0\x0c\x00", 3) + (v6 ? '\x1c' : '\x01') +
                std::string("\x00\x01\x00\x00\x00\x00\x00", 7) + (v6 ? '\x10' : '\x04');
      answer.append(reinterpret_cast<const char*>(address.bytes.data()), v6 ? 16 : 4);
    }
    sendto(socket, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }
}

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_TEST_NET_H_
