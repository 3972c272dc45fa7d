// Connection: one client of the proxy, from its first byte to its last. A state machine over two
// sockets that never block:
//
//   start -> (SOCKS login, SOCKS request | HTTP head) -> resolve -> connect -> open -> linger
//
// Nothing goes to a server before the client has shown the session's token and has asked for a host
// and port that are on the list; nothing of a TLS connection before its hello names that host too.
// Used by the helper: no Abseil, no exceptions. Not thread-safe.
#ifndef BERTH_SANDBOX_NETWORK_CONNECTION_H_
#define BERTH_SANDBOX_NETWORK_CONNECTION_H_

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/network/allow_list.h"
#include "sandbox/network/host_name.h"
#include "sandbox/network/lookup.h"

namespace berth::network {

// What all connections of a proxy share. Outlives them.
class ProxyContext {
 public:
  virtual ~ProxyContext() = default;
  // Something was stopped: what was tried, and the rule that stopped it.
  virtual void Denied(const std::string& what, const std::string& reason) = 0;

  AllowList list;
  std::string token;
  std::vector<DnsServer> servers;
};

class Connection {
 public:
  Connection(ProxyContext* context, UniqueFd client, uint64_t now_ns);

  // What it waits for now, until deadline_ns; the client's socket comes first.
  void AppendPoll(std::vector<pollfd>* fds) const;
  uint64_t deadline_ns() const;
  // Goes as far as it can without blocking. False once it is over. `hung`: the client is gone for
  // good (POLLERR, POLLHUP), which poll tells of without being asked, and again and again.
  bool Step(uint64_t now_ns, bool hung);

 private:
  enum class State : uint8_t {
    kStart,         // which protocol it is
    kHttp,          // the head of a request
    kSocksLogin,    // the greeting was answered
    kSocksRequest,  // it is who it should be
    kResolve,
    kConnect,
    kOpen,
    kLast,  // only what is in down_ is still sent
    kLinger,
    kOver,
  };
  void Enter(State state, uint64_t now_ns);
  // Each: true if something happened, and the next step may be possible.
  bool ReadHttp(uint64_t now_ns);
  bool ReadSocks(uint64_t now_ns);
  bool ReadStart(uint64_t now_ns);
  bool Resolve(uint64_t now_ns);
  bool Connect(uint64_t now_ns);
  bool Relay(uint64_t now_ns);
  bool Linger();
  bool CheckHello(uint64_t now_ns);
  bool Greeted(std::string_view credentials, std::string_view expected) const;

  // The host and port are known: on with it, or denied.
  void Ask(const Host& host, uint16_t port, const std::string& target, uint64_t now_ns);
  void Use(const std::vector<Address>& addresses, uint64_t now_ns);
  void TryNextAddress(uint64_t now_ns);
  void Connected(uint64_t now_ns);
  void Deny(const std::string& reason, uint64_t now_ns);
  // Ends with an answer in the client's protocol.
  void Refuse(std::string_view status, uint8_t socks_reply, const std::string& text,
              uint64_t now_ns);

  bool Receive(int socket, std::string* into, size_t most, bool* eof);
  bool Send(int socket, std::string* from, bool* broken);

  ProxyContext* const context_;
  UniqueFd client_, server_;
  State state_ = State::kStart;
  uint64_t deadline_ = 0;
  bool socks_ = false, answered_ = false;
  std::string up_, down_;  // to the server, to the client
  bool client_eof_ = false, server_eof_ = false, broken_ = false, up_shut_ = false;

  std::string target_;  // for people: "example.com:443"
  Host host_;
  uint16_t port_ = 0;
  bool hello_due_ = false;  // no byte of the client's has been let through yet
  // Of a plain request: its head, and how much of its body the client may still send. -1: no bound.
  std::string forward_;
  int64_t body_left_ = -1;
  std::optional<Lookup> lookup_;
  std::vector<Address> addresses_;
};

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_CONNECTION_H_
