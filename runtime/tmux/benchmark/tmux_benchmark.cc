// What a session on tmux costs to ask, to send to, to look at, to make and to list: berth, a bare
// control-mode connection, and a tmux process per call, in turns.
//
//   tmux_benchmark [--rounds=N] [--sessions=N] [--fifo]
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
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
ABSL_FLAG(bool, fifo, false, "run under SCHED_FIFO");

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

struct Variant {
  std::string name;
  std::function<void()> call;
};

// `variants[1]` is what the others are compared with.
void Measure(const std::string& title, const std::vector<Variant>& variants, int rounds) {
  std::vector<Samples> samples;
  std::vector<size_t> order;
  for (const Variant& variant : variants) {
    order.push_back(samples.size());
    samples.emplace_back(variant.name);
  }
  // In every order: after a process of its own a server is warm, and the rest of the machine cold.
  for (int i = 0; i < rounds; ++i) {
    for (const size_t which : order) {
      const absl::Time begin = absl::Now();
      variants[which].call();
      samples[which].Add(absl::ToDoubleMicroseconds(absl::Now() - begin));
    }
    std::next_permutation(order.begin(), order.end());
  }
  Samples::PrintHeader(title.c_str(), variants[1].name.c_str());
  for (const Samples& each : samples) each.Print(samples[1]);
}

void Main() {
  unsetenv("TMUX");
  if (absl::GetFlag(FLAGS_fifo) && !UseFifo()) printf("SCHED_FIFO is not to be had\n");
  std::string dir = "/tmp/berth-tmux-XXXXXX";
  CHECK(mkdtemp(dir.data()) != nullptr);
  {
    auto runtime = Runtime::Create({.state_dir = dir + "/state"});
    auto natives = Runtime::Create({.state_dir = dir + "/natives"});
    CHECK_OK(runtime.status());
    CHECK_OK(natives.status());
    // Each has a server of its own: a process per call would leave the bare one's warm.
    Bare bare(dir + "/bare"), cli(dir + "/cli");
    const auto create = [&](const std::string& backend, const std::string& name) {
      auto session = (*runtime)->CreateSession(
          {.name = name, .backend = backend, .command = Command::Argv({"cat"})});
      CHECK_OK(session.status());
      return *std::move(session);
    };
    const auto keep = create("tmux", "keep");
    int made = 0;
    const int rounds = absl::GetFlag(FLAGS_rounds);
    const std::string ours = "berth", bare_name = "control mode, bare",
                      per_call = "a tmux process per call";
    Measure("has: is it alive",
            {{ours, [&] { CHECK(keep->CheckLiveness().liveness == Liveness::kAlive); }},
             {bare_name, [&] { bare.Control("has-session -t =keep"); }},
             {per_call, [&] { cli.Cli({"has-session", "-t", "=keep"}); }}},
            rounds);
    Measure(
        "send: one character, written",
        {{ours,
          [&] {
            CHECK_OK(keep->Send({.text = "x", .submit = "", .await = Delivery::kWritten}).status());
          }},
         {bare_name, [&] { bare.Control("send-keys -t =keep: -l x"); }},
         {per_call, [&] { cli.Cli({"send-keys", "-t", "=keep:", "-l", "x"}); }}},
        rounds);
    CHECK_OK(keep->SendKeys({"C-u"}));
    for (Bare* each : {&bare, &cli}) each->Control("send-keys -t =keep: C-u");
    Measure("capture: the screen",
            {{ours, [&] { CHECK_OK(keep->Capture({.lines = 24}).status()); }},
             {bare_name, [&] { bare.Control("capture-pane -p -t =keep:"); }},
             {per_call, [&] { cli.Cli({"capture-pane", "-p", "-t", "=keep:"}); }}},
            rounds);
    const auto make_and_destroy = [&](const std::string& backend) {
      CHECK_OK(create(backend, absl::StrCat("n", ++made))->Destroy(absl::ZeroDuration()));
    };
    Measure("create and destroy",
            {{ours, [&] { make_and_destroy("tmux"); }},
             {bare_name,
              [&] {
                bare.Control("new-session -d -s other cat");
                bare.Control("kill-session -t =other");
              }},
             {per_call,
              [&] {
                cli.Cli({"new-session", "-d", "-s", "other", "cat"});
                cli.Cli({"kill-session", "-t", "=other"});
              }},
             {"berth, on the native backend", [&] { make_and_destroy("native"); }}},
            rounds / 4);
    std::vector<std::unique_ptr<Session>> crowd;
    const int sessions = absl::GetFlag(FLAGS_sessions);
    for (int i = 1; i < sessions; ++i) {
      crowd.push_back(create("tmux", absl::StrCat("crowd", i)));
      crowd.push_back(*(*natives)->CreateSession(
          {.name = absl::StrCat("crowd", i), .command = Command::Argv({"cat"})}));
      for (Bare* each : {&bare, &cli})
        each->Control(absl::StrCat("new-session -d -s crowd", i, " cat"));
    }
    // Records that have just been written are read again each time: see RecordCache.
    for (const absl::Time settled = absl::Now() + absl::Seconds(3); absl::Now() < settled;)
      CHECK_OK((*runtime)->List().status());
    Measure(absl::StrCat("list of ", sessions),
            {{ours, [&] { CHECK_EQ((*runtime)->List()->size(), static_cast<size_t>(sessions)); }},
             {bare_name, [&] { bare.Control("list-sessions"); }},
             {per_call, [&] { cli.Cli({"list-sessions"}); }},
             {"berth, on the native backend",
              [&] { CHECK_EQ((*natives)->List()->size(), static_cast<size_t>(sessions) - 1); }}},
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
