// The reaper.

#include "reaper/sweep.h"

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "capi/sweep_objects.h"
#include "reaper/decide.h"
#include "reaper/engines.h"
#include "reaper/filter.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"

namespace berth::capi {
namespace {

struct SweepReportObject {
  static constexpr Kind kKind = Kind::kSweepReport;
  reaper::Report report;
  std::vector<std::string> errors;  // in words, one for each item
};

// The store of a state directory, for the time of a call.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(const char* state_dir, size_t size) {
  ABSL_ASSIGN_OR_RETURN(const absl::string_view path, Text(state_dir, size, "state_dir"));
  return Store::Open(std::string(path));
}

absl::StatusOr<absl::Duration*> TimeOf(SweepOptionsObject& object, int32_t which) {
  reaper::Options& options = object.options;
  switch (which) {
    case BERTH_SWEEP_OLDER_THAN:
      return &options.older_than;
    case BERTH_SWEEP_FORGET_ENDED:
      return &options.forget_ended;
    case BERTH_SWEEP_GRACE:
      return &options.grace;
    case BERTH_SWEEP_PER_OBJECT:
      return &options.time_per_object;
    case BERTH_SWEEP_TOTAL:
      return &options.time;
    case BERTH_SWEEP_LOCK_WAIT:
      return &options.lock_wait;
    case BERTH_SWEEP_SETTLE:
      return &object.watch.settle;
    case BERTH_SWEEP_EVERY:
      return &object.watch.every;
  }
  return NoSuch("time of a sweep", which);
}

int64_t NumberOf(const reaper::Report& report, int32_t field) {
  switch (field) {
    case BERTH_SWEEP_ITEMS:
      return static_cast<int64_t>(report.items.size());
    case BERTH_SWEEP_SESSIONS:
      return report.sessions;
    case BERTH_SWEEP_KEPT:
      return report.kept;
    case BERTH_SWEEP_DONE:
      return report.done;
    case BERTH_SWEEP_DOUBTS:
      return report.doubts;
    case BERTH_SWEEP_FAILED:
      return report.failed;
    case BERTH_SWEEP_OUT_OF_TIME:
      return report.out_of_time;
    case BERTH_SWEEP_PLANNED:
      return report.planned;
    case BERTH_SWEEP_PASSES:
      return report.passes;
    case BERTH_SWEEP_TOOK_NS:
      return absl::ToInt64Nanoseconds(report.took);
    case BERTH_SWEEP_EXIT_CODE:
      return reaper::ExitCodeOf(report);
  }
  return -1;
}

// The numbers of the C ABI are those of these.
static_assert(static_cast<int>(reaper::Verdict::kKeep) == BERTH_VERDICT_KEEP &&
              static_cast<int>(reaper::Verdict::kDoubt) == BERTH_VERDICT_DOUBT &&
              static_cast<int>(reaper::Result::kNothing) == BERTH_SWEPT_NOTHING &&
              static_cast<int>(reaper::Result::kOutOfTime) == BERTH_SWEPT_OUT_OF_TIME);

}  // namespace

absl::StatusOr<SweepOptionsObject> GetSweepOptions(const berth_sweep_options* options) {
  if (options == nullptr) return SweepOptionsObject();
  ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepOptionsObject>(options, "options"));
  ABSL_RETURN_IF_ERROR(object->error);
  return *object;
}

absl::Status PutReport(reaper::Report report, berth_sweep_report** out) {
  auto object = std::make_shared<SweepReportObject>();
  for (const reaper::Item& item : report.items) {
    object->errors.emplace_back(item.error.message());
  }
  object->report = std::move(report);
  return Put(std::move(object), out);
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
namespace reaper = ::berth::reaper;

int32_t berth_sweep_options_new(berth_sweep_options** options, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(options, "options"));
    return Put(std::make_shared<SweepOptionsObject>(), options);
  });
}

void berth_sweep_options_free(berth_sweep_options* options) {
  Handles::Remove<SweepOptionsObject>(options);
}

int32_t berth_sweep_options_set_flags(berth_sweep_options* options, uint32_t flags) {
  return Change<SweepOptionsObject>(options, [&](SweepOptionsObject& object) -> absl::Status {
    if ((flags & ~(BERTH_SWEEP_DRY_RUN | BERTH_SWEEP_SHOW_KEPT | BERTH_SWEEP_ADOPT_CODEFLY)) != 0) {
      return NoSuch("set of sweep flags", flags);
    }
    object.options.dry_run = (flags & BERTH_SWEEP_DRY_RUN) != 0;
    object.options.show_kept = (flags & BERTH_SWEEP_SHOW_KEPT) != 0;
    object.options.adopt_codefly = (flags & BERTH_SWEEP_ADOPT_CODEFLY) != 0;
    return absl::OkStatus();
  });
}

int32_t berth_sweep_options_set_time(berth_sweep_options* options, int32_t which, int64_t ms) {
  return Change<SweepOptionsObject>(options, [&](SweepOptionsObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(absl::Duration * time, TimeOf(object, which));
    const bool may_be_never = which == BERTH_SWEEP_FORGET_ENDED || which == BERTH_SWEEP_EVERY;
    ABSL_ASSIGN_OR_RETURN(*time, Milliseconds(ms, may_be_never, "ms"));
    return absl::OkStatus();
  });
}

int32_t berth_sweep_options_set_filter(berth_sweep_options* options, const berth_strings* only,
                                       const berth_strings* except) {
  return Change<SweepOptionsObject>(options, [&](SweepOptionsObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto wanted, GetStringsOrNone(only, "only"));
    ABSL_ASSIGN_OR_RETURN(const auto unwanted, GetStringsOrNone(except, "except"));
    ABSL_ASSIGN_OR_RETURN(object.options.filter, reaper::Filter::Make(wanted, unwanted));
    return absl::OkStatus();
  });
}

int32_t berth_sweep(berth_sweep_report** report, const char* state_dir, size_t state_dir_size,
                    const berth_sweep_options* options, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(report, "report"));
    ABSL_ASSIGN_OR_RETURN(const SweepOptionsObject how, GetSweepOptions(options));
    ABSL_ASSIGN_OR_RETURN(const auto store, OpenStore(state_dir, state_dir_size));
    ABSL_ASSIGN_OR_RETURN(reaper::Report swept,
                          reaper::Sweep(*store, how.options, reaper::MakeEngines()));
    return PutReport(std::move(swept), report);
  });
}

int32_t berth_sweep_explain(berth_sweep_report** report, const char* state_dir,
                            size_t state_dir_size, const char* id, size_t id_size,
                            const berth_sweep_options* options, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(report, "report"));
    ABSL_ASSIGN_OR_RETURN(const SweepOptionsObject how, GetSweepOptions(options));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view which, Text(id, id_size, "id"));
    ABSL_ASSIGN_OR_RETURN(const auto store, OpenStore(state_dir, state_dir_size));
    ABSL_ASSIGN_OR_RETURN(reaper::Item item, reaper::Explain(*store, std::string(which),
                                                             how.options, reaper::MakeEngines()));
    reaper::Report one;
    one.state_dir = store->dir().path();
    one.dry_run = true;
    one.Add(std::move(item), true);
    return PutReport(std::move(one), report);
  });
}

int64_t berth_sweep_report_number(const berth_sweep_report* report, int32_t field) {
  const std::shared_ptr<SweepReportObject> object = Handles::Find<SweepReportObject>(report);
  return object == nullptr ? -1 : NumberOf(object->report, field);
}

int32_t berth_sweep_report_at(berth_sweep_item* item, const berth_sweep_report* report,
                              size_t index, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(item, "item"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepReportObject>(report, "report"));
    if (index >= object->report.items.size()) return NotInRange(index, "item");
    const reaper::Item& it = object->report.items[index];
    const std::string& why = object->errors[index];
    berth_sweep_item filled = {};
    filled.kind = GiveText(&it.kind, &filled.kind_size);
    filled.id = GiveText(&it.id, &filled.id_size);
    filled.name = GiveText(&it.name, &filled.name_size);
    filled.deed = GiveText(&it.deed, &filled.deed_size);
    filled.error = GiveText(&why, &filled.error_size);
    filled.verdict = static_cast<int32_t>(it.verdict);
    filled.result = static_cast<int32_t>(it.result);
    *item = filled;
    return absl::OkStatus();
  });
}

int32_t berth_sweep_report_because(berth_strings** because, berth_strings** evidence,
                                   const berth_sweep_report* report, size_t index,
                                   berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepReportObject>(report, "report"));
    if (index >= object->report.items.size()) return NotInRange(index, "item");
    const reaper::Item& it = object->report.items[index];
    berth_strings* why = nullptr;
    ABSL_RETURN_IF_ERROR(PutStrings(it.because, &why));
    absl::Cleanup forget = [&why] { berth_strings_free(why); };
    if (evidence != nullptr) {
      ABSL_RETURN_IF_ERROR(PutStrings(it.evidence, evidence));
    }
    if (because != nullptr) *because = std::exchange(why, nullptr);
    return absl::OkStatus();
  });
}

int32_t berth_sweep_report_format(berth_string** text, const berth_sweep_report* report,
                                  int32_t format, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(text, "text"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SweepReportObject>(report, "report"));
    switch (format) {
      case BERTH_SWEEP_TEXT:
        return PutString(reaper::ToText(object->report, object->report.dry_run, /*colour=*/false),
                         text);
      case BERTH_SWEEP_JSON:
        return PutString(reaper::ToJson(object->report), text);
      case BERTH_SWEEP_METRICS:
        return PutString(reaper::ToMetrics({object->report}, absl::Now()), text);
    }
    return NoSuch("format of a report", format);
  });
}

int32_t berth_sweep_report_from_json(berth_sweep_report** report, const char* json,
                                     size_t json_size, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(report, "report"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(json, json_size, "json"));
    ABSL_ASSIGN_OR_RETURN(reaper::Report read, reaper::ReportFromJson(text));
    return PutReport(std::move(read), report);
  });
}

void berth_sweep_report_free(berth_sweep_report* report) {
  Handles::Remove<SweepReportObject>(report);
}
