// System calls that glibc has no wrapper for, or whose wrapper cannot be used here.
#ifndef BERTH_SANDBOX_LAUNCHER_KERNEL_H_
#define BERTH_SANDBOX_LAUNCHER_KERNEL_H_

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace berth::launcher {

inline int PidfdOpen(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

inline int PidfdSignal(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

inline int CloseRange(unsigned first, unsigned last, unsigned flags) {
  return static_cast<int>(syscall(SYS_close_range, first, last, flags));
}

// As a time: one that does not come.
inline constexpr uint64_t kNever = ~uint64_t{0};

inline uint64_t NowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

// clone3 as one instruction, so that a child that shares the caller's memory and stack (CLONE_VM |
// CLONE_VFORK) finds no return address of a wrapper to run over. The caller must never return in
// the child.
[[gnu::always_inline]] inline long RawClone3(clone_args* args) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  asm volatile("syscall" : "+a"(result) : "D"(args), "S"(sizeof(*args)) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x0 asm("x0") = reinterpret_cast<long>(args);
  register long x1 asm("x1") = sizeof(*args);
  register long x8 asm("x8") = SYS_clone3;
  asm volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
  return x0;
#else
#error "berth knows x86-64 and aarch64"
#endif
}

// A system call that leaves errno alone: for a thread without thread-local storage of its own.
// Returns a negative errno.
[[gnu::always_inline]] inline long RawCall(long number, long a = 0, long b = 0, long c = 0,
                                           long d = 0, long e = 0) {
#if defined(__x86_64__)
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return number;
#elif defined(__aarch64__)
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x8 asm("x8") = number;
  asm volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8) : "memory");
  return x0;
#endif
}

inline long RawPointer(const void* pointer) { return reinterpret_cast<long>(pointer); }

// The end of a child that shares its caller's memory. _exit would have a sanitizer sum up the
// caller.
[[noreturn, gnu::always_inline]] inline void RawExit(int code) {
  while (true) RawCall(SYS_exit_group, code);
}

// clone3 of a child that shares this memory and goes on beside the caller, in fn(arg) on the stack
// that `args` names. `fn` must not return, nor use what is of one thread (errno, the heap).
[[gnu::noinline]] inline long CloneBeside(clone_args* args, void (*fn)(void*), void* arg) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[arg], %%rdi\n\t"
      "call *%[fn]\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(args), "S"(sizeof(*args)), [fn] "r"(fn), [arg] "r"(arg)
      : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x0 asm("x0") = reinterpret_cast<long>(args);
  register long x1 asm("x1") = sizeof(*args);
  register long x8 asm("x8") = SYS_clone3;
  asm volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x0, %[arg]\n\t"
      "blr %[fn]\n\t"
      "brk #0\n"
      "1:"
      : "+r"(x0)
      : "r"(x1), "r"(x8), [fn] "r"(fn), [arg] "r"(arg)
      : "memory");
  return x0;
#endif
}

// Starts a child that shares this process's memory and runs `fn(arg)` while the caller waits, until
// it execs or exits: no page table is copied, whatever the caller's size. `fn` must not return,
// allocate, or take a lock. Returns the child's pid or a negative errno.
[[gnu::noinline]] inline long CloneVfork(clone_args* args, void (*fn)(void*), void* arg) {
  args->flags |= CLONE_VM | CLONE_VFORK;
  const long pid = RawClone3(args);
  if (pid == 0) {
    fn(arg);
    RawExit(127);
  }
  return pid;
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_KERNEL_H_
