// What a session on tmux costs to ask, to send to, to look at, to make and to list: berth, a bare
// control-mode connection, and a tmux process per call, in turns.
//
//   tmux_benchmark [--rounds=N] [--sessions=N]
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/benchmark/samples.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/tmux/control_client.h"
#include "sandbox/base/unique_fd.h"

ABSL_FLAG(int, rounds, 200, "how often each is done");
ABSL_FLAG(int, sessions, 200, "how many are listed");

namespace berth {
namespace {

pid_t Run(const std::vector<std::string>& words, int in_out) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) {
    if (in_out >= 0 && fd < 2) {
      posix_spawn_file_actions_adddup2(&actions, in_out, fd);
    } else {
      posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", 2, 0);
    }
  }
  pid_t pid;
  CHECK_EQ(posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// A server of the benchmark's own, with one session `keep`.
class Bare {
 public:
  explicit Bare(const std::string& socket) : base_({"tmux", "-S", socket, "-f", "/dev/null"}) {
    Cli({"new-session", "-d", "-s", "keep", "-x", "80", "-y", "24", "cat"});
    int pair[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    const UniqueFd theirs(pair[1]);
    pid_ = Run(With({"-C", "attach", "-t", "=keep"}), theirs.get());
    client_ = std::make_unique<tmux::ControlClient>(UniqueFd(pair[0]));
    Control("display-message -p ready");
  }
  ~Bare() {
    Cli({"kill-server"});
    waitpid(pid_, nullptr, 0);
  }
  void Cli(const std::vector<std::string>& words) {
    int status;
    CHECK_GT(waitpid(Run(With(words), -1), &status, 0), 0);
    CHECK_EQ(status, 0) << words[0];
  }
  void Control(const std::string& line) {
    const auto answer = client_->Call(line, absl::Now() + absl::Seconds(30));
    CHECK_OK(answer.status()) << line;
  }

 private:
  std::vector<std::string> With(const std::vector<std::string>& words) const {
    std::vector<std::string> all = base_;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  const std::vector<std::string> base_;
  pid_t pid_ = 0;
  std::unique_ptr<tmux::ControlClient> client_;
};

struct Operation {
  std::string name;
  std::function<void()> berth, control, cli;
};

void Measure(const Operation& operation, int rounds) {
  Samples ours("berth"), control("control mode, bare"), cli("a tmux process per call");
  const auto time = [](const std::function<void()>& call, Samples* samples) {
    const absl::Time begin = absl::Now();
    call();
    samples->Add(absl::ToDoubleMicroseconds(absl::Now() - begin));
  };
  // Each comes after each of the others: after a process of its own a server is warm, and the rest
  // of the machine cold.
  const std::pair<const std::function<void()>*, Samples*> variants[] = {
      {&operation.berth, &ours}, {&operation.control, &control}, {&operation.cli, &cli}};
  constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {0, 2, 1}, {1, 2, 0}, {2, 1, 0}};
  for (int i = 0; i < rounds; ++i) {
    for (const int which : kOrders[i % 6]) time(*variants[which].first, variants[which].second);
  }
  Samples::PrintHeader(operation.name.c_str(), "control mode");
  for (const Samples* each : {&ours, &control, &cli}) each->Print(control);
}

void Main() {
  unsetenv("TMUX");
  std::string dir = "/tmp/berth-tmux-XXXXXX";
  CHECK(mkdtemp(dir.data()) != nullptr);
  {
    auto runtime = Runtime::Create({.state_dir = dir + "/state"});
    CHECK_OK(runtime.status());
    Bare bare(dir + "/bare");
    const auto create = [&](const std::string& name) {
      auto session = (*runtime)->CreateSession(
          {.name = name, .backend = "tmux", .command = Command::Argv({"cat"})});
      CHECK_OK(session.status());
      return *std::move(session);
    };
    const auto keep = create("keep");
    int made = 0;
    const int rounds = absl::GetFlag(FLAGS_rounds);
    Measure({"has: is it alive", [&] { CHECK(keep->CheckLiveness().liveness == Liveness::kAlive); },
             [&] { bare.Control("has-session -t =keep"); },
             [&] { bare.Cli({"has-session", "-t", "=keep"}); }},
            rounds);
    Measure(
        {"send: one character, written",
         [&] {
           CHECK_OK(keep->Send({.text = "x", .submit = "", .await = Delivery::kWritten}).status());
         },
         [&] { bare.Control("send-keys -t =keep: -l x"); },
         [&] { bare.Cli({"send-keys", "-t", "=keep:", "-l", "x"}); }},
        rounds);
    CHECK_OK(keep->SendKeys({"C-u"}));
    bare.Control("send-keys -t =keep: C-u");
    Measure({"capture: the screen", [&] { CHECK_OK(keep->Capture({.lines = 24}).status()); },
             [&] { bare.Control("capture-pane -p -t =keep:"); },
             [&] { bare.Cli({"capture-pane", "-p", "-t", "=keep:"}); }},
            rounds);
    Measure({"create and destroy",
             [&] { CHECK_OK(create(absl::StrCat("n", ++made))->Destroy(absl::ZeroDuration())); },
             [&] {
               bare.Control("new-session -d -s other cat");
               bare.Control("kill-session -t =other");
             },
             [&] {
               bare.Cli({"new-session", "-d", "-s", "other", "cat"});
               bare.Cli({"kill-session", "-t", "=other"});
             }},
            rounds / 4);
    std::vector<std::unique_ptr<Session>> crowd;
    const int sessions = absl::GetFlag(FLAGS_sessions);
    for (int i = 1; i < sessions; ++i) {
      crowd.push_back(create(absl::StrCat("crowd", i)));
      bare.Control(absl::StrCat("new-session -d -s crowd", i, " cat"));
    }
    Measure({absl::StrCat("list of ", sessions),
             [&] { CHECK_EQ((*runtime)->List()->size(), static_cast<size_t>(sessions)); },
             [&] { bare.Control("list-sessions"); }, [&] { bare.Cli({"list-sessions"}); }},
            rounds / 4);
    for (const auto& session : crowd) CHECK_OK(session->Destroy(absl::ZeroDuration()));
    CHECK_OK(keep->Destroy(absl::ZeroDuration()));
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  berth::Main();
  return 0;
}
