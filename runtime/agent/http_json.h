// HttpJson: POSTs JSON and reads the answer, with a deadline, with a cancel that works in the
// middle of a request, and with retries that have bounds.
//
// https:// too: the server's certificate is checked before a byte of the request is sent, against
// the authorities that this machine trusts or the caller's own. There is no way to turn that off.
//
// Blocks its caller. Its thread has SIGPIPE blocked or ignored: TLS libraries write without
// MSG_NOSIGNAL. What is retried: 408, 429 (after what Retry-After says), 500, 502, 503, 504,
// 529; and, for a request that may be made twice, connections that fail, time out or are cut, and
// answers that cannot be read. One thread at a time.
#ifndef BERTH_RUNTIME_AGENT_HTTP_JSON_H_
#define BERTH_RUNTIME_AGENT_HTTP_JSON_H_

#include <stddef.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/canceller.h"

namespace berth {

struct HttpOptions {
  absl::Duration request_timeout = absl::Minutes(10);  // of one attempt
  int max_retries = 4;
  absl::Duration first_pause = absl::Milliseconds(500);  // doubled each time
  absl::Duration longest_pause = absl::Seconds(60);      // Retry-After may ask for more
  size_t max_body = size_t{64} << 20;
  // PEM: who may vouch for https servers, instead of those whom this machine trusts
  // ($SSL_CERT_FILE, $SSL_CERT_DIR, the distribution's bundle).
  std::string ca_file = {};
};

struct HttpReply {
  int status = 0;
  std::string content_type = {};
  std::string session = {};  // the header Mcp-Session-Id
  std::string body = {};
};

struct HttpRequest {
  std::string url = {};  // http[s]://host[:port]/path
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  bool repeatable = true;  // twice is as good as once
  // Reads the answer. DataLoss: it cannot be read.
  std::function<absl::Status(const HttpReply&)> take = nullptr;
  // Whether no more of the body is needed; asked after each piece of it.
  std::function<bool(const HttpReply&)> enough = nullptr;
};

// Before a pause: what failed, and until when.
using OnRetry = std::function<void(const absl::Status& why, absl::Time until)>;

class HttpJson {
 public:
  // `canceller` must outlive it.
  HttpJson(const HttpOptions& options, Canceller* canceller)
      : options_(options), canceller_(canceller) {}

  // Cancelled, DeadlineExceeded, or the last attempt's failure: ResourceExhausted (429),
  // Unavailable (5xx, no connection), Unauthenticated, PermissionDenied, NotFound, InvalidArgument
  // (other 4xx), DataLoss; FailedPrecondition for a certificate that is not good.
  absl::StatusOr<HttpReply> Post(const HttpRequest& request, absl::Time deadline,
                                 const OnRetry& on_retry = nullptr);

 private:
  struct Attempt {
    absl::Status status;
    bool retry = false;
    absl::Duration after = absl::ZeroDuration();  // as the server asks
    HttpReply reply;
  };
  Attempt Try(const HttpRequest& request, absl::Time deadline);

  const HttpOptions options_;
  Canceller* const canceller_;
};

// "120" or an HTTP date, from `now` on; zero if it is neither.
absl::Duration ParseRetryAfter(absl::string_view text, absl::Time now);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_HTTP_JSON_H_
