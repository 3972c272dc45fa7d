// tmux, docker and nix: whether they are there, answer, and are new enough.

#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/doctor/checks.h"
#include "runtime/doctor/doctor.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/runtime.h"
#include "runtime/spec.h"
#include "runtime/tmux/words.h"
#include "sandbox/base/unique_fd.h"

namespace berth::doctor {
namespace {

constexpr absl::Duration kAnswerTime = absl::Seconds(10);

// The first bytes that a program prints, and that it ended well.
absl::StatusOr<std::string> Ask(Runtime* runtime, std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.command = Command::Argv(std::move(argv));
  spec.stderr_ = Stdio::Null();
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, runtime->Spawn(spec));
  ABSL_ASSIGN_OR_RETURN(const ExitStatus end, process->Wait(absl::Now() + kAnswerTime));
  if (!end.success()) return absl::FailedPreconditionError(Describe(end));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd out, process->TakeStdout());
  char text[256];
  const ssize_t n = read(out.get(), text, sizeof(text));
  return std::string(
      absl::StripAsciiWhitespace(absl::string_view(text, n > 0 ? static_cast<size_t>(n) : 0)));
}

Check Missing(const char* name, const absl::Status& why, std::string remedy) {
  return NotOk(CheckState::kMissing, "engines", name, std::string(why.message()),
               std::move(remedy));
}

Check Tmux(Runtime* runtime) {
  const absl::StatusOr<std::string> version = Ask(runtime, {"tmux", "-V"});
  if (!version.ok()) {
    return Missing("tmux", version.status(), "apt-get install tmux (3.2 or newer)");
  }
  const absl::Status checked = tmux::CheckVersion(absl::StripPrefix(*version, "tmux "));
  if (!checked.ok()) return Missing("tmux", checked, "install tmux 3.2 or newer");
  return Ok("engines", "tmux", *version);
}

// Of a socket: what keeps us from it is mostly not the engine's fault.
std::string DockerRemedy(const EngineAddress& address) {
  struct stat st;
  if (!address.is_unix()) return absl::StrCat("start the engine at ", address.text());
  if (stat(address.path().c_str(), &st) != 0) {
    return "install docker and start it (systemctl start docker), or say where it is: export "
           "DOCKER_HOST=unix:///run/user/$(id -u)/docker.sock";
  }
  if (access(address.path().c_str(), R_OK | W_OK) != 0) {
    return "use a rootless engine, or join its group: usermod -aG docker $USER";
  }
  return "see 'docker info' and 'journalctl -u docker'";
}

Check Docker() {
  const absl::StatusOr<EngineAddress> address = EngineAddress::Resolve();
  if (!address.ok()) {
    return Missing("docker", address.status(),
                   "set DOCKER_HOST to unix:///PATH, tcp://HOST:PORT or ssh://USER@HOST");
  }
  EngineClient client(*address);
  const absl::StatusOr<std::string> version = client.Version();
  if (!version.ok()) return Missing("docker", version.status(), DockerRemedy(*address));
  return Ok("engines", "docker", absl::StrCat("API ", version->substr(2), " at ", address->text()));
}

Check Nix(Runtime* runtime) {
  const absl::StatusOr<std::string> nix = FindNix();
  if (!nix.ok()) {
    return Missing("nix", absl::NotFoundError("nix is not on PATH"), NixInstallHint());
  }
  const absl::StatusOr<std::string> version = Ask(runtime, {*nix, "--version"});
  if (!version.ok()) {
    return Missing("nix", version.status(), absl::StrCat("see '", *nix, " --version'"));
  }
  return Ok("engines", "nix", *version);
}

}  // namespace

std::vector<Check> Engines(const absl::StatusOr<std::unique_ptr<Runtime>>& runtime) {
  std::vector<Check> checks;
  if (runtime.ok()) {
    checks = {Ok("engines", "native", "built in"), Tmux(runtime->get()), Docker(),
              Nix(runtime->get())};
  } else {
    const std::string remedy = "see the state directory";
    checks = {Missing("native", runtime.status(), remedy),
              Missing("tmux", runtime.status(), remedy), Docker(),
              Missing("nix", runtime.status(), remedy)};
  }
  return checks;
}

}  // namespace berth::doctor
