#include "sandbox/network/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/network/client_hello.h"
#include "sandbox/network/http_request.h"
#include "sandbox/network/proxy_config.h"
#include "sandbox/network/socks.h"

namespace berth::network {
namespace {

constexpr uint64_t kSecond = 1000000000;
// In each direction: enough for a request's head and for a hello, which are read whole.
constexpr size_t kBuffer = 16384;
constexpr uint16_t kHttps = 443;

// How long one may stay in each state.
uint64_t Patience(int state) {
  constexpr uint64_t kSeconds[] = {30, 30, 30, 30, 30, 10, 1800, 30, 5, 0};
  return kSeconds[state] * kSecond;
}

// Without telling by its time how much of it was right.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^
                 static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return different == 0;
}

// What a client asked for, fit to be printed: it may be any bytes.
std::string Printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 260)) out.push_back(c > 32 && c < 127 ? c : '?');
  return out;
}

void NoDelay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

Connection::Connection(ProxyContext* context, UniqueFd client, uint64_t now_ns)
    : context_(context), client_(std::move(client)) {
  NoDelay(client_.get());
  Enter(State::kStart, now_ns);
}

void Connection::Enter(State state, uint64_t now_ns) {
  state_ = state;
  deadline_ = now_ns + Patience(static_cast<int>(state));
}

uint64_t Connection::deadline_ns() const {
  return state_ == State::kResolve && lookup_.has_value()
             ? std::min(deadline_, lookup_->deadline_ns())
             : deadline_;
}

void Connection::AppendPoll(std::vector<pollfd>* fds) const {
  const bool open = state_ == State::kOpen;
  const bool reads_more = body_left_ != 0 && up_.size() < kBuffer;
  short client = 0;
  if (!client_eof_ &&
      (state_ < State::kResolve || state_ == State::kLinger || (open && reads_more)))
    client |= POLLIN;
  if (!down_.empty()) client |= POLLOUT;
  fds->push_back({client_.get(), client, 0});
  if (state_ == State::kResolve && lookup_.has_value()) fds->push_back({lookup_->fd(), POLLIN, 0});
  if (state_ == State::kConnect) fds->push_back({server_.get(), POLLOUT, 0});
  if (open) {
    short server = 0;
    if (!server_eof_ && down_.size() < kBuffer) server |= POLLIN;
    if (!up_.empty() && !hello_due_) server |= POLLOUT;
    fds->push_back({server != 0 ? server_.get() : -1, server, 0});
  }
}

bool Connection::Receive(int socket, std::string* into, size_t most, bool* eof) {
  if (*eof || into->size() >= most) return false;
  char bytes[kBuffer];
  const ssize_t n = recv(socket, bytes, std::min(sizeof(bytes), most - into->size()), 0);
  if (n > 0) {
    into->append(bytes, static_cast<size_t>(n));
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n < 0) broken_ = true;
  *eof = true;
  return true;
}

bool Connection::Send(int socket, std::string* from, bool* broken) {
  if (from->empty()) return false;
  const ssize_t n = send(socket, from->data(), from->size(), MSG_NOSIGNAL);
  if (n > 0) {
    from->erase(0, static_cast<size_t>(n));
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  *broken = true;
  return true;
}

bool Connection::Step(uint64_t now_ns, bool hung) {
  if (hung || now_ns >= deadline_) return false;
  for (bool moved = true; moved && state_ != State::kOver;) {
    moved = Send(client_.get(), &down_, &broken_);
    if (broken_) return false;
    if (state_ < State::kResolve) {
      moved |= Receive(client_.get(), &up_, kBuffer, &client_eof_);
      if (client_eof_) return false;
    }
    switch (state_) {
      case State::kStart:
        moved |= ReadStart(now_ns);
        break;
      case State::kHttp:
        moved |= ReadHttp(now_ns);
        break;
      case State::kSocksLogin:
      case State::kSocksRequest:
        moved |= ReadSocks(now_ns);
        break;
      case State::kResolve:
        moved |= Resolve(now_ns);
        break;
      case State::kConnect:
        moved |= Connect(now_ns);
        break;
      case State::kOpen:
        moved |= Relay(now_ns);
        break;
      case State::kLast:
        if (down_.empty()) {
          shutdown(client_.get(), SHUT_WR);
          server_.reset();
          Enter(State::kLinger, now_ns);
          moved = true;
        }
        break;
      case State::kLinger:
        moved |= Linger();
        break;
      case State::kOver:
        break;
    }
    if (broken_) return false;
  }
  return state_ != State::kOver;
}

// Closing a socket with unread bytes resets the connection, and the client may lose our last words.
bool Connection::Linger() {
  up_.clear();
  const bool moved = Receive(client_.get(), &up_, kBuffer, &client_eof_);
  if (client_eof_) state_ = State::kOver;
  return moved;
}

bool Connection::ReadStart(uint64_t now_ns) {
  if (up_.empty()) return false;
  socks_ = up_[0] == kSocksVersion;
  if (!socks_) {
    state_ = State::kHttp;
    return true;
  }
  const SocksGreeting greeting = ReadSocksGreeting(up_);
  if (greeting.state != SocksState::kComplete) return false;
  up_.erase(0, greeting.bytes);
  down_ += kSocksVersion;
  if (!greeting.password) {
    down_ += '\xff';
    Enter(State::kLast, now_ns);
    return true;
  }
  down_ += '\x02';
  state_ = State::kSocksLogin;
  return true;
}

bool Connection::ReadSocks(uint64_t now_ns) {
  if (state_ == State::kSocksLogin) {
    const SocksLogin login = ReadSocksLogin(up_);
    if (login.state == SocksState::kMalformed) broken_ = true;
    if (login.state != SocksState::kComplete) return false;
    up_.erase(0, login.bytes);
    down_ += '\x01';
    const bool known = login.user == kProxyUser && SameSecret(login.password, context_->token);
    down_ += known ? '\0' : '\x01';
    if (known) {
      state_ = State::kSocksRequest;
    } else {
      context_->Denied("use the proxy", "wrong credentials");
      Enter(State::kLast, now_ns);
    }
    return true;
  }
  const SocksRequest request = ReadSocksRequest(up_);
  if (request.state == SocksState::kMalformed) broken_ = true;
  if (request.state != SocksState::kComplete) return false;
  up_.erase(0, request.bytes);
  if (request.command != kSocksConnect) {
    context_->Denied(
        "SOCKS command " + std::to_string(request.command) + " to " + Printable(request.target),
        "the proxy connects and does nothing else");
    Refuse("", kSocksNoCommand, "", now_ns);
    return true;
  }
  Ask(request.host, request.port, request.target, now_ns);
  return true;
}

bool Connection::ReadHttp(uint64_t now_ns) {
  HttpRequest request = ReadHttpRequest(up_);
  if (request.state == HttpRequest::State::kPartial) return false;
  if (request.state == HttpRequest::State::kMalformed) {
    Refuse("400 Bad Request", 0, "this is no request that the proxy understands", now_ns);
    return true;
  }
  up_.erase(0, request.head_bytes);
  if (!SameSecret(request.credentials, BasicCredentials(kProxyUser, context_->token))) {
    // None at all is how many clients begin.
    if (!request.credentials.empty()) context_->Denied("use the proxy", "wrong credentials");
    Refuse("407 Proxy Authentication Required", 0, "use the address in $HTTPS_PROXY", now_ns);
    return true;
  }
  if (!request.connect) {
    forward_ = std::move(request.forward);
    body_left_ = static_cast<int64_t>(request.body_bytes);
    up_.resize(std::min(up_.size(), static_cast<size_t>(request.body_bytes)));
    body_left_ -= static_cast<int64_t>(up_.size());
  }
  Ask(request.host, request.port, request.target, now_ns);
  return true;
}

void Connection::Ask(const Host& host, uint16_t port, const std::string& target, uint64_t now_ns) {
  host_ = host;
  port_ = port;
  target_ = Printable(target);
  if (host_.kind == Host::Kind::kInvalid) {
    return Deny("not the name of a host: ASCII, or the xn-- form", now_ns);
  }
  target_ = host_.ToString() + ":" + std::to_string(port_);
  if (!context_->list.Allows(host_, port_)) return Deny(kNotListed, now_ns);
  hello_due_ = forward_.empty();
  if (host_.kind == Host::Kind::kAddress) {
    Enter(State::kResolve, now_ns);
    return Use({host_.address}, now_ns);
  }
  lookup_.emplace(&context_->servers, host_.name);
  Enter(State::kResolve, now_ns);
}

bool Connection::Resolve(uint64_t now_ns) {
  if (!lookup_.has_value()) return false;
  const Lookup::State state = lookup_->Advance(now_ns);
  if (state == Lookup::State::kWaiting) return false;
  const std::vector<Address> found = lookup_->addresses();
  lookup_.reset();
  if (state == Lookup::State::kFound) {
    Use(found, now_ns);
  } else {
    Refuse(
        "502 Bad Gateway", kSocksNoHost,
        state == Lookup::State::kNone ? "there is no host of that name" : "no name server answered",
        now_ns);
  }
  return true;
}

void Connection::Use(const std::vector<Address>& addresses, uint64_t now_ns) {
  for (const Address& address : addresses) {
    if (context_->list.AllowsTarget(address, port_)) addresses_.push_back(address);
  }
  if (addresses_.empty()) {
    return Deny("it leads to " + ToString(addresses[0]) + ", which is not public", now_ns);
  }
  std::reverse(addresses_.begin(), addresses_.end());
  TryNextAddress(now_ns);
}

void Connection::TryNextAddress(uint64_t now_ns) {
  while (!addresses_.empty()) {
    sockaddr_storage to;
    const socklen_t size = ToSockaddr(addresses_.back(), port_, &to);
    addresses_.pop_back();
    server_.reset(socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!server_.ok()) continue;
    NoDelay(server_.get());
    if (connect(server_.get(), reinterpret_cast<sockaddr*>(&to), size) == 0 ||
        errno == EINPROGRESS) {
      return Enter(State::kConnect, now_ns);
    }
  }
  Refuse("502 Bad Gateway", kSocksFailed, "the host does not answer", now_ns);
}

bool Connection::Connect(uint64_t now_ns) {
  pollfd ready{server_.get(), POLLOUT, 0};
  if (poll(&ready, 1, 0) != 1) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(server_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
    TryNextAddress(now_ns);
  } else {
    Connected(now_ns);
  }
  return true;
}

void Connection::Connected(uint64_t now_ns) {
  if (!forward_.empty()) {
    up_.insert(0, std::exchange(forward_, ""));
  } else if (socks_) {
    down_ += SocksReply(kSocksDone);
  } else {
    down_ += "HTTP/1.1 200 Connection established\r\n\r\n";
  }
  answered_ = true;
  Enter(State::kOpen, now_ns);
}

// True if the client's bytes may go on now.
bool Connection::CheckHello(uint64_t now_ns) {
  const ClientHello hello = ReadClientHello(up_);
  switch (hello.state) {
    case ClientHello::State::kPartial:
      if (client_eof_) state_ = State::kOver;
      return false;
    case ClientHello::State::kNotTls:
      // A port that was listed by itself may be of another protocol; 443 is for TLS.
      if (port_ != kHttps) return true;
      Deny("what was sent is not TLS", now_ns);
      return false;
    case ClientHello::State::kMalformed:
      Deny("its TLS hello is malformed", now_ns);
      return false;
    case ClientHello::State::kComplete:
      break;
  }
  if (hello.name.empty()) {
    if (host_.kind == Host::Kind::kAddress) return true;
    Deny("its TLS hello names no host", now_ns);
    return false;
  }
  const Host named = ParseHost(hello.name);
  const bool fits =
      host_.kind == Host::Kind::kName ? named == host_ : context_->list.Allows(named, port_);
  if (!fits) Deny("its TLS hello names " + Printable(hello.name), now_ns);
  return fits;
}

bool Connection::Relay(uint64_t now_ns) {
  bool moved = false;
  if (body_left_ != 0) {
    const size_t before = up_.size();
    size_t most = kBuffer;
    if (body_left_ > 0) most = std::min<size_t>(most, before + static_cast<size_t>(body_left_));
    moved |= Receive(client_.get(), &up_, most, &client_eof_);
    if (body_left_ > 0) body_left_ -= static_cast<int64_t>(up_.size() - before);
  }
  if (hello_due_ && (!up_.empty() || client_eof_)) {
    if (!CheckHello(now_ns)) return state_ != State::kOpen;
    hello_due_ = false;
  }
  bool server_broken = false;
  if (!hello_due_) moved |= Send(server_.get(), &up_, &server_broken);
  moved |= Receive(server_.get(), &down_, kBuffer, &server_eof_);
  moved |= Send(client_.get(), &down_, &broken_);
  if (client_eof_ && up_.empty() && !up_shut_) {
    shutdown(server_.get(), SHUT_WR);
    up_shut_ = true;
  }
  if (server_broken || server_eof_) {
    broken_ = false;
    Enter(State::kLast, now_ns);
    return true;
  }
  if (moved) deadline_ = now_ns + Patience(static_cast<int>(State::kOpen));
  return moved;
}

void Connection::Deny(const std::string& reason, uint64_t now_ns) {
  context_->Denied("connect " + target_, reason);
  Refuse("403 Forbidden", kSocksDenied, target_ + ": " + reason, now_ns);
}

void Connection::Refuse(std::string_view status, uint8_t socks_reply, const std::string& text,
                        uint64_t now_ns) {
  if (answered_) {
    // In the middle of TLS nothing that we could say would be understood.
    down_.clear();
  } else if (socks_) {
    down_ += SocksReply(socks_reply);
  } else {
    const std::string body = "berth: " + text + "\n";
    down_ += "HTTP/1.1 " + std::string(status) + "\r\n";
    if (status.substr(0, 3) == "407") down_ += "Proxy-Authenticate: Basic realm=\"berth\"\r\n";
    down_ += "Content-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  server_.reset();
  Enter(State::kLast, now_ns);
}

}  // namespace berth::network
