#include "runtime/docker/relay/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "runtime/docker/relay/ssh_errors.h"
#include "runtime/docker/relay/ssh_tunnel.h"
#include "runtime/docker/relay/tls_tunnel.h"
#include "sandbox/launcher/kernel.h"

namespace berth::relay {
namespace {

constexpr size_t kMaxAnswer = 4 << 20;
constexpr size_t kMaxHead = 64 << 10;

class Deadline {
 public:
  explicit Deadline(int ms) : at_(launcher::NowNs() + static_cast<uint64_t>(ms) * 1000000) {}
  bool Wait(int fd, short events) const {
    while (true) {
      const uint64_t now = launcher::NowNs();
      if (now >= at_) return errno = ETIMEDOUT, false;
      pollfd wait{fd, events, 0};
      const int n = poll(&wait, 1, static_cast<int>((at_ - now) / 1000000 + 1));
      if (n > 0) return true;
      if (n < 0 && errno != EINTR) return false;
    }
  }

 private:
  const uint64_t at_;
};

UniqueFd ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return errno = ENAMETOOLONG, UniqueFd();
  memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.ok() || connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    return UniqueFd();
  return fd;
}

UniqueFd ConnectTcp(const std::string& host, int port, const Deadline& deadline) {
  sockaddr_in6 six{};
  sockaddr_in four{};
  const bool is_six = inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1;
  if (!is_six && inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1)
    return errno = EINVAL, UniqueFd();
  six.sin6_family = AF_INET6;
  four.sin_family = AF_INET;
  six.sin6_port = four.sin_port = htons(static_cast<uint16_t>(port));
  UniqueFd fd(socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr* address =
      is_six ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
  if (!fd.ok()) return fd;
  if (connect(fd.get(), address, is_six ? sizeof(six) : sizeof(four)) != 0) {
    if (errno != EINPROGRESS || !deadline.Wait(fd.get(), POLLOUT)) return UniqueFd();
    int failed = 0;
    socklen_t size = sizeof(failed);
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &size);
    if (failed != 0) return errno = failed, UniqueFd();
  }
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // A machine elsewhere that vanishes is noticed.
  setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  return fd;
}

bool WriteAll(int fd, std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    if (!deadline.Wait(fd, POLLOUT)) return false;
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Sends the request and reads up to the end of the answer's head; what came behind it is in `body`.
Answer Exchange(int fd, std::string_view request, const Deadline& deadline) {
  std::string text;
  size_t end = std::string::npos;
  if (!WriteAll(fd, request, deadline)) return {0, strerror(errno)};
  while ((end = text.find("\r\n\r\n")) == std::string::npos) {
    char buffer[16 << 10];
    if (text.size() > kMaxHead) return {0, "the answer's head has no end"};
    if (!deadline.Wait(fd, POLLIN)) return {0, strerror(errno)};
    const ssize_t n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return {0, n == 0 ? "the connection was closed" : strerror(errno)};
    text.append(buffer, static_cast<size_t>(n));
  }
  Answer answer;
  if (text.compare(0, 7, "HTTP/1.") != 0 || text.size() < 12) return {0, "not HTTP"};
  answer.status = atoi(text.c_str() + 9);
  answer.body = text.substr(end + 4);
  if (answer.status < 100 || answer.status > 599) return {0, "not HTTP"};
  return answer;
}

std::string Head(const char* method, const std::string& path, const char* version,
                 std::string_view body, const char* more) {
  std::string head = std::string(method) + " " + path + " HTTP/" + version +
                     "\r\nHost: docker\r\nContent-Type: application/json\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n" + more + "\r\n";
  return head.append(body);
}

// With what ssh said, if there is no answer.
Answer Told(Answer answer, const UniqueFd& ssh_errors) {
  const std::string text =
      answer.status == 0 && ssh_errors.ok() ? ReadSshErrors(ssh_errors.get()) : "";
  if (!text.empty()) answer.body += "; ssh: " + text;
  return answer;
}

}  // namespace

UniqueFd Connect(const std::string& address, int limit_ms, std::string* error,
                 UniqueFd* ssh_errors) {
  const auto told = [error](UniqueFd fd) {
    if (!fd.ok()) *error = strerror(errno);
    return fd;
  };
  if (address.compare(0, 5, "unix:") == 0) return told(ConnectUnix(address.substr(5)));
  if (address.compare(0, 4, "ssh:") == 0)
    return OpenSshTunnel(address.substr(4), ssh_errors, error);
  const std::string where = address.substr(0, address.find('\n'));
  const size_t colon = where.rfind(':');
  if (colon == std::string::npos || colon < 4) return *error = "not an address", UniqueFd();
  UniqueFd fd = told(
      ConnectTcp(where.substr(4, colon - 4), atoi(where.c_str() + colon + 1), Deadline(limit_ms)));
  if (!fd.ok() || where.compare(0, 4, "tls:") != 0) return fd;
  std::string lines[3];
  size_t at = where.size();
  for (std::string& line : lines) {
    if (at >= address.size()) break;
    const size_t end = address.find('\n', at + 1);
    line = address.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    at = end;
  }
  return OpenTlsTunnel(std::move(fd), {lines[0], lines[1], lines[2] == "verify"}, limit_ms, error);
}

Answer Request(const std::string& address, const char* method, const std::string& path,
               std::string_view body, int limit_ms) {
  const Deadline deadline(limit_ms);
  std::string error;
  UniqueFd ssh_errors;
  const UniqueFd fd = Connect(address, limit_ms, &error, &ssh_errors);
  if (!fd.ok()) return {0, error};
  // 1.0: the answer ends with the connection, and has no chunks.
  Answer answer =
      Told(Exchange(fd.get(), Head(method, path, "1.0", body, ""), deadline), ssh_errors);
  while (answer.status != 0 && answer.status != 204 && answer.status != 304) {
    char buffer[16 << 10];
    if (answer.body.size() > kMaxAnswer) return {0, "the answer has no end"};
    if (!deadline.Wait(fd.get(), POLLIN)) return {0, strerror(errno)};
    const ssize_t n = recv(fd.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return {0, strerror(errno)};
    if (n == 0) break;
    answer.body.append(buffer, static_cast<size_t>(n));
  }
  return answer;
}

Answer Upgrade(const std::string& address, const std::string& path, std::string_view body,
               int limit_ms, UniqueFd* stream) {
  std::string error;
  UniqueFd ssh_errors;
  UniqueFd fd = Connect(address, limit_ms, &error, &ssh_errors);
  if (!fd.ok()) return {0, error};
  Answer answer = Told(
      Exchange(fd.get(), Head("POST", path, "1.1", body, "Connection: Upgrade\r\nUpgrade: tcp\r\n"),
               Deadline(limit_ms)),
      ssh_errors);
  if (answer.status == 101 || answer.status == 200) *stream = std::move(fd);
  return answer;
}

}  // namespace berth::relay
