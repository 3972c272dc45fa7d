#include "runtime/docker/engine_client.h"

#include <errno.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "httplib.h"
#include "runtime/docker/engine_connection.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxIdle = 8;

absl::Status FromReply(int status, const std::string& body, absl::string_view step) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  std::string message = TextAt(json, "/message");
  if (message.empty()) message = absl::StrCat("HTTP ", status);
  if (message.size() > 2000) message.resize(2000);
  const std::string text = absl::StrCat(step, ": ", message);
  switch (status) {
    case 400:
      return absl::InvalidArgumentError(text);
    case 401:
    case 403:
      return absl::PermissionDeniedError(text);
    case 404:
      return absl::NotFoundError(text);
    case 409:
      return absl::StrContains(message, "already in use") ? absl::AlreadyExistsError(text)
                                                          : absl::FailedPreconditionError(text);
    case 501:
      return absl::UnimplementedError(text);
    case 503:
      return absl::UnavailableError(text);
    default:
      // A redirect, an upgrade that nobody asked for, or what HTTP does not have.
      return status / 100 == 4 || status / 100 == 5 ? absl::InternalError(text)
                                                    : absl::DataLossError(text);
  }
}

template <typename T>
T ValueAt(const Json& json, absl::string_view pointer, T otherwise,
          bool (Json::*is)() const noexcept) {
  const Json* at = &json;
  while (absl::ConsumePrefix(&pointer, "/")) {
    const absl::string_view key = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(key.size());
    if (!at->is_object()) return otherwise;
    const auto it = at->find(std::string(key));
    if (it == at->end()) return otherwise;
    at = &*it;
  }
  return (at->*is)() ? at->get<T>() : otherwise;
}

}  // namespace

std::string TextAt(const Json& json, absl::string_view pointer) {
  return ValueAt<std::string>(json, pointer, "", &Json::is_string);
}
int64_t NumberAt(const Json& json, absl::string_view pointer, int64_t otherwise) {
  return ValueAt<int64_t>(json, pointer, otherwise, &Json::is_number_integer);
}
bool TruthAt(const Json& json, absl::string_view pointer) {
  return ValueAt<bool>(json, pointer, false, &Json::is_boolean);
}

namespace {

// While it lives, a write to a connection that the other side has closed is an error and no signal.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    while (!pending_ && sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool pending_;  // before: it is somebody else's
};

}  // namespace

class EngineClient::Connection {
 public:
  explicit Connection(const EngineAddress& address)
      : client(ConnectToEngine(address)), http(*client) {
    // The engine refuses a request whose Host is a path; that of ssh is a name of ssh's.
    const bool by_name = !address.is_unix() && !address.is_ssh();
    http.set_default_headers({{"Host", by_name ? address.host() : "docker"}});
    http.set_keep_alive(true);
    http.set_tcp_nodelay(true);
    http.set_follow_location(false);
    http.set_decompress(false);
    http.set_path_encode(false);  // paths are made of ids and of what Escape gave
  }
  const std::unique_ptr<httplib::ClientImpl> client;
  httplib::ClientImpl& http;
};

EngineClient::EngineClient(EngineAddress address) : address_(std::move(address)) {}
EngineClient::~EngineClient() = default;

absl::StatusOr<EngineClient::Reply> EngineClient::Send(const char* method, const std::string& path,
                                                       std::string body, const char* type,
                                                       absl::Duration limit,
                                                       const Receiver& receiver) {
  std::unique_ptr<Connection> connection;
  {
    absl::MutexLock lock(mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (connection == nullptr) connection = std::make_unique<Connection>(address_);
  const int64_t ms = std::max<int64_t>(absl::ToInt64Milliseconds(limit), 1);
  httplib::ClientImpl& http = connection->http;
  http.set_connection_timeout(std::chrono::milliseconds(std::min<int64_t>(ms, 10000)));
  http.set_read_timeout(std::chrono::milliseconds(ms));
  http.set_write_timeout(std::chrono::milliseconds(ms));
  // For the whole call: a byte now and then does not make it longer.
  http.set_max_timeout(static_cast<time_t>(ms));

  httplib::Request request;
  request.method = method;
  request.path = path;
  request.body = std::move(body);
  // send() of a whole request leaves this to its caller; without it the limit would never be
  // reached.
  request.start_time_ = std::chrono::steady_clock::now();
  if (!request.body.empty()) request.set_header("Content-Type", type);
  Reply reply;
  bool too_long = false, gave_up = false;
  request.response_handler = [&reply](const httplib::Response& head) {
    reply.status = head.status;
    reply.api_version = head.get_header_value("Api-Version");
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, size_t, size_t) {
    if (receiver && reply.status / 100 == 2) return !(gave_up = !receiver(data, size));
    too_long = reply.body.size() + size > kMaxAnswer;
    if (!too_long) reply.body.append(data, size);
    return !too_long;
  };
  const httplib::Result result = [&] {
    const WithoutSigpipe without;
    return http.send(request);
  }();
  const std::string step = absl::StrCat(method, " ", path.substr(0, path.find('?')));
  if (gave_up) return absl::CancelledError(absl::StrCat(step, ": given up"));
  if (too_long)
    return absl::DataLossError(absl::StrCat(step, ": the engine's answer does not end"));
  if (!result) {
    return absl::UnavailableError(absl::StrCat(
        "the engine at ", address_.text(), " does not answer (", step, ": ",
        httplib::to_string(result.error()), ")", ConnectionHint(address_, http, result.error())));
  }
  reply.status = result->status;
  absl::MutexLock lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
  return reply;
}

absl::StatusOr<std::string> EngineClient::Version() {
  {
    absl::MutexLock lock(mutex_);
    if (!version_.empty()) return version_;
  }
  ABSL_ASSIGN_OR_RETURN(const Reply reply, Send("GET", "/_ping", "", "", absl::Seconds(10)));
  if (reply.status != 200) return FromReply(reply.status, reply.body, "ask the engine's version");
  absl::string_view text = reply.api_version;
  int minor = 0;
  if (!absl::ConsumePrefix(&text, "1.") || !absl::SimpleAtoi(text, &minor)) {
    return absl::DataLossError(absl::StrCat("what answers at ", address_.text(),
                                            " is no docker engine: it tells no API version"));
  }
  if (minor < kOldest) {
    return absl::FailedPreconditionError(absl::StrCat("the engine at ", address_.text(),
                                                      " knows API 1.", minor, "; berth needs 1.",
                                                      kOldest, " (docker 20.10) or newer"));
  }
  absl::MutexLock lock(mutex_);
  version_ = absl::StrCat("/v1.", std::min(minor, kNewest));
  return version_;
}

absl::StatusOr<Json> EngineClient::Ask(const char* method, const std::string& path,
                                       std::string body, absl::Duration limit) {
  ABSL_ASSIGN_OR_RETURN(const std::string version, Version());
  ABSL_ASSIGN_OR_RETURN(const Reply reply, Send(method, absl::StrCat(version, path),
                                                std::move(body), "application/json", limit));
  const std::string step = absl::StrCat(method, " ", path.substr(0, path.find('?')));
  if (reply.status == 304) return Json();  // it was so already
  if (reply.status / 100 != 2) return FromReply(reply.status, reply.body, step);
  if (reply.body.empty()) return Json();
  Json json = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return absl::DataLossError(absl::StrCat(step, ": the engine's answer is not JSON"));
  return json;
}

absl::StatusOr<Json> EngineClient::Get(const std::string& path, absl::Duration limit) {
  return Ask("GET", path, "", limit);
}
absl::StatusOr<Json> EngineClient::Post(const std::string& path, const Json& body,
                                        absl::Duration limit) {
  // What is not UTF-8 cannot be said in JSON; callers check what comes from outside.
  return Ask("POST", path,
             body.is_null() ? "" : body.dump(-1, ' ', false, Json::error_handler_t::replace),
             limit);
}
absl::StatusOr<Json> EngineClient::Delete(const std::string& path, absl::Duration limit) {
  return Ask("DELETE", path, "", limit);
}

absl::Status EngineClient::Upload(const char* method, const std::string& path,
                                  absl::string_view bytes, std::string* answer,
                                  absl::Duration limit) {
  ABSL_ASSIGN_OR_RETURN(const std::string version, Version());
  ABSL_ASSIGN_OR_RETURN(Reply reply, Send(method, absl::StrCat(version, path), std::string(bytes),
                                          "application/x-tar", limit));
  if (reply.status / 100 != 2) return FromReply(reply.status, reply.body, "send to the engine");
  if (answer != nullptr) *answer = std::move(reply.body);
  return absl::OkStatus();
}

absl::Status EngineClient::Lines(const std::string& path, const std::string& body,
                                 const std::function<bool(const Json&)>& line,
                                 absl::Duration limit) {
  constexpr size_t kMaxLine = 1 << 20;
  ABSL_ASSIGN_OR_RETURN(const std::string version, Version());
  std::string pending;
  absl::Status failed;
  const auto take = [&](absl::string_view text) {
    text = absl::StripAsciiWhitespace(text);
    if (text.empty()) return true;
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) {
      failed = absl::DataLossError(absl::StrCat("POST ", path, ": the engine's line is not JSON"));
      return false;
    }
    return line(json);
  };
  const auto receive = [&](const char* data, size_t size) {
    pending.append(data, size);
    size_t at = 0;
    for (size_t end; (end = pending.find('\n', at)) != std::string::npos; at = end + 1) {
      if (!take(absl::string_view(pending).substr(at, end - at))) return false;
    }
    pending.erase(0, at);
    if (pending.size() > kMaxLine)
      failed = absl::DataLossError(absl::StrCat("POST ", path, ": the engine's line has no end"));
    return failed.ok();
  };
  const absl::StatusOr<Reply> reply =
      Send("POST", absl::StrCat(version, path), body, "application/x-tar", limit, receive);
  ABSL_RETURN_IF_ERROR(failed);
  ABSL_RETURN_IF_ERROR(reply.status());
  if (reply->status / 100 != 2)
    return FromReply(reply->status, reply->body,
                     absl::StrCat("POST ", path.substr(0, path.find('?'))));
  take(pending);
  return failed;
}

}  // namespace berth
