// For tests: filters as the kernel takes them.
#ifndef BERTH_SANDBOX_SECCOMP_TEST_FILTER_H_
#define BERTH_SANDBOX_SECCOMP_TEST_FILTER_H_

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "sandbox/seccomp/filter.h"

namespace berth::seccomp {

inline const FilterSpec kAgent = {.sockets = {AF_UNIX, AF_INET, AF_INET6}};

inline std::string Compiled(const FilterSpec& spec) {
  absl::StatusOr<std::string> program = CompileFilter(spec);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.value_or("");
}

// The descriptor of the listener if `flags` ask for one; -1 if it cannot be loaded.
inline int Load(const std::string& program, unsigned flags = 0) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  std::vector<sock_filter> code(program.size() / sizeof(sock_filter));
  memcpy(code.data(), program.data(), program.size());
  const sock_fprog loaded{static_cast<unsigned short>(code.size()), code.data()};
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &loaded));
}

#if defined(__x86_64__)
// A call as programs of 32 bits make them.
inline long Int80(long number) {
  long result = number;
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result;
}
#endif

}  // namespace berth::seccomp

#endif  // BERTH_SANDBOX_SECCOMP_TEST_FILTER_H_
