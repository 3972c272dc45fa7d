#include "sandbox/launcher/enter/violations.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/launcher/enter/caller.h"
#include "sandbox/launcher/enter/file_call.h"
#include "sandbox/seccomp/describe.h"

namespace berth::launcher {
namespace {

constexpr int kAtOnce = 64;  // others want to be served too
constexpr size_t kLongest = 512;

// What the second argument of connect points to; 0 if it cannot be read.
size_t ReadAddress(const seccomp_notif& call, sockaddr_storage* address) {
  if (call.data.nr != SYS_connect) return 0;
  const size_t size = std::min<size_t>(call.data.args[2], sizeof(*address));
  iovec ours{address, size};
  iovec theirs{reinterpret_cast<void*>(call.data.args[1]), size};
  const ssize_t n = process_vm_readv(static_cast<pid_t>(call.pid), &ours, 1, &theirs, 1, 0);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

// What is known of the names goes for the call only if it has not ended meanwhile.
bool IsWaiting(int listener, const seccomp_notif& call) {
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

// Whatever the names are, it goes on: they can be changed by now, and the kernel looks again.
void ServeFile(int listener, const seccomp_notif& call, const FileCall& file, const FileView& view,
               ViolationLog* log) {
  std::string paths[2];
  const pid_t pid = static_cast<pid_t>(call.pid);
  for (int i = 0; i < file.count; ++i) {
    const FileCall::Name& name = file.names[i];
    if (!ReadCallersPath(pid, name.folder, name.address, &paths[i])) paths[i].clear();
  }
  const bool known = IsWaiting(listener, call);
  seccomp_notif_resp answer;
  memset(&answer, 0, sizeof(answer));
  answer.id = call.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  // One that a signal took away comes again.
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 || !known) return;
  const char* why = nullptr;
  for (int i = 0; i < file.count && why == nullptr; ++i) {
    why = view.Judge(paths[i], file.names[i].access);
  }
  if (why == nullptr) return;
  for (std::string& path : paths) {
    if (!path.empty()) path = CleanPath(path);
  }
  log->AddFile(pid, DescribeFileCall(file, paths), why);
}

bool ServeOne(int listener, ViolationLog* log) {
  seccomp_notif call;
  memset(&call, 0, sizeof(call));  // the kernel wants it so
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return errno == ENOENT;
  FileCall file;
  const FileView* const view = log->FilesOf(call.data);
  if (view != nullptr && ReadFileCall(call.data, &file)) {
    ServeFile(listener, call, file, *view, log);
    return true;
  }
  sockaddr_storage address;
  const size_t size = ReadAddress(call, &address);
  // The number may have gone to another process while its memory was read.
  if (!IsWaiting(listener, call)) return true;
  seccomp::Judgement judgement = seccomp::JudgeNotification(call.data, &address, size);
  seccomp_notif_resp answer;
  memset(&answer, 0, sizeof(answer));
  answer.id = call.id;
  if (judgement.goes_on) {
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  } else {
    answer.error = judgement.error > 0 ? -judgement.error : -EPERM;
    log->Add(judgement.network ? ViolationLog::kNetwork : ViolationLog::kSyscall,
             static_cast<int32_t>(call.pid), std::move(judgement.what));
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  return true;
}

}  // namespace

void ViolationLog::SetPlan(const SandboxPlan& plan) {
  network_ = plan.network;
  told_calls_ = plan.told_calls;
  files_.reset();
  if (!told_calls_.empty()) files_ = std::make_unique<const FileView>(plan, geteuid() == 0);
}

const FileView* ViolationLog::FilesOf(const seccomp_data& call) const {
  if (files_ == nullptr || !seccomp::IsNative(call) || seccomp::AsksForSetId(call)) return nullptr;
  const bool told = std::find(told_calls_.begin(), told_calls_.end(), call.nr) != told_calls_.end();
  return told ? files_.get() : nullptr;
}

void ViolationLog::AddFile(int32_t pid, std::string what, const char* why) {
  Add(kFile, pid, std::move(what));
  kept_.back().why = why;
}

void ViolationLog::Add(uint8_t layer, int32_t pid, std::string what) {
  if (what.size() > kLongest) what.resize(kLongest);
  std::replace(what.begin(), what.end(), '\0', '?');
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t ns =
      static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
  kept_.push_back({layer, pid, ns, std::move(what)});
  if (kept_.size() > kMost) kept_.pop_front();
  ++total_;
}

void ViolationLog::AddDeath(int32_t pid, int signal) {
  if (signal == SIGSYS) Add(kSyscall, pid, "system call (killed)");
  if (signal == SIGXFSZ) Add(kFileSize, pid, "grow a file");
}

void ViolationLog::Encode(uint64_t since, Writer* out) const {
  const uint64_t oldest = total_ - kept_.size();
  const uint64_t first = std::min(std::max(since, oldest), total_);
  out->Put(total_).Put(first).Put(static_cast<uint32_t>(total_ - first));
  for (uint64_t i = first; i < total_; ++i) {
    const Entry& entry = kept_[static_cast<size_t>(i - oldest)];
    out->Put(entry.layer).Put(entry.pid).Put(entry.unix_ns).Put(entry.what);
    if (entry.layer == kFile) out->Put(std::string_view(entry.why));
  }
  out->Put(network_);
}

bool ServeNotifications(int listener, ViolationLog* log) {
  for (int i = 0; i < kAtOnce; ++i) {
    pollfd ready{listener, POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0) return true;
    if ((ready.revents & POLLIN) == 0) return false;  // POLLHUP: no one is left
    if (!ServeOne(listener, log)) return false;
  }
  return true;
}

}  // namespace berth::launcher
