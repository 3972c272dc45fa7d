// An engine that lies, babbles or dawdles: errors, in bounded time and memory, never a hang.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/docker/images.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPong[] =
    "HTTP/1.1 200 OK\r\nApi-Version: 1.45\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK";

std::string Json(int status, const std::string& body) {
  return absl::StrCat("HTTP/1.1 ", status, " Status\r\nContent-Type: application/json\r\n",
                      "Content-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body);
}

// Answers each request on a connection of its own with what `answer` gives; an empty answer says
// nothing, and one that begins with "endless " repeats the rest until the client goes.
class HostileEngine {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit HostileEngine(const std::string& folder, Answer answer)
      : path_(folder + "/hostile.sock"), answer_(std::move(answer)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    unlink(path_.c_str());
    listener_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 64), 0);
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    stop_ = UniqueFd(fds[0]);
    stopper_ = UniqueFd(fds[1]);
    thread_ = std::thread([this] { Serve(); });
  }
  ~HostileEngine() {
    stopper_.reset();
    thread_.join();
    for (std::thread& each : talks_) each.join();
    unlink(path_.c_str());
  }
  std::string address() const { return "unix://" + path_; }
  int requests() const { return requests_; }

 private:
  bool Ready(int fd, short events) const {
    return WaitFdOrCancel(fd, events, stop_.get(), absl::InfiniteFuture(), "").ok();
  }
  void Serve() {
    while (Ready(listener_.get(), POLLIN)) {
      const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) talks_.emplace_back([this, fd] { Talk(UniqueFd(fd)); });
    }
  }
  void Talk(UniqueFd fd) {
    std::string request;
    char buffer[65536];
    size_t body = 0, head_end = std::string::npos;
    while ((head_end = request.find("\r\n\r\n")) == std::string::npos ||
           request.size() < head_end + 4 + body) {
      if (!Ready(fd.get(), POLLIN)) return;
      const ssize_t n = recv(fd.get(), buffer, sizeof(buffer), 0);
      if (n <= 0) return;
      request.append(buffer, static_cast<size_t>(n));
      const size_t length = request.find("Content-Length: ");
      if (length != std::string::npos) body = strtoul(request.c_str() + length + 16, nullptr, 10);
      if (absl::StrContains(request, "100-continue") && head_end == std::string::npos)
        send(fd.get(), "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
    }
    ++requests_;
    std::string answer = answer_(request);
    const bool endless = absl::StartsWith(answer, "endless ");
    const bool slow = absl::StartsWith(answer, "slow ");
    std::string head;
    if (endless || slow) answer.erase(0, answer.find(' ') + 1);
    if (endless) {
      const std::vector<std::string> parts = absl::StrSplit(answer, absl::MaxSplits("|||", 1));
      head = parts[0];
      answer = parts[1];
    }
    send(fd.get(), head.data(), head.size(), MSG_NOSIGNAL);
    do {
      for (size_t at = 0; at < answer.size();) {
        if (!Ready(fd.get(), POLLOUT)) return;
        const size_t want = slow ? 1 : answer.size() - at;
        const ssize_t n = send(fd.get(), answer.data() + at, want, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) continue;
        if (n <= 0) return;
        at += static_cast<size_t>(n);
        // A byte now and then, until the client has had enough.
        if (slow)
          WaitFd(stop_.get(), POLLIN, absl::Now() + absl::Milliseconds(200), "").IgnoreError();
      }
    } while (endless);
    if (!answer.empty()) return;
    Ready(fd.get(), POLLIN);  // says nothing until the client goes
  }

  const std::string path_;
  const Answer answer_;
  UniqueFd listener_, stop_, stopper_;
  std::atomic<int> requests_ = 0;
  std::vector<std::thread> talks_;
  std::thread thread_;
};

class Hostile : public RuntimeTest {
 protected:
  EngineClient Client(const HostileEngine& engine) {
    return EngineClient(*EngineAddress::Parse(engine.address()));
  }
};

TEST_F(Hostile, AnswersThatAreNoneAreErrors) {
  struct Case {
    const char* what;
    std::string answer;
  };
  const std::vector<Case> cases = {
      {"not HTTP", "220 mail.example ESMTP\r\n\r\n"},
      {"truncated JSON", Json(200, R"({"Id":"sha256:ab","Config":{"Env":[)")},
      {"shorter than it says", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{}"},
      {"a list for an object", Json(200, "[1,2,3]")},
      {"a string for an object", Json(200, "\"x\"")},
      {"wrong types", Json(200, R"({"Id":5,"Config":{"Env":{"a":1}},"Architecture":[]})")},
      {"deep", Json(200, std::string(100000, '['))},
      {"a bad chunk",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n"},
      {"a huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"},
      {"a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"},
      {"a chunk of 2^64 bytes",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello"},
      {"a chunked answer that ends in the middle",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"Id\":"},
      {"lengths that disagree",
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}{}{}{}{}"},
      {"a code that is none", "HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\n{}"},
      {"an upgrade that nobody asked for",
       "HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\n\1\2garbage"},
      {"a head without colons", "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n{}"},
      {"deep objects", Json(200,
                            [] {
                              std::string deep;
                              for (int i = 0; i < 50000; ++i) deep += "{\"a\":";
                              return deep;
                            }())},
      {"nothing at all", ""},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    HostileEngine engine(work_, [&](const std::string& request) {
      return absl::StrContains(request, "/_ping") ? kPong : each.answer;
    });
    EngineClient client(*EngineAddress::Parse(engine.address()));
    EXPECT_THAT(
        client.Get("/images/x/json", absl::Seconds(2)).status().code(),
        AnyOf(absl::StatusCode::kOk, absl::StatusCode::kUnavailable, absl::StatusCode::kDataLoss));
    if (*each.what == 'n' && each.answer.empty()) continue;  // one deadline is enough
    EXPECT_THAT(Images(&client).Inspect("x"), Not(IsOk()));
  }
}

TEST_F(Hostile, EndlessAnswersEnd) {
  const std::string body(64 << 10, 'x');
  for (const std::string& answer :
       {std::string("endless |||HTTP/1.1 100 Continue\r\n\r\n"),
        "endless HTTP/1.1 200 OK\r\n|||X-Header: " + std::string(1000, 'h') + "\r\n",
        "endless |||" + body, "endless HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n|||" + body,
        absl::StrCat("endless HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n|||",
                     "10000\r\n", body, "\r\n")}) {
    SCOPED_TRACE(answer.substr(0, 60));
    HostileEngine engine(work_, [&](const std::string& request) {
      return absl::StrContains(request, "/_ping") ? kPong : answer;
    });
    EngineClient client(*EngineAddress::Parse(engine.address()));
    EXPECT_THAT(client.Get("/info", absl::Seconds(5)), Not(IsOk()));
  }
}

TEST_F(Hostile, OneThatIsNotThereIsToldWithWhatToDo) {
  EngineClient nowhere(*EngineAddress::Parse("unix://" + work_ + "/none.sock"));
  EXPECT_THAT(nowhere.Version(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no such socket: start")));
  {
    HostileEngine engine(work_, [](const std::string&) { return kPong; });
    ASSERT_EQ(link((work_ + "/hostile.sock").c_str(), (work_ + "/left.sock").c_str()), 0);
  }
  EngineClient left(*EngineAddress::Parse("unix://" + work_ + "/left.sock"));
  EXPECT_THAT(left.Version(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("nobody listens")));
  unlink((work_ + "/left.sock").c_str());
}

TEST_F(Hostile, ARedirectIsNotFollowed) {
  HostileEngine engine(work_, [&](const std::string& request) {
    return absl::StrContains(request, "/_ping")
               ? kPong
               : absl::StrCat("HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/x\r\n",
                              "Content-Length: 0\r\nConnection: close\r\n\r\n");
  });
  EngineClient client(*EngineAddress::Parse(engine.address()));
  EXPECT_THAT(client.Get("/info", absl::Seconds(5)), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(engine.requests(), 2);
}

TEST_F(Hostile, AByteNowAndThenDoesNotMakeACallLonger) {
  HostileEngine engine(work_, [&](const std::string& request) {
    return absl::StrContains(request, "/_ping")
               ? kPong
               : "slow " + Json(200, std::string(4000, ' ') + "{}");
  });
  EngineClient client(*EngineAddress::Parse(engine.address()));
  const absl::Time began = absl::Now();
  EXPECT_THAT(client.Get("/info", absl::Seconds(2)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_LT(absl::Now() - began, absl::Seconds(60));
}

TEST_F(Hostile, VersionsThatAreNoneOrTooOldAreToldApart) {
  const auto version = [&](const std::string& text) {
    HostileEngine engine(work_, [&](const std::string&) {
      return absl::StrCat("HTTP/1.1 200 OK\r\nApi-Version: ", text,
                          "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    EngineClient client(*EngineAddress::Parse(engine.address()));
    return client.Version();
  };
  EXPECT_THAT(version("1.45"), IsOkAndHolds("/v1.45"));
  EXPECT_THAT(version("1.99"), IsOkAndHolds("/v1.47"));
  EXPECT_THAT(version("1.12"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("1.12")));
  for (const char* text : {"", "two", "1.", "1.x", "2.0", "1.99999999999"})
    EXPECT_THAT(version(text), StatusIs(absl::StatusCode::kDataLoss)) << text;
}

TEST_F(Hostile, APullTellsItsProgressAndItsErrorAndCanBeGivenUp) {
  std::string lines =
      "{\"status\":\"Pulling from library/x\",\"id\":\"1\"}\n"
      "{\"status\":\"Downloading\",\"id\":\"aa\",\"progressDetail\":{\"current\":50,\"total\":100}}"
      "\n"
      "{\"status\":\"Downloading\",\"id\":\"bb\",\"progressDetail\":{\"current\":0,\"total\":100}}"
      "\n"
      "{\"status\":\"Pull complete\",\"id\":\"aa\"}\n{\"status\":\"Pull "
      "complete\",\"id\":\"bb\"}\n";
  HostileEngine engine(work_, [&](const std::string& request) -> std::string {
    if (absl::StrContains(request, "/_ping")) return kPong;
    if (absl::StrContains(request, "/images/create")) return Json(200, lines);
    return Json(200, R"({"Id":"sha256:ab","Architecture":"amd64","Config":{"Env":["A=b"]}})");
  });
  EngineClient client(*EngineAddress::Parse(engine.address()));
  std::vector<int> percent;
  int layers = 0;
  auto image = Images(&client).Pull("x:1", [&](const PullProgress& progress) {
    percent.push_back(progress.percent);
    layers = progress.layers;
    return true;
  });
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->id, "sha256:ab");
  EXPECT_THAT(percent, testing::ElementsAre(0, 50, 25, 50, 100));
  EXPECT_EQ(layers, 2);
  EXPECT_THAT(Images(&client).Pull("x:1", [](const PullProgress&) { return false; }),
              StatusIs(absl::StatusCode::kCancelled));
  lines = "{\"error\":\"manifest for x:1 not found\"}\n";
  EXPECT_THAT(Images(&client).Pull("x:1", nullptr),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("manifest")));
  lines = std::string(3 << 20, 'x');
  EXPECT_THAT(Images(&client).Pull("x:1", nullptr), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(Hostile, ASessionOfAnEngineThatSendsWrongFramesFailsAndLeavesNothing) {
  for (const std::string& stream :
       {std::string("HTTP/1.1 101 UPGRADED\r\n\r\nthis is no frame at all, and it goes on"),
        std::string("HTTP/1.1 101 UPGRADED\r\n\r\n\1\0\0\0\0\0\0\5o\x7f\xff\xff\xff", 38),
        std::string("HTTP/1.1 101 UPGRADED\r\n\r\n"), Json(500, R"({"message":"no attach today"})"),
        std::string("endless HTTP/1.1 200|||X: y\r\n")}) {
    SCOPED_TRACE(stream.substr(0, 40));
    const std::string id(64, 'a');
    HostileEngine engine(work_, [&](const std::string& request) -> std::string {
      if (absl::StrContains(request, "/_ping")) return kPong;
      if (absl::StrContains(request, "/images/"))
        return Json(200, R"({"Id":"sha256:ab","Architecture":"amd64"})");
      if (absl::StrContains(request, "/containers/create"))
        return Json(201, absl::StrCat("{\"Id\":\"", id, "\"}"));
      if (absl::StrContains(request, "/attach")) return stream;
      if (absl::StrContains(request, "/archive")) return Json(200, "");
      if (absl::StrContains(request, "GET /v1.45/containers/")) return Json(404, "{}");
      return Json(204, "");
    });
    setenv("DOCKER_HOST", engine.address().c_str(), 1);
    EXPECT_THAT(runtime_->CreateSession({.name = "x",
                                         .backend = "docker",
                                         .command = Command::Argv({"true"}),
                                         .container = {.image = "x"}}),
                Not(IsOk()));
    EXPECT_THAT(runtime_->List(), IsOkAndHolds(testing::IsEmpty()));
  }
}

}  // namespace
}  // namespace berth
