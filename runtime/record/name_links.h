// Names of sessions: names/<name> is a symlink whose text is the session's uid. Making one is
// atomic, so two cannot have one name; whoever changes one that is there holds the lock of the
// folder. Observers take none. Internal to runtime/record. Thread-safe.
#ifndef BERTH_RUNTIME_RECORD_NAME_LINKS_H_
#define BERTH_RUNTIME_RECORD_NAME_LINKS_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth {

class NameLinks {
 public:
  // Says whether the session `uid` has lost its right to a name: it is not there, or never started
  // and its owner is proven dead. Called with the lock held: it must not wait.
  using IsStale = absl::FunctionRef<bool(const std::string& uid)>;

  // `names_fd` is borrowed.
  explicit NameLinks(int names_fd) : names_fd_(names_fd) {}

  // The text of the link; NotFound if the name is free. It need not be a uid.
  absl::StatusOr<std::string> Read(const std::string& name) const;

  // AlreadyExists if a session that is not stale has it; the message names the session.
  absl::Status Take(const std::string& name, const std::string& uid, IsStale is_stale) const;
  // From `from`, if `uid` has that name (else as Take), to `to`: at every moment one of the two is
  // there.
  absl::Status Move(const std::string& from, const std::string& to, const std::string& uid,
                    IsStale is_stale) const;
  // Frees the name if `uid` has it.
  absl::Status Drop(const std::string& name, const std::string& uid) const;
  // Frees every name whose session fulfils `drop`. Reads all names: linear.
  absl::Status DropIf(IsStale drop) const;

  absl::Status Sync() const;

 private:
  absl::Status TakeLocked(const std::string& name, const std::string& uid, IsStale is_stale) const;

  int names_fd_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_NAME_LINKS_H_
