// execve along PATH, by raw calls alone: also for a program without a C library.
#ifndef BERTH_SANDBOX_LAUNCHER_EXEC_SEARCH_H_
#define BERTH_SANDBOX_LAUNCHER_EXEC_SEARCH_H_

#include <errno.h>
#include <linux/limits.h>
#include <stddef.h>

#include "sandbox/launcher/kernel.h"

namespace berth::launcher {

// Returns the errno that says most: a file that may not be executed over one that is not there.
inline int ExecSearch(const char* const* argv, const char* const* env) {
  const auto execute = [argv, env](const char* path) {
    return static_cast<int>(
        -RawCall(SYS_execve, RawPointer(path), RawPointer(argv), RawPointer(env)));
  };
  const char* const name = argv[0];
  if (name[0] == '\0') return ENOENT;
  size_t length = 0;
  for (; name[length] != '\0'; ++length) {
    if (name[length] == '/') return execute(name);
  }
  const char* at = "/usr/local/bin:/usr/bin:/bin";
  for (; env != nullptr && *env != nullptr; ++env) {
    constexpr char kPath[] = "PATH=";
    size_t same = 0;
    while (kPath[same] != '\0' && (*env)[same] == kPath[same]) ++same;
    if (kPath[same] == '\0') {
      at = *env + same;
      break;
    }
  }
  int best = ENOENT;
  while (true) {
    char path[PATH_MAX];
    size_t size = 0;
    for (; at[size] != '\0' && at[size] != ':'; ++size) {
      if (size < sizeof(path)) path[size] = at[size];
    }
    if (size + length + 2 <= sizeof(path)) {
      size_t used = size;
      if (size > 0) path[used++] = '/';  // an empty entry is the working directory
      for (size_t i = 0; i <= length; ++i) path[used + i] = name[i];
      const int error = execute(path);
      if (error != ENOENT && error != ENOTDIR && best == ENOENT) best = error;
    }
    if (at[size] == '\0') return best;
    at += size + 1;
  }
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_EXEC_SEARCH_H_
