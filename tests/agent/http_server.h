// HttpServer: a real HTTP server on loopback whose answers a test decides on.
#ifndef BERTH_TESTS_AGENT_HTTP_SERVER_H_
#define BERTH_TESTS_AGENT_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace berth {

class HttpServer {
 public:
  // Answers the POST number `n` (0, 1, …) to a path.
  using Handler =
      std::function<void(int n, const httplib::Request& request, httplib::Response& response)>;

  HttpServer();
  // https, with this certificate and key (PEM files).
  HttpServer(const std::string& certificate, const std::string& key);
  ~HttpServer();

  void OnPost(const std::string& path, Handler handler);
  // The handlers are set: from here on it listens.
  void Listen();
  int port() const { return port_; }
  std::string Url(absl::string_view path = "") const;

  // Bodies of the POSTs so far, in order.
  std::vector<nlohmann::json> Bodies() const;
  size_t requests() const { return Bodies().size(); }

  // A handler that is to answer late waits here, until Release or the end.
  void Hold();
  void Release();
  // Waits until a handler is held.
  void AwaitHeld();

 private:
  HttpServer(std::unique_ptr<httplib::Server> server, std::string scheme);

  const std::unique_ptr<httplib::Server> server_;
  const std::string scheme_;
  int port_ = 0;
  std::thread thread_;
  mutable absl::Mutex mutex_;
  std::vector<nlohmann::json> bodies_ ABSL_GUARDED_BY(mutex_);
  bool released_ ABSL_GUARDED_BY(mutex_) = false;
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
};

// An MCP server with the tools `add` (of a and b) and `fail`. `form`: "json", "sse" (in pieces,
// with a notice before the answer), "plain" (knows no initialize).
HttpServer::Handler McpHandler(const std::string& form);

}  // namespace berth

#endif  // BERTH_TESTS_AGENT_HTTP_SERVER_H_
