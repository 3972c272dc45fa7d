#include "tools/berth/pull.h"

#include <unistd.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/docker/images.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

// One line that is written over and over, and taken away at the end.
class ProgressLine {
 public:
  ProgressLine() : shown_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_) WriteAll(STDERR_FILENO, "\r\x1b[K").IgnoreError();
  }
  void Show(const std::string& text) {
    if (!shown_ || text == last_) return;
    last_ = text;
    WriteAll(STDERR_FILENO, absl::StrCat("\r", Printable(text), "\x1b[K")).IgnoreError();
  }
  bool shown() const { return shown_; }

 private:
  const bool shown_;
  std::string last_;
};

}  // namespace

absl::Status PullMissing(const std::string& image, const std::function<bool()>& go_on) {
  ABSL_ASSIGN_OR_RETURN(const EngineAddress address, EngineAddress::Resolve());
  EngineClient client(address);
  const Images images(&client);
  ABSL_ASSIGN_OR_RETURN(const bool there, images.Exists(image));
  if (there) return absl::OkStatus();
  ProgressLine line;
  if (!line.shown()) Note(absl::StrCat("berth: pulling ", image));
  const absl::StatusOr<Image> pulled =
      images.Pull(image, [&image, &line, &go_on](const PullProgress& progress) {
        line.Show(absl::StrCat("pulling ", image, ": ", progress.percent, " %, ",
                               progress.layers_done, " of ", progress.layers, " layers"));
        return go_on();
      });
  return pulled.status();
}

}  // namespace berth::cli
