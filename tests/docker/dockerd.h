// DockerEngine: a real dockerd for tests, started by the test itself. It lives in mount, network
// and pid namespaces of its own, with its data on a tmpfs and its containers below a cgroup of its
// own; it has one image, kImage, made of busybox.
//
//   auto engine = DockerEngine::Start();       // once a test binary
//   setenv("DOCKER_HOST", (*engine)->address().c_str(), 1);
//
// A guardian process holds all of it. When the engine object ends, or the test dies however it
// dies, the guardian ends the engine and its containers and removes folders and cgroups. Linux,
// root. Threads: one.
#ifndef BERTH_TESTS_DOCKER_DOCKERD_H_
#define BERTH_TESTS_DOCKER_DOCKERD_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// Puts this thread, and what it starts from then on, into a network of its own: nothing but
// loopback.
absl::Status EnterOwnNetwork();

class DockerEngine {
 public:
  static constexpr char kImage[] = "bb:1";

  struct Options {
    std::string flags = "";   // for dockerd, besides
    bool own_network = true;  // false: the test's, which is then one of its own
    bool restarts = false;    // dockerd alone can be killed, and starts again: see KillDaemon
    bool podman = false;      // its service in the place of dockerd
  };

  // FailedPrecondition, with the reason, where no engine can run (no root, no dockerd).
  static absl::StatusOr<std::unique_ptr<DockerEngine>> Start(const Options& options);
  // Podman's if $BERTH_TEST_ENGINE is "podman": so a test target can be had for either.
  static absl::StatusOr<std::unique_ptr<DockerEngine>> Start();
  ~DockerEngine();

  const std::string& folder() const { return folder_; }
  const std::string& socket() const { return socket_; }
  std::string address() const { return "unix://" + socket_; }

  // KILL to the engine and with it to every container, as when the machine loses power.
  absl::Status Kill();
  // Starts it again on the same data.
  absl::Status Restart();
  // KILL to dockerd alone, and waits until another one answers; with --live-restore, containers run
  // on meanwhile.
  absl::Status KillDaemon();
  // STOP and CONT to dockerd alone: connections are accepted by the kernel, nothing answers.
  absl::Status Freeze();
  absl::Status Thaw();

  // Runs a line of shell with DOCKER_HOST set to this engine; its standard output.
  absl::StatusOr<std::string> Shell(const std::string& line) const;

 private:
  DockerEngine() = default;
  absl::Status Ask(char command);
  absl::StatusOr<pid_t> DaemonPid() const;

  std::string folder_, socket_;
  UniqueFd guardian_;
};

}  // namespace berth

#endif  // BERTH_TESTS_DOCKER_DOCKERD_H_
