#include "runtime/change.h"

#include "absl/strings/string_view.h"

namespace berth {

absl::string_view ChangeKindName(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kAdded:
      return "added";
    case Change::Kind::kChanged:
      return "changed";
    case Change::Kind::kDeleted:
      return "deleted";
  }
  return "unknown";
}

absl::string_view ChangeTypeName(Change::Type type) {
  switch (type) {
    case Change::Type::kFile:
      return "file";
    case Change::Type::kFolder:
      return "folder";
    case Change::Type::kSymlink:
      return "symlink";
    case Change::Type::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace berth
