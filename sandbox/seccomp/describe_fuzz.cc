// A notified call and an address of any bytes: always some words, and never one that goes on to
// somewhere else.
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cstdlib>

#include "sandbox/seccomp/describe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seccomp_data call{};
  const size_t head = size < sizeof(call) ? size : sizeof(call);
  memcpy(&call, data, head);
  const berth::seccomp::Judgement judgement =
      berth::seccomp::JudgeNotification(call, data + head, size - head);
  if (judgement.what.empty() || (!judgement.goes_on && judgement.error <= 0)) abort();
  if (judgement.goes_on && call.nr != SYS_connect) abort();
  for (const char c : judgement.what) {
    if (c < ' ' || c > '~') abort();
  }
  return 0;
}
