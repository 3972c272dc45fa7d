// The little of HTTP that a relay needs, over a socket of its own: a request whose answer is read
// to its end, and one that turns the connection into a stream. No heap of an engine's choosing: an
// answer is read up to a limit, by a deadline.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_HTTP_H_
#define BERTH_RUNTIME_DOCKER_RELAY_HTTP_H_

#include <string>
#include <string_view>

#include "sandbox/base/unique_fd.h"

namespace berth::relay {

// "unix:/path", "tcp:ADDRESS:PORT" with a numeric address, the lines "tls:ADDRESS:PORT", host,
// folder of certificates, and "verify" or "", or "ssh:" before the lines that OpenSshTunnel takes.
// Not ok() with *error; *ssh_errors as OpenSshTunnel has it.
UniqueFd Connect(const std::string& address, int limit_ms, std::string* error,
                 UniqueFd* ssh_errors);

struct Answer {
  int status = 0;  // 0: no answer, `body` says why
  std::string body;
};

// POST, GET or DELETE with a JSON body ("" is none). `limit_ms` is for all of it.
Answer Request(const std::string& address, const char* method, const std::string& path,
               std::string_view body, int limit_ms);

// The same, upgraded to a stream: 101 (or 200, as older engines have it), with what came behind the
// head in `body` and the connection in *stream.
Answer Upgrade(const std::string& address, const std::string& path, std::string_view body,
               int limit_ms, UniqueFd* stream);

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_HTTP_H_
