#include "runtime/agent/http_json.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "httplib.h"
#include "runtime/agent/canceller.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

constexpr size_t kShownBody = 300;
constexpr absl::Duration kConnectTimeout = absl::Seconds(30);

struct Url {
  std::string origin, path;
};

absl::StatusOr<Url> ParseUrl(absl::string_view url) {
  const bool known =
      absl::StartsWithIgnoreCase(url, "http://") || absl::StartsWithIgnoreCase(url, "https://");
  const size_t scheme = url.find("://");
  if (!known || url.size() == scheme + 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", url, "' is not an http:// or https:// URL"));
  }
  const size_t slash = url.find('/', scheme + 3);
  const absl::string_view host = url.substr(scheme + 3, slash - scheme - 3);
  const absl::string_view path = slash == absl::string_view::npos ? "/" : url.substr(slash);
  // The library compares the scheme letter by letter.
  return Url{absl::StrCat(absl::AsciiStrToLower(url.substr(0, scheme + 3)), host),
             std::string(path)};
}

// Where distributions keep the authorities they trust; the library knows only the place of the one
// that it was built on.
std::string SystemAuthorities() {
  if (getenv("SSL_CERT_FILE") != nullptr || getenv("SSL_CERT_DIR") != nullptr) return "";
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (access(file, R_OK) == 0) return file;
  }
  return "";
}

bool IsBadCertificate(httplib::Error error) {
  return error == httplib::Error::SSLServerVerification ||
         error == httplib::Error::SSLServerHostnameVerification ||
         error == httplib::Error::SSLLoadingCerts;
}

std::string WhyBadCertificate(const httplib::Result& result, absl::string_view ca_file) {
  switch (result.error()) {
    case httplib::Error::SSLLoadingCerts:
      return absl::StrCat("'", ca_file, "' cannot be read as certificates");
    case httplib::Error::SSLServerHostnameVerification:
      return "the server's certificate is another host's";
    default:
      return absl::StrCat(
          "the server's certificate is refused: ",
          httplib::tls::verify_error_string(static_cast<long>(result.ssl_backend_error())));
  }
}

absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 408:
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    default:
      return status >= 500 ? absl::StatusCode::kUnavailable : absl::StatusCode::kInvalidArgument;
  }
}

bool IsPassing(int status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504 || status == 529;
}

void SetTimeouts(httplib::Client* client, absl::Duration limit) {
  // Rounded up: what ends with the deadline must not end just before it.
  const int64_t milliseconds = std::max<int64_t>(absl::ToInt64Milliseconds(limit), 0) + 1;
  const auto connect = std::min<int64_t>(milliseconds, absl::ToInt64Milliseconds(kConnectTimeout));
  client->set_connection_timeout(connect / 1000, connect % 1000 * 1000);
  client->set_read_timeout(milliseconds / 1000, milliseconds % 1000 * 1000);
  client->set_write_timeout(milliseconds / 1000, milliseconds % 1000 * 1000);
  client->set_max_timeout(milliseconds);
}

}  // namespace

absl::Duration ParseRetryAfter(absl::string_view text, absl::Time now) {
  double seconds;
  if (absl::SimpleAtod(text, &seconds)) {
    return seconds > 0 && seconds < 1e9 ? absl::Seconds(seconds) : absl::ZeroDuration();
  }
  absl::Time when;
  if (absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", text, &when, nullptr) && when > now) {
    return when - now;
  }
  return absl::ZeroDuration();
}

HttpJson::Attempt HttpJson::Try(const HttpRequest& request, absl::Time deadline) {
  Attempt attempt;
  const absl::StatusOr<Url> url = ParseUrl(request.url);
  if (!url.ok()) {
    attempt.status = url.status();
    return attempt;
  }
  httplib::Client client(url->origin);
  const std::string ca_file = options_.ca_file.empty() ? SystemAuthorities() : options_.ca_file;
  if (!ca_file.empty()) client.set_ca_cert_path(ca_file);
  client.set_socket_options([this](int socket) { canceller_->Watch(socket); });
  const auto forget = absl::MakeCleanup([this] { canceller_->Forget(); });
  SetTimeouts(&client, std::min(options_.request_timeout, deadline - absl::Now()));

  httplib::Request wire;
  wire.method = "POST";
  wire.path = url->path;
  wire.body = request.body;
  for (const auto& [name, value] : request.headers) wire.set_header(name, value);
  wire.set_header("Content-Type", "application/json");
  bool enough = false, too_long = false;
  std::string retry_after;
  HttpReply& reply = attempt.reply;
  wire.response_handler = [&](const httplib::Response& response) {
    reply.status = response.status;
    reply.content_type = response.get_header_value("Content-Type");
    reply.session = response.get_header_value("Mcp-Session-Id");
    retry_after = response.get_header_value("Retry-After");
    return true;
  };
  wire.content_receiver = [&](const char* data, size_t size, size_t, size_t) {
    too_long = reply.body.size() + size > options_.max_body;
    if (too_long) return false;
    reply.body.append(data, size);
    enough = reply.status == 200 && request.enough != nullptr && request.enough(reply);
    return !enough;
  };
  // What its max timeout counts from; only its own wrappers set it.
  wire.start_time_ = std::chrono::steady_clock::now();
  const httplib::Result result = client.send(wire);
  const std::string where = absl::StrCat("POST ", request.url);
  if (canceller_->cancelled()) {
    attempt.status = absl::CancelledError(absl::StrCat(where, ": cancelled"));
  } else if (too_long) {
    attempt.status = absl::OutOfRangeError(
        absl::StrCat(where, ": the answer has more than ", options_.max_body, " bytes"));
  } else if (!result && IsBadCertificate(result.error())) {
    attempt.status = absl::FailedPreconditionError(
        absl::StrCat(where, ": ", WhyBadCertificate(result, ca_file)));
  } else if (!result && !enough) {
    const bool late = absl::Now() >= deadline;
    attempt.status =
        absl::Status(late ? absl::StatusCode::kDeadlineExceeded : absl::StatusCode::kUnavailable,
                     absl::StrCat(where, ": ", httplib::to_string(result.error())));
    // Without a connection nothing has been asked yet.
    attempt.retry = request.repeatable || result.error() == httplib::Error::Connection;
  } else if (reply.status < 200 || reply.status > 299) {
    attempt.status = absl::Status(
        CodeOf(reply.status),
        absl::StrCat(where, ": ", reply.status, " ", reply.body.substr(0, kShownBody)));
    attempt.retry = IsPassing(reply.status) &&
                    (request.repeatable || reply.status == 429 || reply.status == 503);
    attempt.after = ParseRetryAfter(retry_after, absl::Now());
  } else if (request.take != nullptr) {
    attempt.status = request.take(reply);
    attempt.retry = absl::IsDataLoss(attempt.status) && request.repeatable;
  }
  return attempt;
}

absl::StatusOr<HttpReply> HttpJson::Post(const HttpRequest& request, absl::Time deadline,
                                         const OnRetry& on_retry) {
  absl::Duration pause = options_.first_pause;
  for (int tried = 0;; ++tried) {
    if (canceller_->cancelled()) return absl::CancelledError("cancelled");
    if (absl::Now() >= deadline) return absl::DeadlineExceededError("no time left for a request");
    Attempt attempt = Try(request, deadline);
    if (attempt.status.ok()) return std::move(attempt.reply);
    if (!attempt.retry || tried >= options_.max_retries) return attempt.status;
    const absl::Time until =
        absl::Now() + std::max(attempt.after, std::min(pause, options_.longest_pause));
    if (until >= deadline) return attempt.status;  // not worth the wait
    if (on_retry != nullptr) on_retry(attempt.status, until);
    if (WaitFd(canceller_->fd(), POLLIN, until, "pause").ok()) {
      return absl::CancelledError("cancelled between two attempts");
    }
    pause *= 2;
  }
}

}  // namespace berth
