#include "runtime/docker/engine_connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "httplib.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/ssh_connection.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

// Speaks on the connections of OpenSsh.
class SshClient final : public httplib::ClientImpl {
 public:
  explicit SshClient(const EngineAddress& address) : ClientImpl("docker"), address_(address) {}

  // Of the last connection: why there was none, or what ssh said.
  std::string Hint() const {
    if (!opened_.ok()) return absl::StrCat("; ", opened_.message());
    return errors_.ok() ? SshHint(address_, errors_.get()) : "";
  }

 private:
  bool create_and_connect_socket(Socket& socket, httplib::Error& error) override {
    absl::StatusOr<SshConnection> connection = OpenSsh(address_);
    opened_ = connection.status();
    error = opened_.ok() ? httplib::Error::Success : httplib::Error::Connection;
    if (!opened_.ok()) return false;
    errors_ = std::move(connection->errors);
    // For a write of more than the socket holds.
    const timeval limit{write_timeout_sec_, write_timeout_usec_};
    setsockopt(connection->socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    socket.sock = connection->socket.release();
    return true;
  }

  const EngineAddress address_;
  absl::Status opened_;
  UniqueFd errors_;
};

// What to look at when two sides do not agree on TLS.
std::string TlsHint(const EngineAddress& address, httplib::Error error) {
  if (!address.is_tls()) return "";
  const std::string& folder = address.tls_folder();
  for (const char* name : {"/ca.pem", "/cert.pem", "/key.pem"}) {
    if ((name[1] == 'k' || name[2] == 'e' || address.tls_verify()) &&
        access((folder + name).c_str(), R_OK) != 0)
      return absl::StrCat("; TLS: there is no ", folder, name, " to be read");
  }
  switch (error) {
    case httplib::Error::SSLServerVerification:
      return absl::StrCat("; TLS: the engine's certificate is not one of ", folder, "/ca.pem");
    case httplib::Error::SSLServerHostnameVerification:
      return absl::StrCat("; TLS: the engine's certificate is not for '", address.host(), "'");
    case httplib::Error::SSLLoadingCerts:
      return absl::StrCat("; TLS: the files in ", folder, " are no certificates");
    case httplib::Error::SSLConnection:
    case httplib::Error::Read:
      return absl::StrCat("; TLS: the engine may not take ", folder, "/cert.pem");
    default:
      return "";
  }
}

// What to do about a socket that cannot be connected to; the library does not tell why.
std::string SocketHint(const EngineAddress& address) {
  if (!address.is_unix()) return "";
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  memcpy(to.sun_path, address.path().data(), address.path().size());  // Parse saw to its length
  if (!fd.ok() || connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0)
    return "";
  switch (errno) {
    case ENOENT:
      return "; there is no such socket: start the engine, or name another with DOCKER_HOST";
    case ECONNREFUSED:
      return "; nobody listens there: start the engine";
    case EACCES:
      return "; this user may not open the socket: join the group that owns it";
    default:
      return "";
  }
}

}  // namespace

std::unique_ptr<httplib::ClientImpl> ConnectToEngine(const EngineAddress& address) {
  if (address.is_ssh()) return std::make_unique<SshClient>(address);
  if (!address.is_tls()) {
    auto plain = std::make_unique<httplib::ClientImpl>(address.host(),
                                                       address.is_unix() ? 80 : address.port());
    if (address.is_unix()) plain->set_address_family(AF_UNIX);
    return plain;
  }
  const std::string& folder = address.tls_folder();
  const std::string cert = folder + "/cert.pem", key = folder + "/key.pem";
  const bool has_cert = access(cert.c_str(), F_OK) == 0 || access(key.c_str(), F_OK) == 0;
  auto secure =
      has_cert ? std::make_unique<httplib::SSLClient>(address.host(), address.port(), cert, key)
               : std::make_unique<httplib::SSLClient>(address.host(), address.port());
  secure->enable_server_certificate_verification(address.tls_verify());
  secure->enable_server_hostname_verification(address.tls_verify());
  if (address.tls_verify()) secure->set_ca_cert_path(folder + "/ca.pem");
  return secure;
}

std::string ConnectionHint(const EngineAddress& address, const httplib::ClientImpl& client,
                           httplib::Error error) {
  if (address.is_ssh()) return static_cast<const SshClient&>(client).Hint();
  return error == httplib::Error::Connection ? SocketHint(address) : TlsHint(address, error);
}

}  // namespace berth
