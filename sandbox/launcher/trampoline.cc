// What executes a sandbox's program where its init is a copy of the host and not of the helper's
// sealed image (forked.h).
//
// A program can be a script that begins with "#!/proc/self/exe", and while it is executed that is
// the file of whoever executes it. It must be none on the host's disk: opened again, that could be
// written to (CVE-2019-5736). So init's child executes this, from a sealed memfd, and this executes
// the program. It has no C library, whose start would take longer than all it does.
//
// argv[0] is the number of a descriptor that takes a Failure; what follows is the program's argv.

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/exec_search.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"

extern "C" [[noreturn, gnu::used]] void TrampolineMain(const long* stack) {
  using namespace berth::launcher;  // NOLINT: the whole program is of it
  const long count = stack[0];
  const char* const* argv = reinterpret_cast<const char* const*>(stack + 1);
  if (count < 2) RawExit(127);
  long report = 0;
  for (const char* digit = argv[0]; *digit != '\0'; ++digit) {
    // As the interpreter of such a script it would be executed again and again.
    if (*digit < '0' || *digit > '9') RawExit(127);
    report = report * 10 + (*digit - '0');
  }
  // Closed by the program's start, which is how that is known. A policy may have refused one of the
  // two calls; without both nothing is executed, or the program would have the descriptor.
  const bool closes = RawCall(SYS_close_range, report, report, CLOSE_RANGE_CLOEXEC) == 0 ||
                      RawCall(SYS_fcntl, report, F_SETFD, FD_CLOEXEC) == 0;
  const Failure failure{Step::kExec, closes ? ExecSearch(argv + 1, argv + count + 1) : EPERM};
  RawCall(SYS_write, report, reinterpret_cast<long>(&failure), sizeof(failure));
  RawExit(127);
}

// The stack begins with argc, and is aligned.
#if defined(__x86_64__)
asm(".globl _start\n"
    "_start:\n"
    "  mov %rsp, %rdi\n"
    "  call TrampolineMain\n");
#elif defined(__aarch64__)
asm(".globl _start\n"
    "_start:\n"
    "  mov x0, sp\n"
    "  bl TrampolineMain\n");
#endif
