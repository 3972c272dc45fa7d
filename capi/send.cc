// What is sent to sessions.

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth::capi {
namespace {

struct SendOptionsObject {
  static constexpr Kind kKind = Kind::kSendOptions;
  std::string submit = "Enter";
  bool paste = true;
  Delivery await = Delivery::kSubmitted;
  absl::Status error;
};

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Delivery;
using ::berth::Session;

int32_t berth_send_options_new(berth_send_options** options, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(options, "options"));
    *options = Handles::Add<berth_send_options>(std::make_shared<SendOptionsObject>());
    return absl::OkStatus();
  });
}

int32_t berth_send_options_set_submit(berth_send_options* options, const char* key,
                                      size_t key_size) {
  return Change<SendOptionsObject>(options, [&](SendOptionsObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(key, key_size, "key"));
    object.submit = std::string(text);
    return absl::OkStatus();
  });
}

int32_t berth_send_options_set_paste(berth_send_options* options, int32_t paste) {
  return Change<SendOptionsObject>(options, [&](SendOptionsObject& object) {
    object.paste = paste != 0;
    return absl::OkStatus();
  });
}

int32_t berth_send_options_set_await(berth_send_options* options, int32_t delivery) {
  return Change<SendOptionsObject>(options, [&](SendOptionsObject& object) -> absl::Status {
    if (delivery < BERTH_QUEUED || delivery > BERTH_CONFIRMED) {
      return absl::InvalidArgumentError(absl::StrCat("there is no delivery ", delivery));
    }
    object.await = static_cast<Delivery>(delivery);
    return absl::OkStatus();
  });
}

void berth_send_options_free(berth_send_options* options) {
  Handles::Remove<SendOptionsObject>(options);
}

int32_t berth_session_send(int32_t* delivery, berth_session* session, const char* text,
                           size_t text_size, const berth_send_options* options, int64_t timeout_ms,
                           berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    auto how = std::make_shared<SendOptionsObject>();
    if (options != nullptr) {
      ABSL_ASSIGN_OR_RETURN(how, Get<SendOptionsObject>(options, "options"));
      ABSL_RETURN_IF_ERROR(how->error);
    }
    ABSL_ASSIGN_OR_RETURN(const absl::string_view bytes, Text(text, text_size, "text"));
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    ABSL_ASSIGN_OR_RETURN(
        const Delivery known,
        it.Send({.text = bytes, .submit = how->submit, .paste = how->paste, .await = how->await},
                deadline));
    if (delivery != nullptr) *delivery = static_cast<int32_t>(known);
    return absl::OkStatus();
  });
}

int32_t berth_session_send_keys(berth_session* session, const berth_strings* keys,
                                berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> names, GetStrings(keys, "keys"));
    return it.SendKeys(names);
  });
}

int32_t berth_session_close_stdin(berth_session* session, berth_error** error) {
  return OnSession(session, error, [](Session& it) { return it.CloseStdin(); });
}
