// The names that containers of berth go by: their labels and their name. They are on containers
// that outlive a version, and are the reaper's to judge by.
#ifndef BERTH_RUNTIME_DOCKER_LABELS_H_
#define BERTH_RUNTIME_DOCKER_LABELS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace berth {

inline constexpr char kLabelOwner[] = "berth.owner";      // the owner's lease
inline constexpr char kLabelSession[] = "berth.session";  // the session's uid
inline constexpr char kLabelName[] = "berth.name";        // at the time of its making
inline constexpr char kLabelInstall[] = "berth.install";
inline constexpr char kLabelBoot[] = "berth.boot";
inline constexpr char kLabelOwnerIdentity[] = "berth.owner-identity";  // JSON, as leases have it
inline constexpr char kLabelEphemeral[] = "berth.ephemeral";           // "true" or "false"
inline constexpr char kLabelReuse[] = "berth.reuse";
inline constexpr char kLabelConfig[] = "berth.config";  // a sum of what the container is made from

// Known before there is a container: a record names it so until it has an id.
inline std::string ContainerName(absl::string_view uid) { return absl::StrCat("berth-", uid); }

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_LABELS_H_
