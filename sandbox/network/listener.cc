#include "sandbox/network/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/launcher/wire.h"
#include "sandbox/network/proxy_config.h"

namespace berth::network {
namespace {

constexpr int kBacklog = 64;

int Listen(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_in at;
  memset(&at, 0, sizeof(at));
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0 || listen(fd, kBacklog) != 0) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

}  // namespace

int OpenDoor(int channel, uint16_t port) {
  const int fd = Listen(port);
  if (fd < 0) return errno;
  // By hand: SendMessage may use the heap.
  launcher::Header header;
  header.type = kProxyListen;
  iovec body{&header, sizeof(header)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  memset(control, 0, sizeof(control));
  msghdr message;
  memset(&message, 0, sizeof(message));
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(rights), &fd, sizeof(int));
  ssize_t n;
  while ((n = sendmsg(channel, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  const int error = n < 0 ? errno : 0;
  close(fd);
  return error;
}

int ListenOnLoopback(uint16_t* port) {
  const int fd = Listen(0);
  if (fd < 0) return -1;
  sockaddr_in at;
  socklen_t size = sizeof(at);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    close(fd);
    return -1;
  }
  *port = ntohs(at.sin_port);
  return fd;
}

}  // namespace berth::network
