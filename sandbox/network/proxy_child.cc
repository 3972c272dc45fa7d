#include "sandbox/network/proxy_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/child.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/proxy_config.h"

namespace berth::network {
namespace {

using launcher::Failure;
using launcher::Message;
using launcher::SandboxPlan;
using launcher::Step;

constexpr int kReadyMs = 10000;

// 0, or an errno: EINVAL if the proxy does not take the configuration.
int Configure(int channel, const SandboxPlan& plan) {
  ProxyConfig config;
  config.rules = plan.proxy_rules;
  config.token = plan.proxy_token;
  config.resolvers = plan.proxy_resolvers;
  if (const int error =
          launcher::SendMessage(channel, kProxyConfigure, config.Encode(), nullptr, 0)) {
    return error;
  }
  pollfd wait{channel, POLLIN, 0};
  int n;
  while ((n = poll(&wait, 1, kReadyMs)) < 0 && errno == EINTR) {
  }
  if (n <= 0) return ETIMEDOUT;
  Message ready;
  if (const int error = launcher::ReceiveMessage(channel, &ready)) return error;
  launcher::Reader in = ready.reader();
  const std::string wrong = in.GetString();
  return ready.type == kProxyReady && in.done() && wrong.empty() ? 0 : EINVAL;
}

}  // namespace

bool ProxyChild::Start(const SandboxPlan& plan, launcher::OpenProgram open_program,
                       Failure* failure) {
  if (plan.network != launcher::SandboxNetwork::kProxy) return true;
  const auto fail = [failure](int error) {
    *failure = {Step::kNetwork, error};
    return false;
  };
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return fail(errno);
  UniqueFd ours(pair[0]);
  const UniqueFd theirs(pair[1]);
  const UniqueFd program(open_program());
  if (!program.ok()) return fail(errno);
  const char* argv[] = {"berth-proxy", kProxyMode, nullptr};
  const char* env[] = {nullptr};
  launcher::ChildPlan child;
  child.argv = argv;
  child.env = env;
  child.exe_fd = program.get();
  child.keep_fd = theirs.get();
  child.own_session = true;
  int pidfd = -1;
  if (launcher::StartChild(&child, -1, &pidfd) < 0) return fail(child.error.error);
  pidfd_.reset(pidfd);
  if (const int error = Configure(ours.get(), plan)) {
    Stop();
    return fail(error);
  }
  fcntl(ours.get(), F_SETFL, fcntl(ours.get(), F_GETFL) | O_NONBLOCK);
  channel_ = std::move(ours);
  return true;
}

bool ProxyChild::TakeDenials(std::vector<Denial>* denials) {
  Message message;
  while (channel_.ok()) {
    const int error = launcher::ReceiveMessage(channel_.get(), &message);
    if (error == EAGAIN || error == EINTR) return true;
    if (error != 0) {
      channel_.reset();
      break;
    }
    launcher::Reader in = message.reader();
    Denial denial;
    denial.what = in.GetString();
    denial.reason = in.GetString();
    denial.lost = in.Get<uint32_t>();
    if (message.type == kProxyDenied && in.done()) denials->push_back(std::move(denial));
  }
  return false;
}

void ProxyChild::Stop() {
  channel_.reset();
  if (pidfd_.ok()) launcher::PidfdSignal(pidfd_.get(), SIGKILL);
  pidfd_.reset();
}

}  // namespace berth::network
