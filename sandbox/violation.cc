#include "sandbox/violation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace berth {

absl::string_view ViolationLayerName(Violation::Layer layer) {
  switch (layer) {
    case Violation::Layer::kSyscall:
      return "syscall";
    case Violation::Layer::kFile:
      return "file";
    case Violation::Layer::kNetwork:
      return "network";
    case Violation::Layer::kMemory:
      return "memory";
    case Violation::Layer::kPids:
      return "pids";
    case Violation::Layer::kWall:
      return "wall";
    case Violation::Layer::kFileSize:
      return "file size";
  }
  return "unknown";
}

std::string Describe(const Violation& violation) {
  return absl::StrCat("blocked: ", violation.what, " (", violation.reason, ")");
}

}  // namespace berth
