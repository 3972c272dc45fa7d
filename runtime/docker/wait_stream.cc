#include "runtime/docker/wait_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/ssh_connection.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

constexpr size_t kMaxHead = 16 << 10;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

absl::Status Gone(const EngineAddress& address, absl::string_view why, int ssh_errors = -1) {
  return absl::UnavailableError(absl::StrCat("the engine at ", address.text(), " does not answer (",
                                             why, ")",
                                             ssh_errors >= 0 ? SshHint(address, ssh_errors) : ""));
}

absl::StatusOr<Addresses> Resolve(const EngineAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(address.host().c_str(), absl::StrCat(address.port()).c_str(), &hints, &list);
  if (error != 0) return Gone(address, gai_strerror(error));
  return Addresses(list);
}

absl::StatusOr<UniqueFd> Connect(const EngineAddress& address, absl::Time deadline,
                                 UniqueFd* ssh_errors) {
  if (address.is_ssh()) {
    ABSL_ASSIGN_OR_RETURN(SshConnection ssh, OpenSsh(address));
    fcntl(ssh.socket.get(), F_SETFL, O_RDWR | O_NONBLOCK);
    *ssh_errors = std::move(ssh.errors);
    return std::move(ssh.socket);
  }
  sockaddr_un path{};
  const sockaddr* to = reinterpret_cast<const sockaddr*>(&path);
  socklen_t size = sizeof(path);
  Addresses addresses;
  if (address.is_unix()) {
    path.sun_family = AF_UNIX;
    memcpy(path.sun_path, address.path().data(), address.path().size());  // Parse saw to its length
  } else {
    ABSL_ASSIGN_OR_RETURN(addresses, Resolve(address));
    to = addresses->ai_addr;
    size = addresses->ai_addrlen;
  }
  UniqueFd fd(socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.ok()) return ErrnoStatus(errno, "make a socket");
  if (connect(fd.get(), to, size) != 0) {
    if (errno != EINPROGRESS) return Gone(address, strerror(errno));
    if (!WaitFd(fd.get(), POLLOUT, deadline, "").ok())
      return Gone(address, "no connection in time");
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return Gone(address, strerror(error));
  }
  return fd;
}

absl::StatusOr<UniqueFd> Send(const EngineAddress& address, const std::string& call,
                              absl::Time deadline, UniqueFd* ssh_errors) {
  if (address.is_tls())
    return absl::UnimplementedError("an answer under TLS is not to be waited for by poll");
  ABSL_ASSIGN_OR_RETURN(UniqueFd fd, Connect(address, deadline, ssh_errors));
  // 1.0: the answer ends with the connection and has no chunks.
  const std::string request =
      absl::StrCat(call, " HTTP/1.0\r\nHost: docker\r\nContent-Length: 0\r\n\r\n");
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return Gone(address, strerror(errno), ssh_errors->get());
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::string> NumericAddress(const EngineAddress& address) {
  if (address.is_ssh()) return SshRelayAddress(address);
  if (address.is_unix()) return absl::StrCat("unix:", address.path());
  ABSL_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(address));
  char host[NI_MAXHOST];
  const int error = getnameinfo(addresses->ai_addr, addresses->ai_addrlen, host, sizeof(host),
                                nullptr, 0, NI_NUMERICHOST);
  if (error != 0) return Gone(address, gai_strerror(error));
  if (address.is_tls()) {
    return absl::StrCat("tls:", host, ":", address.port(), "\n", address.host(), "\n",
                        address.tls_folder(), "\n", address.tls_verify() ? "verify" : "");
  }
  return absl::StrCat("tcp:", host, ":", address.port());
}

absl::StatusOr<UniqueFd> SendCall(const EngineAddress& address, const std::string& call,
                                  absl::Time deadline) {
  UniqueFd ssh_errors;
  return Send(address, call, deadline, &ssh_errors);
}

absl::StatusOr<UniqueFd> OpenStream(const EngineAddress& address, const std::string& call,
                                    absl::Time deadline) {
  UniqueFd ssh_errors;
  ABSL_ASSIGN_OR_RETURN(UniqueFd fd, Send(address, call, deadline, &ssh_errors));
  const auto gone = [&](absl::string_view why) { return Gone(address, why, ssh_errors.get()); };
  // One byte at a time: what is behind the head must stay there to be polled for.
  std::string text;
  while (!absl::EndsWith(text, "\r\n\r\n")) {
    if (text.size() >= kMaxHead) return gone("the head of its answer does not end");
    char byte;
    const ssize_t n = recv(fd.get(), &byte, 1, 0);
    if (n < 0 && errno == EAGAIN) {
      if (!WaitFd(fd.get(), POLLIN, deadline, "").ok()) return gone("no answer in time");
      continue;
    }
    if (n <= 0) return gone("the connection was closed");
    text.push_back(byte);
  }
  int status = 0;
  if (text.size() < 12 || !absl::SimpleAtoi(text.substr(9, 3), &status))
    return gone("its answer is not HTTP");
  if (status == 404) return absl::NotFoundError("the engine has no such thing");
  if (status != 200) return Gone(address, absl::StrCat("HTTP ", status));
  return fd;
}

absl::StatusOr<UniqueFd> OpenWait(const EngineAddress& address, const std::string& version,
                                  const std::string& container, absl::Time deadline) {
  absl::StatusOr<UniqueFd> fd = OpenStream(
      address, absl::StrCat("POST ", version, "/containers/", container, "/wait"), deadline);
  if (absl::IsNotFound(fd.status()))
    return absl::NotFoundError(absl::StrCat("the engine has no container ", container));
  return fd;
}

absl::StatusOr<int> ReadWait(int fd) {
  char text[4096];
  const ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);
  if (n <= 0) return absl::UnavailableError("the engine went away");
  const auto json = nlohmann::json::parse(text, text + n, nullptr, /*allow_exceptions=*/false);
  const auto it = json.is_object() ? json.find("StatusCode") : json.end();
  if (!json.is_object() || it == json.end() || !it->is_number_integer())
    return absl::UnavailableError("the engine's answer is malformed");
  return it->get<int>();
}

}  // namespace berth
