#include "sandbox/network/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/connection.h"
#include "sandbox/network/drop_rights.h"
#include "sandbox/network/host_name.h"
#include "sandbox/network/proxy_config.h"

namespace berth::network {
namespace {

using launcher::Message;
using launcher::NowNs;

constexpr size_t kMaxListeners = 8;

std::string ReadWhole(const char* path) {
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  char bytes[4096];
  ssize_t n;
  while (file.ok() && text.size() < 65536 && (n = read(file.get(), bytes, sizeof(bytes))) > 0)
    text.append(bytes, static_cast<size_t>(n));
  return text;
}

class Proxy : public ProxyContext {
 public:
  explicit Proxy(int control) : control_(control) {}
  int Run();
  void Denied(const std::string& what, const std::string& reason) override;

 private:
  std::string Configure(const Message& message);
  bool ServeControl();
  void Accept(int listener);
  int Timeout() const;

  const int control_;
  bool configured_ = false;
  size_t max_connections_ = 0;
  uint32_t lost_ = 0;  // denials that the owner had no room for
  std::vector<UniqueFd> listeners_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

void Proxy::Denied(const std::string& what, const std::string& reason) {
  launcher::Writer out;
  out.Put(std::string_view(what)).Put(std::string_view(reason)).Put(lost_);
  // An owner that does not read must not hold up the session, nor make us keep what it misses.
  const bool sent = launcher::SendMessage(control_, kProxyDenied, out.body(), nullptr, 0) == 0;
  lost_ = sent ? 0 : lost_ + 1;
}

// "" or what is wrong.
std::string Proxy::Configure(const Message& message) {
  ProxyConfig config;
  if (!config.Decode(message)) return "the proxy's configuration is malformed";
  for (const std::string& rule : config.rules) {
    if (!list.Add(rule)) return "'" + rule + "' is no host that can be listed";
  }
  for (const std::string& text : config.resolvers) {
    Host host;
    DnsServer server;
    if (!ParseHostPort(text, 53, &host, &server.port) || host.kind != Host::Kind::kAddress)
      return "'" + text + "' is no address of a name server";
    server.address = host.address;
    servers.push_back(server);
  }
  if (servers.empty()) servers = ReadResolvConf(ReadWhole("/etc/resolv.conf"));
  token = config.token;
  max_connections_ = config.max_connections;
  if (const int error = DropRights(2 * max_connections_ + 64)) {
    return "the proxy cannot drop its rights (errno " + std::to_string(error) + ")";
  }
  configured_ = true;
  return "";
}

bool Proxy::ServeControl() {
  Message message;
  const int error = launcher::ReceiveMessage(control_, &message);
  if (error == EAGAIN || error == EINTR) return true;
  if (error != 0) return false;
  if (message.type == kProxyConfigure && !configured_) {
    const std::string wrong = Configure(message);
    launcher::Writer out;
    out.Put(std::string_view(wrong));
    launcher::SendMessage(control_, kProxyReady, out.body(), nullptr, 0);
    return wrong.empty();
  }
  if (message.type == kProxyListen && listeners_.size() < kMaxListeners) {
    UniqueFd listener = message.TakeFd(0);
    if (listener.ok()) {
      fcntl(listener.get(), F_SETFL, fcntl(listener.get(), F_GETFL) | O_NONBLOCK);
      listeners_.push_back(std::move(listener));
    }
  }
  return true;
}

void Proxy::Accept(int listener) {
  while (connections_.size() < max_connections_) {
    UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.ok()) return;
    connections_.push_back(std::make_unique<Connection>(this, std::move(client), NowNs()));
  }
}

int Proxy::Timeout() const {
  uint64_t next = ~uint64_t{0};
  for (const auto& each : connections_) next = std::min(next, each->deadline_ns());
  if (next == ~uint64_t{0}) return -1;
  const uint64_t now = NowNs();
  return next <= now ? 0 : static_cast<int>((next - now) / 1000000 + 1);
}

int Proxy::Run() {
  fcntl(control_, F_SETFL, fcntl(control_, F_GETFL) | O_NONBLOCK);
  std::vector<pollfd> fds;
  std::vector<size_t> first;  // where each connection's descriptors begin
  while (true) {
    fds.assign({{control_, POLLIN, 0}});
    // At the most, new ones wait in the kernel's queue.
    const bool room = configured_ && connections_.size() < max_connections_;
    for (const UniqueFd& each : listeners_) fds.push_back({room ? each.get() : -1, POLLIN, 0});
    const size_t listeners = fds.size();
    first.clear();
    for (const auto& each : connections_) {
      first.push_back(fds.size());
      each->AppendPoll(&fds);
    }
    first.push_back(fds.size());
    if (poll(fds.data(), fds.size(), Timeout()) < 0) continue;

    const uint64_t now = NowNs();
    for (size_t i = 0; i + 1 < first.size(); ++i) {
      const auto begin = fds.begin() + static_cast<ptrdiff_t>(first[i]);
      const auto end = fds.begin() + static_cast<ptrdiff_t>(first[i + 1]);
      const bool ready = std::any_of(begin, end, [](const pollfd& fd) { return fd.revents != 0; });
      if (!ready && connections_[i]->deadline_ns() > now) continue;
      const bool hung = (begin->revents & (POLLERR | POLLHUP)) != 0;
      if (!connections_[i]->Step(now, hung)) connections_[i].reset();
    }
    std::erase(connections_, nullptr);
    for (size_t i = 1; i < listeners; ++i) {
      if (fds[i].revents != 0) Accept(fds[i].fd);
    }
    if (fds[0].revents != 0 && !ServeControl()) return 0;
  }
}

}  // namespace

int RunProxy(int control) { return Proxy(control).Run(); }

}  // namespace berth::network
