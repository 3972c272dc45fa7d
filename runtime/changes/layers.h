// Layers: one copy-on-write folder as it really is, and what a session put over it.
#ifndef BERTH_RUNTIME_CHANGES_LAYERS_H_
#define BERTH_RUNTIME_CHANGES_LAYERS_H_

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/change.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class Layers {
 public:
  // The changes of the folder number `index`, which is `folder` on the host.
  static absl::StatusOr<Layers> Open(int session_fd, int index, const std::string& folder);

  // Appends what differs, folders before what is in them. ResourceExhausted names what lies too
  // deep, or that there is too much.
  absl::Status List(std::vector<Change>* changes) const;

  // Whether one of these can be made in the real folder: FailedPrecondition if something else has
  // changed it since the session began.
  absl::Status Check(const Change& change) const;
  // Makes it, in one step for whoever looks: by another name first, then by exchange. Checks again.
  absl::Status Make(const Change& change) const;
  // The mode of a folder, once all in it is made.
  absl::Status Finish(const Change& change) const;

 private:
  struct Walk;
  Layers(std::string folder, UniqueFd lower, UniqueFd upper, timespec started);
  absl::Status ListFolder(Walk* walk, int upper, int lower, const std::string& prefix,
                          int depth) const;
  absl::Status ListEntry(Walk* walk, int upper, int lower, const std::string& name,
                         const std::string& path, int depth) const;
  absl::Status ListReplaced(Walk* walk, int upper, int lower, const std::string& prefix) const;
  void Add(Walk* walk, Change::Kind kind, const struct stat& st, const std::string& path) const;
  // keep.cc
  struct Place;
  absl::StatusOr<Place> Find(const Change& change) const;
  bool IsNewer(const struct stat& st) const;
  absl::Status Refuse(absl::string_view path, absl::string_view why) const;
  absl::Status CheckTree(int folder, const std::string& name, absl::string_view path,
                         int depth) const;
  absl::Status CheckPlace(const Change& change, const Place& place) const;
  absl::Status CopyAside(const Change& change, const Place& place) const;
  absl::Status PutInPlace(const Change& change, const Place& place) const;
  absl::Status TakeAway(const Change& change, const Place& place) const;
  absl::Status MakeFolder(const Change& change, const Place& place) const;

  std::string folder_;
  UniqueFd lower_, upper_;
  timespec started_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_CHANGES_LAYERS_H_
