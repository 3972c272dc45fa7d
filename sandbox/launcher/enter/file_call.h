// FileCall: a system call that names files, as its registers say it.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_FILE_CALL_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_FILE_CALL_H_

#include <linux/seccomp.h>
#include <stdint.h>

#include <string>

#include "sandbox/launcher/enter/file_view.h"

namespace berth::launcher {

struct FileCall {
  struct Name {
    int folder = 0;        // what it is relative to: a descriptor or AT_FDCWD
    uint64_t address = 0;  // in the caller's memory
    FileAccess access = FileAccess::kRead;
  };
  const char* verb = "";  // "open", "write", "make", "remove", "rename", "link"
  Name names[2];
  int count = 0;
};

// False if it names none.
bool ReadFileCall(const seccomp_data& data, FileCall* call);

// "rename /w/a to /w/.git": of the names that could be read, in their order.
std::string DescribeFileCall(const FileCall& call, const std::string (&paths)[2]);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_FILE_CALL_H_
