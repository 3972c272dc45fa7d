#include "runtime/native/session_info.h"

#include <stdint.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_survey.h"
#include "runtime/native/native_process.h"
#include "runtime/native/native_violations.h"
#include "runtime/native/remains.h"
#include "runtime/record/identity.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth {
namespace {

SessionInfo InfoOfRecord(const Record& record) {
  SessionInfo info;
  info.handle = NativeHandle(record);
  info.name = record.name;
  info.backend = record.backend;
  info.durable = record.durable;
  info.created = absl::FromUnixNanos(record.created_at_unix_ns);
  info.last_output = absl::InfinitePast();
  info.pid = static_cast<pid_t>(record.leader.pid);
  info.tree = record.tree;
  info.labels.insert(record.labels.begin(), record.labels.end());
  return info;
}

absl::Status ReadInfo(launcher::Reader in, SessionInfo* info) {
  info->state = in.Get<uint8_t>() == 2 ? SessionState::kExited : SessionState::kRunning;
  info->pid = in.Get<int32_t>();
  info->exit = ReadEnd(&in);
  info->pty = in.Get<uint8_t>() != 0;
  info->size.rows = in.Get<uint16_t>();
  info->size.cols = in.Get<uint16_t>();
  info->attached = static_cast<int>(in.Get<uint32_t>());
  info->output_bytes = static_cast<int64_t>(in.Get<uint64_t>());
  const uint64_t quiet_ns = in.Get<uint64_t>();
  if (quiet_ns != ~uint64_t{0})
    info->last_output = absl::Now() - absl::Nanoseconds(static_cast<int64_t>(quiet_ns));
  info->title = in.GetString();
  info->log_path = in.GetString();
  in.GetString();  // the name, which the record has
  info->cwd = in.GetString();
  info->tier = TierText(in.Get<launcher::SandboxTier>());
  info->violations = static_cast<int64_t>(in.Get<uint64_t>());
  if (!in.done()) return absl::InternalError("the session's keeper gave a malformed answer");
  return absl::OkStatus();
}

// Nothing if the keeper has to be asked.
std::optional<SessionInfo> InfoOfPage(const Record& record, StatusViews* views,
                                      const IdentityChecker& checker) {
  const std::optional<launcher::Status> status = views->Read(record, checker);
  if (!status.has_value()) return std::nullopt;
  SessionInfo info = InfoOfRecord(record);
  if (!ReadInfo({status->info.data(), status->info.size()}, &info).ok()) return std::nullopt;
  info.output_bytes = static_cast<int64_t>(status->output_bytes);
  if (status->last_output_ns != 0) {
    const uint64_t quiet_ns = launcher::NowNs() - status->last_output_ns;
    info.last_output = absl::Now() - absl::Nanoseconds(static_cast<int64_t>(quiet_ns));
  }
  return info;
}

}  // namespace

std::string NativeHandle(const Record& record) {
  return absl::StrCat(record.backend, ":", record.uid);
}

ExitStatus ReadEnd(launcher::Reader* in) {
  launcher::ExitNotice notice;
  notice.code = in->Get<int32_t>();
  notice.signal = in->Get<int32_t>();
  notice.stopped = in->Get<uint8_t>();
  notice.reason = in->Get<uint8_t>();
  return ToExitStatus(notice);
}

absl::StatusOr<SessionInfo> MakeInfo(const Store& store, const Record& record,
                                     const absl::StatusOr<launcher::Message>& answer) {
  SessionInfo info = InfoOfRecord(record);
  if (record.state == kStateStarting) {
    info.state = SessionState::kStarting;
    return info;
  }
  if (answer.ok()) {
    ABSL_RETURN_IF_ERROR(ReadInfo(answer->reader(), &info));
    return info;
  }
  ABSL_ASSIGN_OR_RETURN(const Record current, store.Read(record.uid));
  const absl::StatusOr<ExitStatus> end = EndOfRemains(store, current);
  if (absl::IsNotFound(answer.status()) && end.ok()) {
    info.state = SessionState::kExited;
    info.exit = *end;
  } else {
    info.state = SessionState::kUnknown;
  }
  return info;
}

std::vector<SessionInfo> DescribeAll(const Store& store, const std::vector<Record>& records,
                                     StatusViews* views, absl::Time deadline) {
  views->KeepOnly(records);
  const IdentityChecker checker;
  std::vector<SessionInfo> infos;
  infos.reserve(records.size());
  const auto add = [&](absl::StatusOr<SessionInfo> info) {
    if (info.ok()) infos.push_back(*std::move(info));
  };
  std::vector<const Record*> silent;
  std::vector<std::string> uids;
  for (const Record& record : records) {
    if (record.state == kStateStarting) {
      add(MakeInfo(store, record, absl::NotFoundError("")));
    } else if (std::optional<SessionInfo> seen = InfoOfPage(record, views, checker)) {
      infos.push_back(*std::move(seen));
    } else {
      silent.push_back(&record);
      uids.push_back(record.uid);
    }
  }
  AskKeepers(store.dir().run_fd(), uids, {launcher::kInfo, "\1"}, deadline,
             [&](size_t i, const absl::StatusOr<launcher::Message>& answer) {
               if (answer.ok() && !answer->fds.empty()) views->Add(*silent[i], answer->fds[0]);
               add(MakeInfo(store, *silent[i], answer));
             });
  return infos;
}

}  // namespace berth
