// Images of a container engine.

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/docker/images.h"

namespace berth::capi {
namespace {

struct ImageObject {
  static constexpr Kind kKind = Kind::kImage;
  Image image;
};

// Has the images of that engine for the time of a call.
template <typename Body>
int32_t WithImages(const char* engine, size_t engine_size, berth_error** error, Body&& body) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(engine, engine_size, "engine"));
    ABSL_ASSIGN_OR_RETURN(EngineAddress address,
                          text.empty() ? EngineAddress::Resolve() : EngineAddress::Parse(text));
    EngineClient client(std::move(address));
    return body(Images(&client));
  });
}

absl::Status PutImage(absl::StatusOr<Image> image, berth_image** out) {
  ABSL_RETURN_IF_ERROR(image.status());
  return Put(std::make_shared<ImageObject>(ImageObject{*std::move(image)}), out);
}

OnPull Telling(berth_on_pull on_pull, void* context) {
  return [on_pull, context](const PullProgress& it) {
    if (on_pull == nullptr) return true;
    berth_pull_progress told = {};
    told.layer = GiveText(&it.layer, &told.layer_size);
    told.status = GiveText(&it.status, &told.status_size);
    told.done = it.done;
    told.total = it.total;
    told.layers = it.layers;
    told.layers_done = it.layers_done;
    told.percent = it.percent;
    return on_pull(context, &told) == 0;
  };
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Images;

int32_t berth_image_inspect(berth_image** image, const char* engine, size_t engine_size,
                            const char* name, size_t name_size, berth_error** error) {
  return WithImages(engine, engine_size, error, [&](const Images& images) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(image, "image"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    ABSL_RETURN_IF_ERROR(berth::CheckImageName(text));
    return PutImage(images.Inspect(std::string(text)), image);
  });
}

int32_t berth_image_pull(berth_image** image, const char* engine, size_t engine_size,
                         const char* name, size_t name_size, berth_on_pull on_pull, void* context,
                         int64_t timeout_ms, berth_error** error) {
  return WithImages(engine, engine_size, error, [&](const Images& images) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(image, "image"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    ABSL_RETURN_IF_ERROR(berth::CheckImageName(text));
    ABSL_ASSIGN_OR_RETURN(const absl::Duration limit, Milliseconds(timeout_ms, true, "timeout_ms"));
    return PutImage(images.Pull(std::string(text), Telling(on_pull, context), limit), image);
  });
}

int32_t berth_image_load(const char* engine, size_t engine_size, const char* tar, size_t tar_size,
                         berth_error** error) {
  return WithImages(engine, engine_size, error, [&](const Images& images) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view bytes, Text(tar, tar_size, "tar"));
    if (bytes.empty()) return absl::InvalidArgumentError("tar is empty");
    return images.Load(bytes);
  });
}

int32_t berth_image_import(berth_image** image, const char* engine, size_t engine_size,
                           const char* tar, size_t tar_size, const char* name, size_t name_size,
                           const berth_strings* changes, berth_error** error) {
  return WithImages(engine, engine_size, error, [&](const Images& images) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(image, "image"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view bytes, Text(tar, tar_size, "tar"));
    if (bytes.empty()) return absl::InvalidArgumentError("tar is empty");
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    ABSL_RETURN_IF_ERROR(berth::CheckImageName(text));
    ABSL_ASSIGN_OR_RETURN(const auto lines, GetStringsOrNone(changes, "changes"));
    return PutImage(images.Import(bytes, std::string(text), lines), image);
  });
}

const char* berth_image_text(const berth_image* image, int32_t field, size_t* size) {
  const std::shared_ptr<ImageObject> object = Handles::Find<ImageObject>(image);
  if (object == nullptr) return GiveText(nullptr, size);
  if (field == BERTH_IMAGE_ID) return GiveText(&object->image.id, size);
  return GiveText(field == BERTH_IMAGE_ARCHITECTURE ? &object->image.architecture : nullptr, size);
}

int32_t berth_image_env(berth_strings** env, const berth_image* image, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(env, "env"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<ImageObject>(image, "image"));
    return PutStrings(object->image.env, env);
  });
}

void berth_image_free(berth_image* image) { Handles::Remove<ImageObject>(image); }
