#include "runtime/ports/bind.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include <numeric>

namespace berth {
namespace {

// Below are the ports that well-known services are found on.
constexpr uint32_t kFirst = 20000;
constexpr uint32_t kEnough = 4096;

}  // namespace

int BindTcp(BindAddress address, uint16_t port, UniqueFd* out) {
  const bool six = address == BindAddress::kLoopback6 || address == BindAddress::kAny6;
  UniqueFd fd(socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.ok()) return errno;
  int result;
  if (six) {
    const int on = 1;
    if (setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) return errno;
    sockaddr_in6 name = {};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(port);
    name.sin6_addr = address == BindAddress::kAny6 ? in6addr_any : in6addr_loopback;
    result = bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  } else {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(address == BindAddress::kAny4 ? INADDR_ANY : INADDR_LOOPBACK);
    result = bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  }
  if (result != 0) return errno;
  *out = std::move(fd);
  return 0;
}

bool NoIpv6(int error) {
  // No such family; or the address is on no interface (net.ipv6.conf.lo.disable_ipv6, or lo is
  // down).
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL || error == EPROTONOSUPPORT;
}

PortChoice::PortChoice() {
  uint32_t low = 32768, high = 60999;
  if (FILE* file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re"); file != nullptr) {
    if (fscanf(file, "%u %u", &low, &high) != 2 || low < 1 || low > high || high > 65535)
      low = 32768, high = 60999;
    fclose(file);
  }
  if (low >= kFirst + kEnough) {
    first_ = kFirst;
    count_ = low - kFirst;
  } else if (high + kEnough <= 65535) {
    first_ = high + 1;
    count_ = 65535 - high;
  } else {
    first_ = low;
    count_ = high - low + 1;
  }
  uint32_t random[2];
  if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    random[0] = random[1] = static_cast<uint32_t>(now.tv_nsec);
  }
  at_ = random[0] % count_;
  step_ = random[1] % count_;
  while (std::gcd(step_, count_) != 1)
    ++step_;  // so that each port comes once before any comes again
}

uint16_t PortChoice::Next() {
  at_ = (at_ + step_) % count_;
  return static_cast<uint16_t>(first_ + at_);
}

}  // namespace berth
