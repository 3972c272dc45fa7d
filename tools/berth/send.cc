// berth send, berth keys: input for a session's program.

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/options.h"
#include "tools/berth/session_json.h"
#include "tools/berth/streams.h"

namespace berth::cli {
namespace {

constexpr Delivery kDeliveries[] = {Delivery::kQueued, Delivery::kWritten, Delivery::kSubmitted,
                                    Delivery::kConfirmed};

struct SendOptions {
  std::string name;
  std::string submit = "Enter";
  bool no_paste = false;
  std::string await = "submitted";
  absl::Duration timeout = absl::Seconds(30);
};

Delivery ToDelivery(absl::string_view name) {
  for (const Delivery each : kDeliveries) {
    if (DeliveryName(each) == name) return each;
  }
  return Delivery::kSubmitted;
}

absl::StatusOr<std::string> Text(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "-") return ReadAll(STDIN_FILENO);
  return absl::StrJoin(words, " ");
}

absl::StatusOr<int> Send(const SendOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  ABSL_ASSIGN_OR_RETURN(const std::string text, Text(context.words));
  const bool submits = options.submit != "none";
  Delivery wanted = ToDelivery(options.await);
  // Nothing is submitted without a key: then all that can be had is that the text is written.
  if (!submits && wanted == Delivery::kSubmitted) wanted = Delivery::kWritten;
  const Message message{.text = text,
                        .submit = submits ? absl::string_view(options.submit) : "",
                        .paste = !options.no_paste,
                        .await = wanted};
  ABSL_ASSIGN_OR_RETURN(const Delivery delivery,
                        session->Send(message, absl::Now() + options.timeout));
  if (context.json) {
    ABSL_RETURN_IF_ERROR(
        PrintJson({{"name", session->name()}, {"delivery", DeliveryName(delivery)}}));
  }
  if (delivery >= wanted) return kOk;
  return WithHint(
      absl::DeadlineExceededError(absl::StrCat("the message is ", DeliveryName(delivery),
                                               ", but not ", DeliveryName(wanted), " yet")),
      "do not send it again: the session has it. A longer --timeout waits longer");
}

absl::StatusOr<int> Keys(const std::string& name, Context& context) {
  if (context.words.empty()) {
    return WithHint(UsageError("no key was given"), "as in: berth keys NAME C-c Up Enter");
  }
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(name));
  const absl::Status sent = session->SendKeys(context.words);
  if (absl::IsInvalidArgument(sent)) {
    return WithHint(sent, "keys are called Enter, Tab, Escape, Up, PageUp, F5, C-c, M-x, a, …");
  }
  ABSL_RETURN_IF_ERROR(sent);
  if (context.json) {
    ABSL_RETURN_IF_ERROR(
        PrintJson({{"name", session->name()}, {"delivery", DeliveryName(Delivery::kWritten)}}));
  }
  return kOk;
}

}  // namespace

void AddSend(Cli* cli) {
  cli->Add({.name = "send",
            .summary = "Type a message into a session, whole or not at all",
            .arguments = "NAME [OPTIONS] [--] [TEXT… | -]",
            .examples = {"berth send fix-42 run the tests again", "berth send fix-42 - <prompt.md",
                         "berth send web --submit none --await written q"},
            .words = Words::kText,
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<SendOptions>();
             arguments->Session(&options->name);
             arguments->Text("--submit", &options->submit, "KEY|none",
                             "Key that is pressed after the text, or none (default: Enter)");
             arguments->Flag("--no-paste", &options->no_paste,
                             "Type it, even if the program asked for bracketed paste");
             arguments->Choice("--await", &options->await,
                               {"queued", "written", "submitted", "confirmed"},
                               "How far its way is waited for (default: submitted)");
             AddDuration(arguments, "--timeout", &options->timeout,
                         "How long (default: 30s; exit code 124)");
             return [options](Context& context) { return Send(*options, context); };
           });
}

void AddKeys(Cli* cli) {
  cli->Add({.name = "keys",
            .summary = "Press keys in a session, by name",
            .arguments = "NAME [--] KEY…",
            .examples = {"berth keys fix-42 C-c", "berth keys fix-42 Escape Up Up Enter"},
            .words = Words::kText,
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto name = std::make_shared<std::string>();
             arguments->Session(name.get());
             return [name](Context& context) { return Keys(*name, context); };
           });
}

}  // namespace berth::cli
