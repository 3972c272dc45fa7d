// berth top: all sessions, live, and keys to attach to one, send to it or end it.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/detach_key.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/loop.h"
#include "tools/berth/output.h"
#include "tools/berth/session_json.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/terminal.h"
#include "tools/berth/top_survey.h"
#include "tools/berth/top_view.h"
#include "tools/berth/visit.h"

namespace berth::cli {
namespace {

constexpr absl::Duration kEvery = absl::Seconds(1);
constexpr absl::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr absl::string_view kLeaveScreen = "\x1b[?25h\x1b[?1049l";
constexpr absl::string_view kEscape = "\x1b";

class Top {
 public:
  Top(Runtime* runtime, SignalFd* signals)
      : runtime_(runtime), signals_(signals), survey_(runtime) {}

  absl::StatusOr<int> Run() {
    ABSL_ASSIGN_OR_RETURN(raw_, RawTerminal::Enter(STDIN_FILENO));
    ABSL_RETURN_IF_ERROR(Print(kEnterScreen));
    const absl::Status status = Stay();
    Print(kLeaveScreen).IgnoreError();
    raw_.reset();
    ABSL_RETURN_IF_ERROR(status);
    return *code_;
  }

 private:
  // Until a key or a signal ends it.
  absl::Status Stay() {
    Watch keys(STDIN_FILENO, [this] { return OnKeys(); });
    Watch signals(signals_->fd(), [this] { return OnSignals(); });
    Watch events(runtime_->event_fd(), [this] { return OnEvents(); });
    loop_.Add(&keys);
    loop_.Add(&signals);
    loop_.Add(&events);
    ABSL_RETURN_IF_ERROR(Tick());
    return loop_.Run([this] { return code_.has_value(); });
  }

  absl::Status Tick() {
    ABSL_RETURN_IF_ERROR(Refresh());
    loop_.SetTimer(absl::Now() + kEvery, [this] { return Tick(); });
    return absl::OkStatus();
  }

  absl::Status Refresh() {
    const size_t first = FirstShown(survey_.rows().size(), Selected(), CurrentSize());
    ABSL_RETURN_IF_ERROR(survey_.Refresh(first, CurrentSize().rows));
    return Draw();
  }

  absl::Status Draw() {
    if (code_.has_value()) return absl::OkStatus();
    std::string status = status_;
    if (mode_ == Mode::kSend) status = absl::StrCat("send to ", NameOfChosen(), ": ", typed_, "_");
    if (mode_ == Mode::kKill) status = absl::StrCat("end ", NameOfChosen(), "? y/n");
    if (mode_ == Mode::kRemove) {
      status = absl::StrCat("end ", NameOfChosen(), " and remove all that it has? y/n");
    }
    const std::vector<std::string> lines = TopFrame({.rows = survey_.rows(),
                                                     .selected = Selected(),
                                                     .status = std::move(status),
                                                     .size = CurrentSize(),
                                                     .colour = WantsColour(STDOUT_FILENO),
                                                     .now = absl::Now()});
    // Shown at once by terminals that know how (2026); no line end after the last, which would
    // scroll.
    return Print(absl::StrCat("\x1b[?2026h\x1b[H", absl::StrJoin(lines, "\x1b[K\r\n"),
                              "\x1b[K\x1b[J\x1b[?2026l"));
  }

  absl::Status OnSignals() {
    while (const std::optional<int> signal = signals_->Next()) {
      if (*signal != SIGWINCH) code_ = 128 + *signal;
    }
    return Draw();
  }

  absl::Status OnEvents() {
    while (true) {
      ABSL_ASSIGN_OR_RETURN(const std::optional<Event> event, runtime_->NextEvent());
      if (!event.has_value()) break;
    }
    return Refresh();
  }

  absl::Status OnKeys() {
    char buffer[4096];
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (n <= 0) {
      code_ = 128 + SIGHUP;  // the terminal is gone
      return absl::OkStatus();
    }
    absl::string_view keys(buffer, static_cast<size_t>(n));
    while (!keys.empty() && !code_.has_value()) {
      ABSL_RETURN_IF_ERROR(mode_ == Mode::kList ? OnListKey(&keys) : OnAnswerKey(&keys));
    }
    return Draw();
  }

  absl::Status OnListKey(absl::string_view* keys) {
    status_.clear();
    for (const auto& [sequence, step] : {std::pair("\x1b[A", -1),
                                         {"\x1bOA", -1},
                                         {"\x1b[B", 1},
                                         {"\x1bOB", 1},
                                         {"\x1b[5~", -10},
                                         {"\x1b[6~", 10}}) {
      if (absl::ConsumePrefix(keys, sequence)) {
        Move(step);
        return absl::OkStatus();
      }
    }
    const char key = keys->front();
    // A sequence that means nothing here is passed over whole.
    keys->remove_prefix(key == kEscape[0] ? keys->size() : 1);
    switch (key) {
      case 'q':
        code_ = kOk;
        break;
      case '\x03':
        code_ = 128 + SIGINT;
        break;
      case 'k':
        Move(-1);
        break;
      case 'j':
        Move(1);
        break;
      case '\r':
      case 'a':
        return AttachToChosen();
      case 's':
        Begin(Mode::kSend);
        break;
      case 'K':
        Begin(Mode::kKill);
        break;
      case 'D':
        Begin(Mode::kRemove);
        break;
      case 'c':
        survey_.set_order(Survey::Order::kCpu);
        break;
      case 'm':
        survey_.set_order(Survey::Order::kMemory);
        break;
      case 'n':
        survey_.set_order(Survey::Order::kName);
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }

  // The line at the bottom: a message, or yes or no.
  absl::Status OnAnswerKey(absl::string_view* keys) {
    const char key = keys->front();
    keys->remove_prefix(key == kEscape[0] ? keys->size() : 1);
    if (key == kEscape[0] || key == '\x03') {
      mode_ = Mode::kList;
    } else if (mode_ != Mode::kSend) {
      const Mode asked = std::exchange(mode_, Mode::kList);
      if (key == 'y' || key == 'Y') return EndChosen(asked == Mode::kRemove);
    } else if (key == '\r') {
      mode_ = Mode::kList;
      return SendToChosen();
    } else if (key == '\x7f' || key == '\b') {
      // A character may have several bytes.
      while (!typed_.empty() && (typed_.back() & 0xC0) == 0x80) typed_.pop_back();
      if (!typed_.empty()) typed_.pop_back();
    } else if (static_cast<unsigned char>(key) >= ' ') {
      typed_.push_back(key);
    }
    return absl::OkStatus();
  }

  enum class Mode { kList, kSend, kKill, kRemove };

  // The selected one is remembered by its handle: others come and go around it.
  size_t Selected() const {
    const std::vector<TopRow>& rows = survey_.rows();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].info.handle == chosen_) return i;
    }
    return std::min(last_selected_, rows.empty() ? 0 : rows.size() - 1);
  }
  void Move(int step) {
    const auto last = static_cast<int64_t>(survey_.rows().size()) - 1;
    if (last < 0) return;
    const int64_t to = std::clamp<int64_t>(static_cast<int64_t>(Selected()) + step, 0, last);
    last_selected_ = static_cast<size_t>(to);
    chosen_ = survey_.rows()[last_selected_].info.handle;
  }
  std::string NameOfChosen() const {
    return survey_.rows().empty() ? "" : survey_.rows()[Selected()].info.name;
  }
  void Begin(Mode mode) {
    if (survey_.rows().empty()) return;
    Move(0);  // from here on it is this one, whatever comes before it
    typed_.clear();
    mode_ = mode;
  }
  Session* Chosen() {
    Move(0);
    Session* const session = survey_.rows().empty() ? nullptr : survey_.Open(chosen_);
    if (session == nullptr) status_ = "the session is gone";
    return session;
  }
  void Tell(const absl::Status& status, std::string otherwise) {
    status_ = status.ok() ? std::move(otherwise) : std::string(status.message());
  }

  absl::Status AttachToChosen() {
    Session* const session = Chosen();
    if (session == nullptr) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(const DetachKey key, DetachKey::Parse("C-]"));
    ABSL_RETURN_IF_ERROR(Print(kLeaveScreen));
    const absl::StatusOr<VisitEnd> end = VisitSession(session, signals_, key);
    Tell(end.status(), end.ok() && end->ended ? absl::StrCat(NameOfChosen(), " has ended") : "");
    if (end.ok() && end->signal.has_value()) code_ = 128 + *end->signal;
    ABSL_RETURN_IF_ERROR(Print(kEnterScreen));
    return Refresh();
  }

  absl::Status SendToChosen() {
    Session* const session = Chosen();
    if (session == nullptr) return absl::OkStatus();
    const Message message{.text = typed_, .await = Delivery::kSubmitted};
    Tell(session->Send(message, absl::Now() + absl::Seconds(5)).status(),
         absl::StrCat("sent to ", NameOfChosen()));
    return absl::OkStatus();
  }

  absl::Status EndChosen(bool remove) {
    Session* const session = Chosen();
    if (session == nullptr) return absl::OkStatus();
    const std::string name = NameOfChosen();
    status_ = absl::StrCat("ending ", name, " …");
    ABSL_RETURN_IF_ERROR(Draw());
    constexpr absl::Duration kGrace = absl::Seconds(5);
    Tell(remove ? session->Destroy(kGrace) : session->Stop(kGrace).status(),
         absl::StrCat(name, remove ? " is removed" : " has ended"));
    return Refresh();
  }

  Runtime* const runtime_;
  SignalFd* const signals_;
  Survey survey_;
  Loop loop_;
  std::unique_ptr<RawTerminal> raw_;
  Mode mode_ = Mode::kList;
  std::string chosen_, typed_, status_;
  size_t last_selected_ = 0;
  std::optional<int> code_;
};

absl::Status PrintSnapshot(Runtime* runtime) {
  Survey survey(runtime);
  ABSL_RETURN_IF_ERROR(survey.Refresh(0, SIZE_MAX / 2));
  std::vector<Json> all;
  for (const TopRow& row : survey.rows()) {
    all.push_back(
        Json{{"session", ToJson(row.info)},
             {"memory_bytes", row.memory_bytes < 0 ? Json(nullptr) : Json(row.memory_bytes)},
             {"last_line", absl::StripSuffix(row.last_line, "\n")}});
  }
  return PrintJson(Json::Array(all));
}

absl::StatusOr<int> ShowTop(Context& context) {
  if (context.json) {
    ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
    ABSL_RETURN_IF_ERROR(PrintSnapshot(runtime));
    return kOk;
  }
  if (!IsTerminal(STDIN_FILENO) || !IsTerminal(STDOUT_FILENO)) {
    return WithHint(absl::FailedPreconditionError("input and output must be a terminal"),
                    "'berth top --json', 'berth ls' and 'berth stats' are for programs");
  }
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  return Top(runtime, signals.get()).Run();
}

}  // namespace

void AddTop(Cli* cli) {
  cli->Add({.name = "top",
            .summary = "Watch all sessions, and attach to, send to or end one",
            .examples = {"berth top", "berth top --json | jq -r '.[].last_line'"},
            .json = true},
           [](Arguments*) -> Cli::Action { return ShowTop; });
}

}  // namespace berth::cli
