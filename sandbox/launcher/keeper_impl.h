// The keeper's parts, for keeper.cc (its life), keeper_output.cc (what the program writes),
// keeper_requests.cc (what it is asked) and keeper_talk.cc (input and output).
#ifndef BERTH_SANDBOX_LAUNCHER_KEEPER_IMPL_H_
#define BERTH_SANDBOX_LAUNCHER_KEEPER_IMPL_H_

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/enclosure.h"
#include "sandbox/launcher/enter/tree_limits.h"
#include "sandbox/launcher/enter/violations.h"
#include "sandbox/launcher/input.h"
#include "sandbox/launcher/keeper_spec.h"
#include "sandbox/launcher/log_file.h"
#include "sandbox/launcher/output.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/launcher/session_files.h"
#include "sandbox/launcher/signals.h"
#include "sandbox/launcher/status_page.h"
#include "sandbox/launcher/terminal/screen.h"
#include "sandbox/launcher/tree.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/launcher/workloads.h"
#include "sandbox/network/proxy_child.h"

namespace berth::launcher {

inline constexpr size_t kPipeSize = 1 << 20;  // of a stream that flows

class Keeper {
 public:
  explicit Keeper(bool cgroups) : cgroups_(cgroups) {}
  int Run();

 private:
  // A connection. Each has one request under way at most.
  struct Client {
    uint64_t id;
    UniqueFd socket;
    bool owner = false;
    uint16_t waits = 0;  // kWait, kStop or kDestroy: to be answered at the end; kAwaitViolations
    uint64_t since = 0;  // of kAwaitViolations
  };
  // A person's terminal: gets the screen, then the output; gives input.
  struct Viewer {
    UniqueFd socket;
    std::string pending;  // before the output from `at` on
    uint64_t at;
  };
  enum class Phase : uint8_t {
    kNew,    // not set up
    kGated,  // the main process waits for the record
    kRunning,
    kExited,  // the main process has ended, the tree may not be gone yet
    kGone,    // nothing of it runs any more
  };

  // keeper.cc
  Step SetUp(Message* message, int* error);
  bool StartMain(int* error, Step* step);
  // As StartGatedChild; in a sandbox with namespaces its init, until the gate is open.
  pid_t StartGated(ChildPlan* plan, int cgroup_fd, int* pidfd);
  bool OpenGate(ChildPlan::Error* error);
  void ReapChildren();
  void MainExited(int status);
  void Settle();
  // TERM now, KILL after the grace; `reason` is an EndReason, 0 for being asked.
  void BeginStop(uint32_t grace_ms, uint8_t reason);
  void CheckLimits();
  uint64_t NextDeadline();
  void Poll();
  void Accept();
  void Serve(Client* client);
  void ServeClients(const std::vector<pollfd>& fds, size_t first);
  void OwnerGone();

  // keeper_output.cc
  void ReadOutput();
  bool ReadStream(int fd, Output* output);
  // Takes what it can without copying it: how much.
  size_t PassOutput(int fd, size_t most, Output* output);
  void TakeOutput(std::string_view bytes, Output* output);
  void OutputSeen();
  void ServeViewers();

  // keeper_pane.cc
  bool HandlePane(Client* client, Message* message);
  void Become(Client* client, Message* message);
  void RunAtEnd() const;

  // keeper_requests.cc
  void Handle(Client* client, Message* message);
  void Setup(Client* client, Message* message);
  void Go(Client* client);
  // As kInfo answers.
  std::string InfoBody(uint64_t output_bytes, uint64_t quiet_ns) const;
  void Info(Client* client, Reader* in);
  // On the page, if anybody has asked for it. Before whoever hears of something new hears of it.
  void ShowStatus();
  // Appends what the key sends; false if no key is called so.
  bool Key(std::string_view name, std::string* bytes) const;
  void Send(Client* client, Reader* in);
  void Keys(Client* client, Reader* in);
  void Capture(Client* client, Reader* in);
  void AddReader(Client* client, Message* message, Reader* in);
  void Attach(Client* client, Message* message);
  void Resize(Client* client, Reader* in);
  void Exec(Client* client, Message* message);
  void Stats(Client* client);
  void AnswerInput();
  void AnswerViolations();
  void AnswerEnd();
  void Ok(Client* client, std::string_view body = {}, int fd = -1);
  static void Fail(Client* client, int error, Step step, std::string_view detail);

  bool sandboxed() const { return sandbox_.tier != SandboxTier::kNone; }
  bool has_namespaces() const { return sandboxed() && sandbox_.tier != SandboxTier::kLandlock; }
  bool ended() const { return phase_ >= Phase::kExited; }
  int input_fd() const { return spec_.pty ? pty_.get() : stdin_.get(); }
  Screen* screen();

  const bool cgroups_;
  KeeperSpec spec_;
  SessionFiles files_;
  Phase phase_ = Phase::kNew;
  ChildSignals signals_;

  Cgroup group_;
  std::optional<Tree> tree_;
  TreeLimits limits_;  // of the whole session
  network::ProxyChild proxy_;
  std::optional<Workloads> execs_;
  pid_t main_ = -1;
  pid_t init_ = -1;  // of a sandbox with namespaces: whose end is the main process's
  SandboxPlan sandbox_;
  Enclosure enclosure_;
  ViolationLog violations_;
  UniqueFd main_pidfd_, gate_, start_errors_;
  ExitNotice exit_;
  bool stopping_ = false;
  uint64_t signals_sent_ = 0;  // to the main process, by kSignal: bit n - 1 is signal n
  uint8_t stop_reason_ = 0;
  uint64_t kill_at_ = kNever, killing_since_ = kNever;
  uint64_t started_at_ = 0, last_output_at_ = 0;
  bool destroying_ = false;
  bool gave_up_ = false;      // its owner went before it was let run
  Message at_end_;            // kAtEnd, if there is something to run
  bool pane_due_ = false;     // a window will come, and answers the program's questions then
  bool pane_closed_ = false;  // and somebody has closed it

  UniqueFd pty_, pty_slave_, stdin_, stdout_, stderr_;
  bool stdin_closing_ = false;
  bool stdout_grown_ = false;  // to kPipeSize, or it cannot be
  std::optional<Output> out_, err_;
  Ring mixed_{128 << 10};  // both pipes as they came, for captures
  std::unique_ptr<Screen> screen_;
  LogFile log_;
  InputQueue input_;

  UniqueFd listener_;
  UniqueFd owner_end_;  // of an owner that has left
  std::deque<Client> clients_;
  std::vector<Viewer> viewers_;
  StatusPage page_;
  uint64_t next_client_ = 1;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_KEEPER_IMPL_H_
