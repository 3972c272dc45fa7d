// Writes the time of its first instructions (CLOCK_MONOTONIC, ns) to stdout and exits: what a start
// is measured by. Without libc, so that nothing runs before. With an argument it stays until it is
// killed.
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

static long Call3(long number, long a, long b, long c) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x8 __asm__("x8") = number;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
  return x0;
#endif
}

__attribute__((used, noreturn)) void Main(const long* stack) {
  struct timespec now;
  Call3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
  const uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  Call3(SYS_write, 1, (long)&ns, sizeof(ns));
  if (stack[0] > 1) Call3(SYS_ppoll, 0, 0, 0);
  Call3(SYS_exit_group, 0, 0, 0);
  __builtin_unreachable();
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call Main\n");
#else
__asm__(".globl _start\n_start: mov x0, sp\n bl Main\n");
#endif
