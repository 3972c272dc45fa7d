// The host's system as every program needs it: programs, libraries, and what of /etc has no
// secrets.
#ifndef BERTH_SANDBOX_SYSTEM_VIEW_H_
#define BERTH_SANDBOX_SYSTEM_VIEW_H_

#include "absl/strings/string_view.h"
#include "sandbox/view.h"

namespace berth {

// Adds what is there and is not listed by the policy itself. `resolver`: also how names are looked
// up, which only the host's network needs.
void AddSystem(bool resolver, View* view);
// What in a home directory is nobody's business, should it be seen.
void AddHomeSecrets(absl::string_view home, std::vector<std::string>* secrets);
// Sockets of engines, buses and agents that would give the host away.
void AddSocketSecrets(std::vector<std::string>* secrets);

}  // namespace berth

#endif  // BERTH_SANDBOX_SYSTEM_VIEW_H_
