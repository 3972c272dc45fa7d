#include "runtime/docker/relay/tls_tunnel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "runtime/docker/relay/queue.h"
#include "sandbox/base/unique_fd.h"

namespace berth::relay {
namespace {

constexpr size_t kPiece = 16 << 10;  // the longest record of TLS

std::string Why(const SSL* ssl) {
  const long verdict = ssl != nullptr ? SSL_get_verify_result(ssl) : X509_V_OK;
  if (verdict != X509_V_OK)
    return std::string("the engine's certificate: ") + X509_verify_cert_error_string(verdict);
  const unsigned long code = ERR_get_error();
  if (code == 0) return errno != 0 ? strerror(errno) : "the connection was closed";
  char text[256];
  ERR_error_string_n(code, text, sizeof(text));
  return text;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// In the tunnel. Null with *error; what was made stays until the process ends.
SSL* Handshake(int fd, const TlsTarget& target, std::string* error) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return *error = Why(nullptr), nullptr;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  const std::string ca = target.folder + "/ca.pem", cert = target.folder + "/cert.pem",
                    key = target.folder + "/key.pem";
  if (target.verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (SSL_CTX_load_verify_locations(context, ca.c_str(), nullptr) != 1)
      return *error = "read " + ca + ": " + Why(nullptr), nullptr;
  }
  if (Exists(cert) || Exists(key)) {
    if (SSL_CTX_use_certificate_chain_file(context, cert.c_str()) != 1)
      return *error = "read " + cert + ": " + Why(nullptr), nullptr;
    if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1)
      return *error = "read " + key + ": " + Why(nullptr), nullptr;
  }
  SSL* ssl = SSL_new(context);
  if (ssl == nullptr) return *error = Why(nullptr), nullptr;
  unsigned char binary[16];
  const bool is_address = inet_pton(AF_INET, target.host.c_str(), binary) == 1 ||
                          inet_pton(AF_INET6, target.host.c_str(), binary) == 1;
  if (is_address) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), target.host.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, target.host.c_str());
    X509_VERIFY_PARAM_set1_host(SSL_get0_param(ssl), target.host.c_str(), target.host.size());
  }
  SSL_set_fd(ssl, fd);
  errno = 0;
  if (SSL_connect(ssl) != 1) return *error = Why(ssl), nullptr;
  return ssl;
}

// Carries bytes both ways until one side ends.
void Carry(SSL* ssl, int engine, int ours) {
  SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SetNonBlocking(engine);
  SetNonBlocking(ours);
  Queue from_engine;
  std::string to_engine;
  char buffer[kPiece];
  while (true) {
    bool engine_writes = false;  // waits for room on the way to the engine
    const auto blocked = [&](int result) {
      const int error = SSL_get_error(ssl, result);
      engine_writes |= error == SSL_ERROR_WANT_WRITE;
      return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    };
    while (!to_engine.empty()) {
      const int n = SSL_write(ssl, to_engine.data(), static_cast<int>(to_engine.size()));
      if (n > 0) {
        to_engine.erase(0, static_cast<size_t>(n));
      } else if (blocked(n)) {
        break;
      } else {
        return;
      }
    }
    while (from_engine.empty()) {
      const int n = SSL_read(ssl, buffer, sizeof(buffer));
      if (n > 0) {
        from_engine.Push({buffer, static_cast<size_t>(n)});
        if (!from_engine.Write(ours)) return;
      } else if (blocked(n)) {
        break;
      } else {
        return;
      }
    }
    pollfd fds[] = {
        {engine,
         static_cast<short>((from_engine.empty() ? POLLIN : 0) | (engine_writes ? POLLOUT : 0)), 0},
        {ours,
         static_cast<short>((to_engine.empty() ? POLLIN : 0) | (from_engine.empty() ? 0 : POLLOUT)),
         0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (!from_engine.empty() && !from_engine.Write(ours)) return;
    if ((fds[1].revents & (POLLIN | POLLHUP)) != 0 && to_engine.empty()) {
      const ssize_t n = read(ours, buffer, sizeof(buffer));
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        SSL_shutdown(ssl);
        return;
      }
      if (n > 0) to_engine.assign(buffer, static_cast<size_t>(n));
    }
  }
}

[[noreturn]] void RunTunnel(int engine, int ours, const TlsTarget& target, int limit_ms) {
  prctl(PR_SET_NAME, "berth-tls");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  const timeval limit{limit_ms / 1000, limit_ms % 1000 * 1000};
  setsockopt(engine, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(engine, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  std::string error;
  SSL* ssl = Handshake(engine, target, &error);
  // A byte that says how it went, before anything else.
  const std::string word = ssl != nullptr ? "+" : "-" + error;
  if (write(ours, word.data(), word.size()) == ssize_t(word.size()) && ssl != nullptr)
    Carry(ssl, engine, ours);
  _exit(0);
}

}  // namespace

UniqueFd OpenTlsTunnel(UniqueFd connection, const TlsTarget& target, int limit_ms,
                       std::string* error) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return *error = strerror(errno), UniqueFd();
  UniqueFd ours(fds[0]), theirs(fds[1]);
  signal(SIGCHLD, SIG_IGN);  // tunnels end by themselves, and are not waited for
  const pid_t child = fork();
  if (child < 0) return *error = strerror(errno), UniqueFd();
  if (child == 0) {
    ours.reset();
    RunTunnel(connection.get(), theirs.get(), target, limit_ms);
  }
  connection.reset();
  theirs.reset();
  pollfd wait{ours.get(), POLLIN, 0};
  char word = '-';
  if (poll(&wait, 1, limit_ms) != 1) return *error = "no TLS in time", UniqueFd();
  if (read(ours.get(), &word, 1) == 1 && word == '+') return ours;
  char text[512];
  const ssize_t n = read(ours.get(), text, sizeof(text));
  *error = n > 0 ? std::string(text, static_cast<size_t>(n)) : "the tunnel ended";
  return UniqueFd();
}

}  // namespace berth::relay
