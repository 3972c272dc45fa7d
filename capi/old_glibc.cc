// What the shared library has of its own so that it loads where glibc is older than the one that
// it was built with, back to 2.31 (Debian 11). Headers and archives of a newer glibc ask for
// symbols that 2.31 has not, or has at another version: here they are, in terms of what it has.
// None of them is exported. needs_test fails when one is missing. On x86-64 only: on aarch64 the
// old versions are others, and the library needs a glibc as new as the one it was built with.

#if defined(__x86_64__)

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// `forward` makes NAME a jump to TARGET, `old` to NAME as it was at VERSION. In assembly, so that
// arguments of any number and type stay where they are, and dlsym sees its real caller.
__asm__(R"(
  .macro forward name, target
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  jmp *\target@GOTPCREL(%rip)
  .cfi_endproc
  .size \name, . - \name
  .endm

  .macro old name, version=GLIBC_2.2.5
  .symver old_\name, \name\()@\version
  forward \name, old_\name
  .endm

  .text

  # Until 2.33 in libpthread.so.0 and libdl.so.2, which the library is linked with for that.
  old dladdr
  old dlclose
  old dlerror
  old dlopen
  old dlsym
  old pthread_cond_clockwait, GLIBC_2.30
  old pthread_create
  old pthread_detach
  old pthread_getspecific
  old pthread_join
  old pthread_key_create
  old pthread_key_delete
  old pthread_mutex_trylock
  old pthread_once
  old pthread_rwlock_destroy
  old pthread_rwlock_init
  old pthread_rwlock_rdlock
  old pthread_rwlock_unlock
  old pthread_rwlock_wrlock
  old pthread_setspecific
  old pthread_sigmask

  # C23's: the same but for binary numbers (0b1), which nothing here reads.
  forward __isoc23_fscanf, __isoc99_fscanf
  forward __isoc23_sscanf, __isoc99_sscanf
  forward __isoc23_strtol, strtol
  forward __isoc23_strtoll, strtoll
  forward __isoc23_strtoul, strtoul
  forward __isoc23_strtoull, strtoull

  # Tables that newer ones keep for programs that were linked long ago.
  .symver old_sys_errlist, _sys_errlist@GLIBC_2.12
  .symver old_sys_siglist, _sys_siglist@GLIBC_2.3.3
)");

#define BERTH_HIDDEN(name) __asm__(#name) __attribute__((visibility("hidden")))

// Names of our own for what the headers declare otherwise, or no more.
struct stat;
extern "C" {

extern const char* const old_sys_errlist[135];
extern const char* const old_sys_siglist[65];
int __xstat(int version, const char* path, struct stat* out);
int __lxstat(int version, const char* path, struct stat* out);
int __fxstat(int version, int fd, struct stat* out);
int __fxstatat(int version, int dir, const char* path, struct stat* out, int flags);

extern char OldSingleThreaded BERTH_HIDDEN(__libc_single_threaded);
int OldStat(const char* path, struct stat* out) BERTH_HIDDEN(stat);
int OldLstat(const char* path, struct stat* out) BERTH_HIDDEN(lstat);
int OldFstat(int fd, struct stat* out) BERTH_HIDDEN(fstat);
int OldFstatat(int dir, const char* path, struct stat* out, int flags) BERTH_HIDDEN(fstatat);
const char* OldStrerrordesc(int error) BERTH_HIDDEN(strerrordesc_np);
const char* OldSigdescr(int signal) BERTH_HIDDEN(sigdescr_np);
uint32_t OldArc4random() BERTH_HIDDEN(arc4random);

}  // extern "C"

namespace {

constexpr int kStatVersion = 1;  // the kernel's struct stat, the only one on x86-64

template <size_t size>
const char* At(const char* const (&table)[size], int index) {
  return index >= 0 && static_cast<size_t>(index) < size ? table[index] : nullptr;
}

}  // namespace

// Threads may exist: other code than ours starts some, too.
char OldSingleThreaded = 0;

int OldStat(const char* path, struct stat* out) { return __xstat(kStatVersion, path, out); }
int OldLstat(const char* path, struct stat* out) { return __lxstat(kStatVersion, path, out); }
int OldFstat(int fd, struct stat* out) { return __fxstat(kStatVersion, fd, out); }
int OldFstatat(int dir, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStatVersion, dir, path, out, flags);
}

const char* OldStrerrordesc(int error) { return At(old_sys_errlist, error); }
const char* OldSigdescr(int signal) { return At(old_sys_siglist, signal); }

// For std::random_device.
uint32_t OldArc4random() {
  uint32_t number;
  if (getentropy(&number, sizeof(number)) != 0) abort();
  return number;
}

#endif  // defined(__x86_64__)
