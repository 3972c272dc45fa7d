// Texts, lists of texts, environments.

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/env.h"

namespace berth::capi {

absl::StatusOr<std::vector<std::string>> GetStrings(const berth_strings* strings,
                                                    const char* argument) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<StringsObject> object,
                        Get<StringsObject>(strings, argument));
  ABSL_RETURN_IF_ERROR(object->error);
  return object->texts;
}

absl::StatusOr<std::vector<std::string>> GetStringsOrNone(const berth_strings* strings,
                                                          const char* argument) {
  if (strings == nullptr) return std::vector<std::string>();
  return GetStrings(strings, argument);
}

absl::Status PutStrings(std::vector<std::string> texts, berth_strings** out) {
  auto object = std::make_shared<StringsObject>();
  object->texts = std::move(texts);
  *out = Handles::Add<berth_strings>(std::move(object));
  return absl::OkStatus();
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Env;

const char* berth_string_data(const berth_string* string, size_t* size) {
  const std::shared_ptr<StringObject> object = Handles::Find<StringObject>(string);
  return GiveText(object == nullptr ? nullptr : &object->text, size);
}

void berth_string_free(berth_string* string) { Handles::Remove<StringObject>(string); }

int32_t berth_strings_new(berth_strings** strings, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(strings, "strings"));
    return PutStrings({}, strings);
  });
}

int32_t berth_strings_add(berth_strings* strings, const char* text, size_t text_size) {
  return Change<StringsObject>(strings, [&](StringsObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view checked, Text(text, text_size, "text"));
    object.texts.emplace_back(checked);
    return absl::OkStatus();
  });
}

size_t berth_strings_count(const berth_strings* strings) {
  const std::shared_ptr<StringsObject> object = Handles::Find<StringsObject>(strings);
  return object == nullptr ? 0 : object->texts.size();
}

const char* berth_strings_at(const berth_strings* strings, size_t index, size_t* size) {
  const std::shared_ptr<StringsObject> object = Handles::Find<StringsObject>(strings);
  const bool there = object != nullptr && index < object->texts.size();
  return GiveText(there ? &object->texts[index] : nullptr, size);
}

void berth_strings_free(berth_strings* strings) { Handles::Remove<StringsObject>(strings); }

int32_t berth_env_new(berth_env** env, int32_t base, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(env, "env"));
    auto object = std::make_shared<EnvObject>();
    switch (base) {
      case BERTH_ENV_CLEAN:
        object->env = Env::Clean();
        break;
      case BERTH_ENV_BASIC:
        object->env = Env::Basic();
        break;
      case BERTH_ENV_INHERIT:
        object->env = Env::Inherit();
        break;
      default:
        return absl::InvalidArgumentError(absl::StrCat("there is no environment ", base));
    }
    *env = Handles::Add<berth_env>(std::move(object));
    return absl::OkStatus();
  });
}

int32_t berth_env_new_listed(berth_env** env, const berth_strings* keys, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(env, "env"));
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> listed, GetStrings(keys, "keys"));
    auto object = std::make_shared<EnvObject>();
    object->env = Env::InheritListed(std::move(listed));
    *env = Handles::Add<berth_env>(std::move(object));
    return absl::OkStatus();
  });
}

int32_t berth_env_set(berth_env* env, const char* key, size_t key_size, const char* value,
                      size_t value_size) {
  return Change<EnvObject>(env, [&](EnvObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view k, Text(key, key_size, "key"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view v, Text(value, value_size, "value"));
    object.env.Set(k, v);
    return absl::OkStatus();
  });
}

int32_t berth_env_unset(berth_env* env, const char* key, size_t key_size) {
  return Change<EnvObject>(env, [&](EnvObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view k, Text(key, key_size, "key"));
    object.env.Unset(k);
    return absl::OkStatus();
  });
}

int32_t berth_env_append(berth_env* env, const char* key, size_t key_size, const char* value,
                         size_t value_size, const char* separator, size_t separator_size) {
  return Change<EnvObject>(env, [&](EnvObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view k, Text(key, key_size, "key"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view v, Text(value, value_size, "value"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view s, Text(separator, separator_size, "separator"));
    object.env.Append(k, v, s);
    return absl::OkStatus();
  });
}

int32_t berth_env_prepend(berth_env* env, const char* key, size_t key_size, const char* value,
                          size_t value_size, const char* separator, size_t separator_size) {
  return Change<EnvObject>(env, [&](EnvObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view k, Text(key, key_size, "key"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view v, Text(value, value_size, "value"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view s, Text(separator, separator_size, "separator"));
    object.env.Prepend(k, v, s);
    return absl::OkStatus();
  });
}

int32_t berth_env_beneath(berth_env* env, const berth_env* other) {
  return Change<EnvObject>(env, [&](EnvObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<EnvObject> from, Get<EnvObject>(other, "other"));
    ABSL_RETURN_IF_ERROR(from->error);
    const Env changes = from->env;  // which may be the same one
    object.env.Beneath(changes);
    return absl::OkStatus();
  });
}

int32_t berth_env_resolve(berth_strings** entries, const berth_env* env, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(entries, "entries"));
    ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<EnvObject> object, Get<EnvObject>(env, "env"));
    ABSL_RETURN_IF_ERROR(object->error);
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> all, object->env.Resolve(environ));
    return PutStrings(std::move(all), entries);
  });
}

void berth_env_free(berth_env* env) { Handles::Remove<EnvObject>(env); }
