// Small files of the kernel: read and written whole. For the helper: errnos, no Abseil.
#ifndef BERTH_SANDBOX_CGROUPS_FILE_H_
#define BERTH_SANDBOX_CGROUPS_FILE_H_

#include <stdint.h>

#include <string>
#include <string_view>

namespace berth::cgroups {

// Relative to `dir`, or an absolute path with any `dir`. 0 or an errno.
int ReadFileAt(int dir, const char* name, std::string* out);
int WriteFileAt(int dir, const char* name, std::string_view text);
// What is in the file behind `fd` now, from its beginning.
int ReadAgain(int fd, std::string* out);

// The number behind `key` at the beginning of a line ("oom_kill 3"), or, with an empty key, at the
// beginning of the text. -1 if there is none.
int64_t NumberIn(std::string_view text, std::string_view key);
// Whether `word` is one of the words of a line such as "cpu memory pids\n".
bool HasWord(std::string_view text, std::string_view word);

}  // namespace berth::cgroups

#endif  // BERTH_SANDBOX_CGROUPS_FILE_H_
