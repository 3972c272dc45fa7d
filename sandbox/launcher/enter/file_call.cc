#include "sandbox/launcher/enter/file_call.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <string>

namespace berth::launcher {
namespace {

// By the flags of open.
FileAccess OpenAccess(uint64_t flags) {
  if ((flags & O_PATH) != 0) return FileAccess::kLook;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  // One that is made only to be read may be there: nobody knows by its name.
  if (!writes) return FileAccess::kRead;
  return (flags & O_CREAT) != 0 ? FileAccess::kCreate : FileAccess::kWrite;
}

}  // namespace

bool ReadFileCall(const seccomp_data& data, FileCall* call) {
  const auto& args = data.args;
  const auto folder = [&args](int argument) {
    return argument < 0 ? AT_FDCWD : static_cast<int>(static_cast<uint32_t>(args[argument]));
  };
  // The one name of a call: which argument it is, and which the folder (-1: none).
  const auto one = [&](const char* verb, int at, int path, FileAccess access) {
    *call = {.verb = verb, .names = {{folder(at), args[path], access}}, .count = 1};
    return true;
  };
  const auto opens = [&](int at, int path, uint64_t flags) {
    const FileAccess access = OpenAccess(flags);
    return one(access <= FileAccess::kRead ? "open" : "write", at, path, access);
  };
  const auto two = [&](const char* verb, int at, int path, int to_at, int to_path, FileAccess from,
                       FileAccess to) {
    *call = {.verb = verb,
             .names = {{folder(at), args[path], from}, {folder(to_at), args[to_path], to}},
             .count = 2};
    return true;
  };
  constexpr FileAccess kLook = FileAccess::kLook, kMake = FileAccess::kMake,
                       kRemove = FileAccess::kRemove, kReplace = FileAccess::kReplace;
  switch (data.nr) {
#if defined(__x86_64__)
    case SYS_open:
      return opens(-1, 0, args[1]);
    case SYS_creat:
      return one("write", -1, 0, FileAccess::kCreate);
    case SYS_mkdir:
      return one("make", -1, 0, kMake);
    case SYS_rmdir:
    case SYS_unlink:
      return one("remove", -1, 0, kRemove);
    case SYS_rename:
      return two("rename", -1, 0, -1, 1, kRemove, kReplace);
    case SYS_link:
      return two("link", -1, 0, -1, 1, kLook, kMake);
    case SYS_symlink:
      return one("link", -1, 1, kMake);
#endif
    case SYS_openat:
      return opens(0, 1, args[2]);
    case SYS_truncate:
      return one("write", -1, 0, FileAccess::kWrite);
    case SYS_mkdirat:
      return one("make", 0, 1, kMake);
    case SYS_unlinkat:
      return one("remove", 0, 1, kRemove);
#if defined(SYS_renameat)
    case SYS_renameat:
#endif
    case SYS_renameat2:
      return two("rename", 0, 1, 2, 3, kRemove, kReplace);
    case SYS_linkat:
      return two("link", 0, 1, 2, 3, kLook, kMake);
    case SYS_symlinkat:
      return one("link", 1, 2, kMake);
    default:
      return false;
  }
}

std::string DescribeFileCall(const FileCall& call, const std::string (&paths)[2]) {
  std::string text = call.verb;
  for (int i = 0; i < call.count; ++i) {
    if (paths[i].empty()) continue;
    text += i == 0 || paths[0].empty() ? " " : " to ";
    text += paths[i];
  }
  return text;
}

}  // namespace berth::launcher
