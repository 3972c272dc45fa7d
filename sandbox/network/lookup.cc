#include "sandbox/network/lookup.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/network/dns.h"

namespace berth::network {
namespace {
constexpr uint64_t kTryNs = 2500000000;
constexpr unsigned kTriesOfEach = 2;
constexpr size_t kMostServers = 3;  // as the C library
}  // namespace

std::vector<DnsServer> ReadResolvConf(std::string_view text) {
  std::vector<DnsServer> servers;
  while (!text.empty() && servers.size() < kMostServers) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
    constexpr std::string_view kKey = "nameserver";
    if (line.substr(0, kKey.size()) != kKey) continue;
    line.remove_prefix(kKey.size());
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == 0 || begin == std::string_view::npos) continue;
    line.remove_prefix(begin);
    DnsServer server;
    if (ParseAddress(line.substr(0, line.find_first_of(" \t\r")), &server.address)) {
      servers.push_back(server);
    }
  }
  if (servers.empty()) {
    servers.emplace_back();
    ParseAddress("127.0.0.1", &servers.back().address);
  }
  return servers;
}

Lookup::Lookup(const std::vector<DnsServer>* servers, std::string name)
    : servers_(servers), name_(std::move(name)) {}

void Lookup::Ask(uint64_t now_ns) {
  const DnsServer& server = (*servers_)[tries_++ % servers_->size()];
  uint16_t id = 0;
  if (getrandom(&id, sizeof(id), 0) != sizeof(id)) return;
  question_ = DnsQuestion(id, name_, v6_);
  deadline_ = now_ns + kTryNs;
  sockaddr_storage to;
  const socklen_t size = ToSockaddr(server.address, server.port, &to);
  // Connected: the kernel drops what others send, and tells of a port that nobody listens on.
  socket_.reset(socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.ok() || connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), size) != 0 ||
      send(socket_.get(), question_.data(), question_.size(), MSG_NOSIGNAL) < 0) {
    deadline_ = now_ns;  // the next one, at once
  }
}

Lookup::State Lookup::Advance(uint64_t now_ns) {
  using Found = DnsAnswer::State;
  while (state_ == State::kWaiting) {
    bool again = question_.empty();
    while (!again) {
      char bytes[kMaxDnsAnswer];
      const ssize_t n = recv(socket_.get(), bytes, sizeof(bytes), 0);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        if (errno != EAGAIN) deadline_ = now_ns;
        break;
      }
      DnsAnswer answer = ReadDnsAnswer({bytes, static_cast<size_t>(n)}, question_);
      if (answer.state == Found::kFound) {
        addresses_ = std::move(answer.addresses);
        return state_ = State::kFound;
      }
      if (answer.state == Found::kFailed) {
        deadline_ = now_ns;
        break;
      }
      if (answer.state == Found::kNone) {
        if (v6_) return state_ = State::kNone;
        v6_ = true;
        tries_ = 0;
        again = true;
      }
    }
    if (!again && now_ns < deadline_) return state_;
    if (tries_ >= kTriesOfEach * servers_->size()) return state_ = State::kFailed;
    Ask(now_ns);
  }
  return state_;
}

}  // namespace berth::network
