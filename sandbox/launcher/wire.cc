#include "sandbox/launcher/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <utility>

namespace berth::launcher {
namespace {

int WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return 0;
}

int ReadBodyFrom(int fd, std::string* body) {
  // Sealed, or the sender could change it while it is read.
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const int seals = fcntl(fd, F_GET_SEALS);
  struct stat st;
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(fd, &st) != 0) return EPROTO;
  if (st.st_size < 0 || static_cast<size_t>(st.st_size) > kMaxBody) return EMSGSIZE;
  body->resize(static_cast<size_t>(st.st_size));
  size_t got = 0;
  while (got < body->size()) {
    const ssize_t n = pread(fd, body->data() + got, body->size() - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return EPROTO;
    got += static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace

std::string_view Reader::GetBytes() {
  const uint32_t size = Get<uint32_t>();
  if (!Take(size_t{size} + 1) || at_[-1] != '\0') {
    ok_ = false;
    return {};
  }
  return {at_ - size - 1, size};
}

const char* Reader::GetString() {
  const std::string_view bytes = GetBytes();
  if (!ok_ || memchr(bytes.data(), 0, bytes.size()) != nullptr) {
    ok_ = false;
    return "";
  }
  return bytes.data();
}

std::vector<const char*> Reader::GetStrings(size_t max) {
  std::vector<const char*> strings;
  const uint32_t count = Get<uint32_t>();
  // Each takes five bytes at least: a count that cannot be true allocates nothing.
  if (count > max || count > static_cast<size_t>(end_ - at_) / 5) ok_ = ok_ && count == 0;
  for (uint32_t i = 0; ok_ && i < count; ++i) strings.push_back(GetString());
  if (!ok_) strings.clear();
  strings.push_back(nullptr);
  return strings;
}

int SendMessage(int socket, uint16_t type, std::string_view body, const int* fds, int fd_count) {
  if (body.size() > kMaxBody || fd_count > kMaxFds - 1) return EMSGSIZE;
  Header header;
  header.type = type;
  int all[kMaxFds];
  int count = 0;
  UniqueFd memfd;
  if (body.size() > kInlineBody) {
    memfd = UniqueFd(memfd_create("berth-message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memfd.ok()) return errno;
    if (int error = WriteAll(memfd.get(), body.data(), body.size())) return error;
    if (fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
      return errno;
    header.flags |= kBodyInMemfd;
    all[count++] = memfd.get();
    body = {};
  }
  for (int i = 0; i < fd_count; ++i) all[count++] = fds[i];

  iovec iov[2] = {{&header, sizeof(header)}, {const_cast<char*>(body.data()), body.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)];
  msghdr msg{};
  msg.msg_iov = iov;
  msg.msg_iovlen = 2;
  if (count > 0) {
    const size_t bytes = sizeof(int) * static_cast<size_t>(count);
    msg.msg_control = control;
    msg.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* cmsg = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(cmsg), all, bytes);
  }
  while (sendmsg(socket, &msg, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int ReceiveMessage(int socket, Message* message) {
  message->fds.clear();
  Header header;
  char inline_body[kInlineBody];
  iovec iov[2] = {{&header, sizeof(header)}, {inline_body, sizeof(inline_body)}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)];
  msghdr msg{};
  msg.msg_iov = iov;
  msg.msg_iovlen = 2;
  msg.msg_control = control;
  msg.msg_controllen = sizeof(control);
  ssize_t n;
  while ((n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno != EINTR) return errno == ECONNRESET ? EPIPE : errno;
  }
  for (cmsghdr* cmsg = CMSG_FIRSTHDR(&msg); cmsg != nullptr; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
    if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
      message->fds.emplace_back(fd);
    }
  }
  if (n == 0) return EPIPE;
  if (static_cast<size_t>(n) < sizeof(header) || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      header.magic != kMagic || header.version != kVersion) {
    return EPROTO;
  }
  message->type = header.type;
  std::string& body = message->body;
  body.assign(inline_body, static_cast<size_t>(n) - sizeof(header));
  if ((header.flags & kBodyInMemfd) != 0) {
    if (message->fds.empty()) return EPROTO;
    const UniqueFd memfd = std::move(message->fds.front());
    message->fds.erase(message->fds.begin());
    return ReadBodyFrom(memfd.get(), &body);
  }
  return 0;
}

}  // namespace berth::launcher
