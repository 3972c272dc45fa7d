// What a session in a container costs beside the docker command and beside bare calls of the API,
// on a dockerd that this starts itself. Needs root.
//
//   tools/bazel run --config=opt //runtime/docker/benchmark:docker_benchmark -- [rounds]

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/log/check.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/benchmark/samples.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/docker/dockerd.h"

namespace berth {
namespace {

double Microseconds(const std::function<void()>& what) {
  const absl::Time began = absl::Now();
  what();
  return absl::ToDoubleMicroseconds(absl::Now() - began);
}

// One bare call over a connection of its own; the answer's text.
std::string Call(const std::string& socket_path, const std::string& method, const std::string& path,
                 const std::string& body = "") {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  const std::string request =
      absl::StrCat(method, " ", path, " HTTP/1.0\r\nHost: docker\r\nContent-Type: application/json",
                   "\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  CHECK(write(fd.get(), request.data(), request.size()) == ssize_t(request.size()));
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = read(fd.get(), buffer, sizeof(buffer))) > 0;) text.append(buffer, size_t(n));
  return text;
}

std::string IdIn(const std::string& text) {
  const size_t at = text.find("\"Id\":\"");
  CHECK(at != std::string::npos) << text;
  return text.substr(at + 6, 64);
}

void Main(int rounds) {
  auto engine = DockerEngine::Start();
  CHECK(engine.ok()) << engine.status();
  setenv("DOCKER_HOST", (*engine)->address().c_str(), 1);
  const std::string sock = (*engine)->socket();
  // Where the engine has its data: both write records, and a disk would be waited for on one side
  // only.
  char dir[] = "/dev/shm/berth-bench-XXXXXX";
  CHECK(mkdtemp(dir) != nullptr);
  {
    auto runtime = Runtime::Create({.state_dir = absl::StrCat(dir, "/state")});
    CHECK(runtime.ok()) << runtime.status();
    const auto create = [&](const std::string& name, Command command) {
      auto session = (*runtime)->CreateSession(
          {.name = name,
           .backend = "docker",
           .command = std::move(command),
           .pty = false,
           .container = {.image = DockerEngine::kImage, .network = "none"}});
      CHECK(session.ok()) << session.status();
      return *std::move(session);
    };

    Samples raw("bare API calls"), cli("docker run --rm"), ours("berth");
    Samples created("berth: create"), waited("berth: wait"), destroyed("berth: destroy");
    for (int i = 0; i < rounds; ++i) {
      raw.Add(Microseconds([&] {
        const std::string id =
            IdIn(Call(sock, "POST", "/containers/create",
                      R"({"Image":"bb:1","Cmd":["true"],"HostConfig":{"NetworkMode":"none"}})"));
        Call(sock, "POST", absl::StrCat("/containers/", id, "/start"));
        Call(sock, "POST", absl::StrCat("/containers/", id, "/wait"));
        Call(sock, "DELETE", absl::StrCat("/containers/", id));
      }));
      cli.Add(Microseconds(
          [&] { CHECK((*engine)->Shell("docker run --rm --network none bb:1 true").ok()); }));
      ours.Add(Microseconds([&] {
        std::unique_ptr<Session> session;
        created.Add(Microseconds([&] { session = create("bench", Command::Argv({"true"})); }));
        waited.Add(
            Microseconds([&] { CHECK(session->Wait(absl::Now() + absl::Minutes(1)).ok()); }));
        destroyed.Add(Microseconds([&] { CHECK(session->Destroy(absl::ZeroDuration()).ok()); }));
      }));
    }
    Samples::PrintHeader("create, start, wait, remove of `true`, microseconds", "docker run");
    for (const Samples* each : {&cli, &raw, &ours, &created, &waited, &destroyed}) each->Print(cli);

    Samples raw_exec("bare API calls"), cli_exec("docker exec"), our_exec("berth");
    auto place = create("place", Command::Argv({"cat"}));
    const std::string container =
        absl::StrCat("berth-", place->handle().substr(place->handle().find(':') + 1));
    for (int i = 0; i < rounds; ++i) {
      raw_exec.Add(Microseconds([&] {
        const std::string id =
            IdIn(Call(sock, "POST", absl::StrCat("/containers/", container, "/exec"),
                      R"({"AttachStdout":true,"Cmd":["true"]})"));
        Call(sock, "POST", absl::StrCat("/exec/", id, "/start"), R"({"Detach":false})");
      }));
      cli_exec.Add(Microseconds(
          [&] { CHECK((*engine)->Shell(absl::StrCat("docker exec ", container, " true")).ok()); }));
      our_exec.Add(Microseconds([&] {
        auto process = place->Exec({.command = Command::Argv({"true"})});
        CHECK(process.ok()) << process.status();
        CHECK((*process)->Wait(absl::Now() + absl::Minutes(1)).ok());
      }));
    }
    Samples::PrintHeader("exec of `true`, microseconds", "docker exec");
    for (const Samples* each : {&cli_exec, &raw_exec, &our_exec}) each->Print(cli_exec);

    std::vector<std::unique_ptr<Session>> many;
    for (int i = 0; i < 100; ++i)
      many.push_back(create(absl::StrCat("many", i), Command::Argv({"cat"})));
    Samples list("berth list"), ps("docker ps");
    for (int i = 0; i < 10; ++i) {
      ps.Add(Microseconds([&] { CHECK((*engine)->Shell("docker ps >/dev/null").ok()); }));
      list.Add(Microseconds([&] { CHECK((*runtime)->List()->size() == 101); }));
    }
    Samples::PrintHeader("100 sessions listed, microseconds", "docker ps");
    for (const Samples* each : {&ps, &list}) each->Print(ps);
    for (auto& session : many) CHECK(session->Destroy(absl::ZeroDuration()).ok());
    CHECK(place->Destroy(absl::ZeroDuration()).ok());
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) { berth::Main(argc > 1 ? atoi(argv[1]) : 20); }
