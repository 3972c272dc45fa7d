// Runtimes, and the ways from them to sessions and processes.

#include "runtime/runtime.h"

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/process.h"
#include "runtime/session.h"
#include "runtime/spec.h"

namespace berth::capi {
absl::Status PutSession(std::shared_ptr<RuntimeObject> runtime, const void* runtime_handle,
                        berth_session** out, MakeSession make) {
  auto object =
      std::make_shared<SessionObject>(SessionObject{std::move(runtime), runtime_handle, nullptr});
  return PutOwned(std::move(object), runtime_handle, out, [&](SessionObject& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(it.session, make());
    return absl::OkStatus();
  });
}

absl::Status PutProcess(std::shared_ptr<RuntimeObject> runtime, const void* runtime_handle,
                        berth_process** out, MakeProcess make) {
  auto object = std::make_shared<ProcessObject>(ProcessObject{std::move(runtime), nullptr});
  return PutOwned(std::move(object), runtime_handle, out, [&](ProcessObject& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(it.process, make());
    return absl::OkStatus();
  });
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Runtime;

int32_t berth_runtime_new(berth_runtime** runtime, const char* state_dir, size_t state_dir_size,
                          berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view dir,
                          Text(state_dir, state_dir_size, "state_dir"));
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Runtime> made,
                          Runtime::Create({.state_dir = std::string(dir)}));
    *runtime = Handles::Add<berth_runtime>(
        std::make_shared<RuntimeObject>(RuntimeObject{std::move(made)}));
    return absl::OkStatus();
  });
}

void berth_runtime_free(berth_runtime* runtime) {
  const std::shared_ptr<RuntimeObject> object = Handles::Find<RuntimeObject>(runtime);
  if (object == nullptr) return;
  Handles::Remove<RuntimeObject>(runtime);  // first, so that nothing is added to it any more
  Handles::RemoveOwnedBy(runtime);
}

int32_t berth_session_create(berth_session** session, berth_runtime* runtime,
                             const berth_session_spec* spec, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(session, "session"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const berth::SessionSpec wanted, GetSpec(spec));
    return PutSession(object, runtime, session,
                      [&] { return object->runtime->CreateSession(wanted); });
  });
}

int32_t berth_session_choose(berth_string** backend, berth_string** reason, berth_runtime* runtime,
                             const berth_session_spec* spec, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(backend, "backend"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const berth::SessionSpec wanted, GetSpec(spec));
    ABSL_ASSIGN_OR_RETURN(berth::Choice choice, object->runtime->Choose(wanted));
    if (reason == nullptr) return PutString(std::move(choice.backend), backend);
    berth_string* why = nullptr;
    ABSL_RETURN_IF_ERROR(PutString(std::move(choice.reason), &why));
    absl::Cleanup forget = [why] { berth_string_free(why); };
    ABSL_RETURN_IF_ERROR(PutString(std::move(choice.backend), backend));
    std::move(forget).Cancel();
    *reason = why;
    return absl::OkStatus();
  });
}

int32_t berth_session_open(berth_session** session, berth_runtime* runtime, const char* handle,
                           size_t handle_size, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(session, "session"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(handle, handle_size, "handle"));
    return PutSession(object, runtime, session, [&] { return object->runtime->Open(text); });
  });
}

int32_t berth_session_find(berth_session** session, berth_runtime* runtime, const char* name,
                           size_t name_size, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(session, "session"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    return PutSession(object, runtime, session, [&] { return object->runtime->Find(text); });
  });
}

int32_t berth_session_list(berth_infos** infos, berth_runtime* runtime, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(infos, "infos"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(auto list, object->runtime->List());
    return PutInfos(std::move(list), infos);
  });
}

int32_t berth_process_spawn(berth_process** process, berth_runtime* runtime,
                            const berth_process_spec* spec, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(process, "process"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const berth::ProcessSpec wanted, GetSpec(spec));
    return PutProcess(object, runtime, process, [&] { return object->runtime->Spawn(wanted); });
  });
}
