#include "sandbox/launcher/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/keeper_spec.h"

namespace berth::launcher {
namespace {

using ::testing::ElementsAre;

class Wire : public testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    a_ = UniqueFd(pair[0]);
    b_ = UniqueFd(pair[1]);
  }
  // A datagram as it is, with descriptors.
  void SendRaw(std::string_view bytes, const std::vector<int>& fds = {}) {
    iovec iov{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 64)];
    msghdr msg{};
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    if (!fds.empty()) {
      msg.msg_control = control;
      msg.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* cmsg = CMSG_FIRSTHDR(&msg);
      cmsg->cmsg_level = SOL_SOCKET;
      cmsg->cmsg_type = SCM_RIGHTS;
      cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      memcpy(CMSG_DATA(cmsg), fds.data(), sizeof(int) * fds.size());
    }
    ASSERT_EQ(sendmsg(a_.get(), &msg, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()))
        << strerror(errno);
  }
  static std::string Bytes(const Header& header, std::string_view body = {}) {
    return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + std::string(body);
  }
  static int OpenDescriptors() {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
  }
  UniqueFd a_, b_;
};

TEST_F(Wire, CarriesFieldsAndDescriptors) {
  Writer out;
  out.Put(uint8_t{7})
      .Put(int64_t{-5})
      .Put(std::string_view("with\0nul", 8))
      .Put("plain")
      .PutList(std::vector<std::string>{"a", "", "c"});
  const int fds[2] = {a_.get(), b_.get()};
  ASSERT_EQ(SendMessage(a_.get(), 42, out.body(), fds, 2), 0);
  Message message;
  ASSERT_EQ(ReceiveMessage(b_.get(), &message), 0);
  EXPECT_EQ(message.type, 42);
  EXPECT_EQ(message.fds.size(), 2u);
  Reader in = message.reader();
  EXPECT_EQ(in.Get<uint8_t>(), 7);
  EXPECT_EQ(in.Get<int64_t>(), -5);
  EXPECT_EQ(in.GetBytes(), std::string_view("with\0nul", 8));
  EXPECT_FALSE(in.done());
  EXPECT_STREQ(in.GetString(), "plain");
  const std::vector<const char*> list = in.GetStrings(3);
  EXPECT_THAT(list,
              ElementsAre(testing::StrEq("a"), testing::StrEq(""), testing::StrEq("c"), nullptr));
  EXPECT_TRUE(in.done());
  EXPECT_EQ(in.Get<uint8_t>(), 0);
  EXPECT_FALSE(in.ok());
}

TEST_F(Wire, CarriesBodiesOfAnySizeUpToTheLimit) {
  for (const size_t size :
       {size_t{0}, size_t{1}, kInlineBody, kInlineBody + 1, size_t{3} << 20, kMaxBody}) {
    std::string body(size, 'x');
    for (size_t i = 0; i < size; i += 997) body[i] = static_cast<char>(i);
    const int fd = a_.get();
    ASSERT_EQ(SendMessage(a_.get(), 1, body, &fd, 1), 0) << size;
    Message message;
    ASSERT_EQ(ReceiveMessage(b_.get(), &message), 0) << size;
    EXPECT_TRUE(message.body == body) << size;
    EXPECT_EQ(message.fds.size(), 1u);
  }
  EXPECT_EQ(SendMessage(a_.get(), 1, std::string(kMaxBody + 1, 'x'), nullptr, 0), EMSGSIZE);
}

TEST_F(Wire, TellsAClosedEnd) {
  Message message;
  EXPECT_EQ(ReceiveMessage(b_.get(), &message), EAGAIN);
  a_.reset();
  EXPECT_EQ(ReceiveMessage(b_.get(), &message), EPIPE);
  EXPECT_EQ(SendMessage(b_.get(), 1, "", nullptr, 0), EPIPE);
}

TEST_F(Wire, RefusesWhatIsNoMessageAndKeepsNoDescriptorOfIt) {
  const int before = OpenDescriptors();
  const auto refused = [&](const char* what) {
    Message message;
    EXPECT_EQ(ReceiveMessage(b_.get(), &message), EPROTO) << what;
  };
  const std::vector<int> one = {a_.get()};
  SendRaw("short", one);
  refused("shorter than a header");
  Header header;
  header.magic ^= 1;
  SendRaw(Bytes(header), one);
  refused("another magic number");
  header = {};
  header.version = kVersion + 1;
  SendRaw(Bytes(header), one);
  refused("another version");
  SendRaw(Bytes(Header(), std::string(kInlineBody + 1, 'x')), one);
  refused("longer than fits");
  SendRaw(Bytes(Header()), std::vector<int>(kMaxFds + 10, a_.get()));
  refused("too many descriptors");
  header = {};
  header.flags = kBodyInMemfd;
  SendRaw(Bytes(header));
  refused("a body in a memfd that did not come");
  SendRaw(Bytes(header), one);
  refused("a body in what is no memfd");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(Wire, ReadsBodiesOnlyFromWhatTheSenderCannotChange) {
  Header header;
  header.flags = kBodyInMemfd;
  const auto receive = [&](off_t size, unsigned seals) {
    const UniqueFd memfd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(memfd.get(), size), 0);
    EXPECT_EQ(fcntl(memfd.get(), F_ADD_SEALS, seals), 0);
    SendRaw(Bytes(header), {memfd.get()});
    Message message;
    return ReceiveMessage(b_.get(), &message);
  };
  constexpr unsigned kAll = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  EXPECT_EQ(receive(100000, kAll), 0);
  EXPECT_EQ(receive(0, kAll), 0);
  EXPECT_EQ(receive(100000, 0), EPROTO);
  EXPECT_EQ(receive(100000, kAll & ~static_cast<unsigned>(F_SEAL_WRITE)), EPROTO);
  EXPECT_EQ(receive(100000, kAll & ~static_cast<unsigned>(F_SEAL_SHRINK)), EPROTO);
  EXPECT_EQ(receive(static_cast<off_t>(kMaxBody) + 1, kAll), EMSGSIZE);
}

TEST(Reader, SurvivesCountsAndLengthsThatLie) {
  for (const uint32_t size : {1u, 2u, 1000u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
    Writer out;
    out.Put(size).Put(uint8_t{0});
    Reader bytes(out.body().data(), out.body().size());
    EXPECT_EQ(bytes.GetBytes(), "");
    EXPECT_FALSE(bytes.ok());
    Reader list(out.body().data(), out.body().size());
    EXPECT_THAT(list.GetStrings(~size_t{0}), ElementsAre(nullptr));
    EXPECT_FALSE(list.ok());
  }
  Writer more;
  more.PutList(std::vector<std::string>{"a", "b", "c"});
  Reader few(more.body().data(), more.body().size());
  EXPECT_THAT(few.GetStrings(2), ElementsAre(nullptr));
  EXPECT_FALSE(few.done());
  // A string whose NUL is missing, and one with a NUL inside.
  Reader unterminated("\1\0\0\0ab", 6);
  EXPECT_STREQ(unterminated.GetString(), "");
  EXPECT_FALSE(unterminated.ok());
  Reader inside("\2\0\0\0a\0\0", 7);
  EXPECT_STREQ(inside.GetString(), "");
  EXPECT_FALSE(inside.ok());
}

KeeperSpec Example() {
  KeeperSpec spec;
  spec.uid = "0123456789abcdef";
  spec.name = "example";
  spec.log_path = "/tmp/log";
  spec.cwd = "/";
  spec.argv = {"/bin/sh", "-c", "true"};
  spec.env = {"A=1", "B="};
  spec.plan = std::string("a\0b", 3);
  return spec;
}

TEST(KeeperSpec, IsReadAsItWasWritten) {
  Message message;
  message.body = Example().Encode();
  KeeperSpec spec;
  ASSERT_TRUE(spec.Decode(message));
  EXPECT_EQ(spec.Encode(), message.body);
  EXPECT_EQ(spec.argv, Example().argv);
  EXPECT_EQ(spec.env, Example().env);
  EXPECT_EQ(spec.plan, Example().plan);
}

// Every prefix and some ten thousand mutations, the same each time: refused, or read as something
// that is in order. Under the sanitizers this shows that nothing is read outside of the bytes.
TEST(KeeperSpec, SurvivesAnyBytes) {
  const std::string good = Example().Encode();
  const auto check = [](const std::string& body) {
    Message message;
    // Exactly as large as the bytes, so that one read too far is seen.
    message.body = body;
    message.body.shrink_to_fit();
    KeeperSpec spec;
    if (!spec.Decode(message)) return false;
    EXPECT_FALSE(spec.argv.empty());
    EXPECT_EQ(spec.uid.find('/'), std::string::npos);
    EXPECT_GT(spec.rows, 0);
    EXPECT_GE(spec.keep_bytes, 0);
    return true;
  };
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(check(good.substr(0, size))) << size;
  EXPECT_FALSE(check(good + '\0'));
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % bytes.size();
      switch (random() % 5) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(0xff);
          break;
        case 2:
          bytes.erase(at, 1 + random() % 8);
          break;
        case 3:
          bytes.insert(at, 1 + random() % 8, static_cast<char>(random() % 3));
          break;
        default:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
      }
      if (bytes.empty()) bytes.push_back('\0');
    }
    accepted += check(bytes) ? 1 : 0;
  }
  // The mutations reach behind the first field: some of them are still in order.
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 15000);
}

TEST_F(Wire, SurvivesAnyDatagram) {
  std::mt19937 random(2);
  const int before = OpenDescriptors();
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    Header header;
    header.type = static_cast<uint16_t>(random());
    std::string bytes = Bytes(header, Example().Encode());
    if (i % 3 != 0) {
      const size_t at = random() % (i % 2 == 0 ? sizeof(Header) : bytes.size());
      bytes[at] = static_cast<char>(random());
    }
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    if (bytes.empty()) continue;  // end of file, to a SEQPACKET
    SendRaw(bytes, std::vector<int>(random() % 24, a_.get()));
    Message message;
    const int error = ReceiveMessage(b_.get(), &message);
    EXPECT_TRUE(error == 0 || error == EPROTO) << error;
    accepted += error == 0 ? 1 : 0;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace berth::launcher
