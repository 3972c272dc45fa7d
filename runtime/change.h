// Change: what a session did to a folder that its policy shows copy-on-write. Plain data.
#ifndef BERTH_RUNTIME_CHANGE_H_
#define BERTH_RUNTIME_CHANGE_H_

#include <stdint.h>

#include <string>

#include "absl/strings/string_view.h"

namespace berth {

struct Change {
  enum class Kind : uint8_t { kAdded = 1, kChanged = 2, kDeleted = 3 };
  // kOther: a fifo, a socket. These are listed, and never made in the real folder.
  enum class Type : uint8_t { kFile = 1, kFolder = 2, kSymlink = 3, kOther = 4 };
  Kind kind = Kind::kAdded;
  Type type = Type::kFile;  // of what is there now; of kDeleted: of what was there
  std::string folder = {};  // the copy-on-write one, on the host
  std::string path = {};    // below it: any bytes but NUL, no "..", no "/" at either end
  int64_t bytes = 0;        // of a file that is added or changed

  friend bool operator==(const Change&, const Change&) = default;
};

// "added", "changed", "deleted".
absl::string_view ChangeKindName(Change::Kind kind);
// "file", "folder", "symlink", "other".
absl::string_view ChangeTypeName(Change::Type type);

}  // namespace berth

#endif  // BERTH_RUNTIME_CHANGE_H_
