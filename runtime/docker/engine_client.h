// EngineClient: typed calls of the Engine API over HTTP. Connections are kept and used again; each
// call has a deadline for all of it, and a limit for its answer, so an engine that sends one byte a
// minute, or never stops, is an error.
//
//   EngineClient client(address);
//   ABSL_ASSIGN_OR_RETURN(Json made, client.Post("/containers/create?name=x", config));
//
// Errors: Unavailable if the engine does not answer, or not in HTTP; DataLoss for an answer that
// is not what the API says; otherwise by the engine's code: NotFound (404), AlreadyExists (409 of a
// name), FailedPrecondition (other 409), InvalidArgument (400), Internal (500), with its message.
// Threads: any, at once.
#ifndef BERTH_RUNTIME_DOCKER_ENGINE_CLIENT_H_
#define BERTH_RUNTIME_DOCKER_ENGINE_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/engine_address.h"

namespace berth {

class EngineClient {
 public:
  using Json = nlohmann::json;
  static constexpr absl::Duration kLimit = absl::Seconds(30);
  static constexpr size_t kMaxAnswer = 16 << 20;
  // The newest API that this was written for, and the oldest that has what is needed (20.10).
  static constexpr int kNewest = 47, kOldest = 41;  // 1.x

  explicit EngineClient(EngineAddress address);
  ~EngineClient();

  const EngineAddress& address() const { return address_; }

  // "/v1.45": the newest that both sides know. Asked once.
  absl::StatusOr<std::string> Version();

  // `path` without the version. An answer without a body is null.
  absl::StatusOr<Json> Get(const std::string& path, absl::Duration limit = kLimit);
  absl::StatusOr<Json> Post(const std::string& path, const Json& body = nullptr,
                            absl::Duration limit = kLimit);
  absl::StatusOr<Json> Delete(const std::string& path, absl::Duration limit = kLimit);
  // Bytes to the engine (a tar).
  absl::Status Upload(const char* method, const std::string& path, absl::string_view bytes,
                      std::string* answer, absl::Duration limit);
  // An answer of JSON lines, one at a time as they come; `line` returns false to give up
  // (Cancelled).
  absl::Status Lines(const std::string& path, const std::string& body,
                     const std::function<bool(const Json&)>& line, absl::Duration limit);

 private:
  class Connection;
  struct Reply {
    int status = 0;
    std::string body;
    std::string api_version;
  };
  using Receiver = std::function<bool(const char* data, size_t size)>;

  absl::StatusOr<Reply> Send(const char* method, const std::string& path, std::string body,
                             const char* type, absl::Duration limit, const Receiver& receiver = {});
  absl::StatusOr<Json> Ask(const char* method, const std::string& path, std::string body,
                           absl::Duration limit);

  const EngineAddress address_;
  absl::Mutex mutex_;
  std::string version_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
};

// Fields of an answer: what is missing or of another type is the default.
std::string TextAt(const nlohmann::json& json, absl::string_view pointer);
int64_t NumberAt(const nlohmann::json& json, absl::string_view pointer, int64_t otherwise = -1);
bool TruthAt(const nlohmann::json& json, absl::string_view pointer);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_ENGINE_CLIENT_H_
