// Where the engine is, as the docker command resolves it: $DOCKER_HOST, else the context that
// $DOCKER_CONTEXT or the configuration names, else the default socket.
//
//   ABSL_ASSIGN_OR_RETURN(EngineAddress address, EngineAddress::Resolve());
//
// Plain value; functions are thread-safe as long as nobody changes the environment.
#ifndef BERTH_RUNTIME_DOCKER_ENGINE_ADDRESS_H_
#define BERTH_RUNTIME_DOCKER_ENGINE_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth {

class EngineAddress {
 public:
  static constexpr char kDefault[] = "unix:///var/run/docker.sock";

  // unix:///path, tcp://host[:port] (http:// too), ssh://[user@]host[:port][/path], and what text()
  // gives for an engine with TLS. Unimplemented, with the remedy, for fd and npipe; InvalidArgument
  // for anything else, and never with a password in its message.
  static absl::StatusOr<EngineAddress> Parse(absl::string_view text);

  // NotFound if the context that is named does not exist. A tcp engine is talked to with TLS if
  // $DOCKER_TLS_VERIFY or $DOCKER_TLS is set, or its context has certificates; only $DOCKER_TLS
  // without the other, or a context that says so, takes any certificate of the engine's.
  static absl::StatusOr<EngineAddress> Resolve();

  // As Parse takes it: what a record names an engine by. With TLS it is tls://host:port/folder, or
  // tls-any://… if the engine's certificate is not looked at.
  const std::string& text() const { return text_; }
  bool is_unix() const { return port_ == 0 && !is_ssh_; }
  const std::string& path() const { return host_; }  // of a unix socket
  const std::string& host() const { return host_; }
  int port() const { return port_; }  // with ssh 0 is ssh's own choice
  bool is_ssh() const { return is_ssh_; }
  const std::string& ssh_user() const { return ssh_user_; }  // "" is ssh's own choice
  // Of the socket on the other machine; "" is what the docker command there takes.
  const std::string& ssh_path() const { return ssh_path_; }
  bool is_tls() const { return !tls_folder_.empty(); }
  // With ca.pem, cert.pem and key.pem.
  const std::string& tls_folder() const { return tls_folder_; }
  bool tls_verify() const { return tls_verify_; }

 private:
  EngineAddress() = default;
  // `text` is a tcp address. Docker's port for TLS is 2376.
  static absl::StatusOr<EngineAddress> WithTls(absl::string_view text, const std::string& folder,
                                               bool verify);
  absl::Status TakeHost(absl::string_view rest, int default_port);
  absl::Status TakeSsh(absl::string_view rest);

  std::string text_, host_, tls_folder_, ssh_user_, ssh_path_;
  bool tls_verify_ = true, is_ssh_ = false;
  int port_ = 0;  // 0: a unix socket, or ssh's own choice
};

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_ENGINE_ADDRESS_H_
