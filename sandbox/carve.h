// Which places of a view are to be held read-only for one carve-out.
//
// Not its own alone: it may be a symlink, or be in a folder that is one (CLAUDE.md -> AGENTS.md),
// and whoever can replace a link, or make what it leads to, gives others what they like to obey. So
// the name is walked as the host's kernel would, and all that can be written on the way is held.
#ifndef BERTH_SANDBOX_CARVE_H_
#define BERTH_SANDBOX_CARVE_H_

#include "absl/strings/string_view.h"
#include "sandbox/view.h"

namespace berth {

// Adds to what *view has carved, missing and placeholders. `target` is a name in the view. With
// `optional`, one that is not there is left alone. What the host's links say is of now: a start
// fails if they say something else by then.
void CarveOut(absl::string_view target, bool optional, View* view);

}  // namespace berth

#endif  // BERTH_SANDBOX_CARVE_H_
