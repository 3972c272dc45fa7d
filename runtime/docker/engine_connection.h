// How the engine at an address is connected to, and what to do when it is not.
#ifndef BERTH_RUNTIME_DOCKER_ENGINE_CONNECTION_H_
#define BERTH_RUNTIME_DOCKER_ENGINE_CONNECTION_H_

#include <memory>
#include <string>

#include "httplib.h"
#include "runtime/docker/engine_address.h"

namespace berth {

// Connects with its first request: by a socket's path, by TCP, by TLS, or through ssh.
std::unique_ptr<httplib::ClientImpl> ConnectToEngine(const EngineAddress& address);

// Why a request of such a client may have failed and what to look at, to be put behind the error's
// own words; "" if nothing is known.
std::string ConnectionHint(const EngineAddress& address, const httplib::ClientImpl& client,
                           httplib::Error error);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_ENGINE_CONNECTION_H_
