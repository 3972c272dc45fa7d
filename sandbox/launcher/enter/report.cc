#include "sandbox/launcher/enter/report.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/kernel.h"

namespace berth::launcher {

int SendReport(int socket, const Report& report, const int* fds, int count, std::string_view text) {
  iovec iov[2] = {{const_cast<Report*>(&report), sizeof(report)},
                  {const_cast<char*>(text.data()), text.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxReportFds)] = {};
  msghdr message{};
  message.msg_iov = iov;
  message.msg_iovlen = 2;
  if (count > kMaxReportFds || text.size() > kMaxReportText) return EINVAL;
  if (count > 0) {
    const size_t bytes = sizeof(int) * static_cast<size_t>(count);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* cmsg = CMSG_FIRSTHDR(&message);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(cmsg), fds, bytes);
  }
  // One that sends may share its memory, and errno, with another (confine.h).
  long n;
  while ((n = RawCall(SYS_sendmsg, socket, RawPointer(&message), MSG_NOSIGNAL)) == -EINTR) {
  }
  return n < 0 ? static_cast<int>(-n) : 0;
}

int ReceiveReport(int socket, Report* report, std::vector<UniqueFd>* fds, std::string* text,
                  int flags) {
  char buffer[kMaxReportText];
  iovec iov[2] = {{report, sizeof(*report)}, {buffer, sizeof(buffer)}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxReportFds)];
  msghdr message{};
  message.msg_iov = iov;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t n;
  while ((n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags)) < 0) {
    // Said once if the other side went without reading all that it was sent; what it has sent
    // itself comes after it.
    if (errno != EINTR && errno != ECONNRESET) return errno;
  }
  fds->clear();
  for (cmsghdr* cmsg = CMSG_FIRSTHDR(&message); cmsg != nullptr;
       cmsg = CMSG_NXTHDR(&message, cmsg)) {
    if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
      fds->emplace_back(fd);
    }
  }
  if (n == 0) return EPIPE;
  if (n < static_cast<ssize_t>(sizeof(*report))) return EPROTO;
  text->assign(buffer, static_cast<size_t>(n) - sizeof(*report));
  return 0;
}

bool MakeReportPair(UniqueFd* ours, UniqueFd* theirs) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
  ours->reset(pair[0]);
  theirs->reset(pair[1]);
  const timeval limit{60, 0};
  return setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0;
}

}  // namespace berth::launcher
