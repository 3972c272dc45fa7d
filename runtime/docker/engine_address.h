// Where the engine is, as the docker command resolves it: $DOCKER_HOST, else the context that
// $DOCKER_CONTEXT or the configuration names, else the default socket.
//
//   ABSL_ASSIGN_OR_RETURN(EngineAddress address, EngineAddress::Resolve());
//
// Plain value; functions are thread-safe as long as nobody changes the environment.
#ifndef BERTH_RUNTIME_DOCKER_ENGINE_ADDRESS_H_
#define BERTH_RUNTIME_DOCKER_ENGINE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth {

class EngineAddress {
 public:
  static constexpr char kDefault[] = "unix:///var/run/docker.sock";

  // unix:///path and tcp://host[:port] (http:// too). Unimplemented, with the reason, for ssh, fd
  // and npipe; InvalidArgument for anything else.
  static absl::StatusOr<EngineAddress> Parse(absl::string_view text);

  // NotFound if the context that is named does not exist. Unimplemented for one that wants TLS:
  // this build has no TLS library, and an engine that asks for it is never talked to without.
  static absl::StatusOr<EngineAddress> Resolve();

  // As Parse takes it.
  const std::string& text() const { return text_; }
  bool is_unix() const { return port_ == 0; }
  const std::string& path() const { return host_; }  // of a unix socket
  const std::string& host() const { return host_; }
  int port() const { return port_; }

 private:
  EngineAddress() = default;
  std::string text_, host_;
  int port_ = 0;  // 0: a unix socket
};

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_ENGINE_ADDRESS_H_
