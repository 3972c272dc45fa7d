// Which system calls a sandbox has: tables for the filter's compiler. A call that is in none of
// them does not exist (ENOSYS), so that programs fall back on older ones; among those are clone3,
// whose flags a filter cannot see, and io_uring, which does all others' work unseen.
#ifndef BERTH_SANDBOX_SECCOMP_SYSCALLS_H_
#define BERTH_SANDBOX_SECCOMP_SYSCALLS_H_

#include <span>

namespace berth::seccomp {

// Compilers, shells, and the runtimes of C, Go, Rust, Python, Node and Java need no more.
std::span<const char* const> AllowedCalls();
// Of those that a sandbox has, the ones that open, make, replace or remove something by its name.
std::span<const char* const> FileCalls();
// Of System V and POSIX message queues: apart for each sandbox only where it has an IPC namespace.
std::span<const char* const> IpcCalls();
// Looking into other processes.
std::span<const char* const> DebuggingCalls();
// What makes namespaces and mounts.
std::span<const char* const> NamespaceCalls();
// Never allowed, and worth telling: no program uses these unaware.
std::span<const char* const> ReportedCalls();
// Never allowed (EPERM), and asked for by programs that go on without.
std::span<const char* const> RefusedCalls();
// Options of prctl that are harmless.
std::span<const int> AllowedPrctls();

}  // namespace berth::seccomp

#endif  // BERTH_SANDBOX_SECCOMP_SYSCALLS_H_
