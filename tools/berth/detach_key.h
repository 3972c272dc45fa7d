// The key that leaves an attached session, and finding it in what a terminal sends.
#ifndef BERTH_TOOLS_BERTH_DETACH_KEY_H_
#define BERTH_TOOLS_BERTH_DETACH_KEY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth::cli {

class DetachKey {
 public:
  // "C-]" or "^]": a control key; "none": there is none.
  static absl::StatusOr<DetachKey> Parse(absl::string_view name);

  // Cuts `input` before the first press of the key; true if there was one.
  bool CutAt(std::string* input) const;

 private:
  // As the control character; and as programs can ask terminals to send it: kitty's and xterm's
  // (modifyOtherKeys) forms.
  std::vector<std::string> forms_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_DETACH_KEY_H_
