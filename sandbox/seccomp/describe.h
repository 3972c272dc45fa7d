// What a notified system call was, in words, and what its supervisor is to answer.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_SECCOMP_DESCRIBE_H_
#define BERTH_SANDBOX_SECCOMP_DESCRIBE_H_

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include <string>

namespace berth::seccomp {

// "mount", "socket AF_PACKET", "unshare CLONE_NEWUSER|CLONE_NEWNS", "ioctl TIOCSTI",
// "i386 system call 20". Any data gives some text.
std::string DescribeSyscall(const seccomp_data& data);

// "1.2.3.4:443", "[2001:db8::1]:53", "AF_PACKET address", … of a sockaddr of `size` bytes, which
// may be anything.
std::string DescribeAddress(const void* address, size_t size);

// Whether a call that names a file asks for a set-user-id or set-group-id bit, which the filter
// refuses: by its registers, which do not change any more.
bool AsksForSetId(const seccomp_data& data);

// Whether it is of this machine's own ABI.
bool IsNative(const seccomp_data& data);

struct Judgement {
  // The call goes on as it is, and there is nothing to tell (SECCOMP_USER_NOTIF_FLAG_CONTINUE).
  // Only ever for what the kernel holds without us: the caller can change its arguments meanwhile.
  bool goes_on = false;
  int error = 0;         // otherwise: the errno to answer with
  bool network = false;  // a violation of the network's rules, not of the list of calls
  std::string what;      // as Violation::what
};

// `address` is what the third argument of a connect() says of bytes read from where its second one
// points, however many could be read; other calls need none.
Judgement JudgeNotification(const seccomp_data& data, const void* address, size_t size);

}  // namespace berth::seccomp

#endif  // BERTH_SANDBOX_SECCOMP_DESCRIBE_H_
