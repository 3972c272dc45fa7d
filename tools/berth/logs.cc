// berth logs: the bytes that a session's program wrote, as far as its keeper has them.

#include <stdint.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/session.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/output.h"
#include "tools/berth/streams.h"

namespace berth::cli {
namespace {

struct LogsOptions {
  std::string name;
  bool follow = false;
  bool standard_error = false;
  int64_t from = 0;
};

absl::StatusOr<int> Logs(const LogsOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  const OutputStream stream =
      options.standard_error ? OutputStream::kStderr : OutputStream::kStdout;
  int64_t end = std::numeric_limits<int64_t>::max();
  if (!options.follow) {
    // A reader of what comes from now on is told where now is.
    ABSL_ASSIGN_OR_RETURN(const Output now, session->OpenOutput({.stream = stream, .from = -1}));
    end = now.begins;
  }
  ABSL_ASSIGN_OR_RETURN(const Output output,
                        session->OpenOutput({.stream = stream, .from = options.from}));
  if (output.begins > options.from) {
    Note(absl::StrCat("berth: logs: the first ", output.begins,
                      " bytes are not kept any more; 'berth start --log FILE' keeps more"));
  }
  ABSL_RETURN_IF_ERROR(CopyOut(output.fd.get(), end - output.begins));
  return kOk;
}

}  // namespace

void AddLogs(Cli* cli) {
  cli->Add(
      {.name = "logs",
       .summary = "Print what a session's program wrote, byte for byte",
       .arguments = "[OPTIONS] NAME",
       .examples = {"berth logs web", "berth logs -f web", "berth logs --stderr job >errors.txt"}},
      [](Arguments* arguments) -> Cli::Action {
        auto options = std::make_shared<LogsOptions>();
        arguments->Session(&options->name);
        arguments->Flag("-f,--follow", &options->follow, "Go on until the session has ended");
        arguments->Flag("--stderr", &options->standard_error,
                        "Standard error (sessions with --pipes)");
        arguments->Number("--from", &options->from, "OFFSET",
                          "Offset of the first byte wanted, counted from the very first");
        return [options](Context& context) { return Logs(*options, context); };
      });
}

}  // namespace berth::cli
