#include "runtime/nix/dev_env.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "runtime/env.h"

namespace berth {
namespace {

using Json = nlohmann::json;

// What a builder has of its own: nix develop leaves these to the caller, or they name folders of a
// build that is over.
constexpr absl::string_view kOfTheBuilder[] = {"BASHOPTS",
                                               "HOME",
                                               "NIX_BUILD_TOP",
                                               "NIX_ENFORCE_PURITY",
                                               "NIX_LOG_FD",
                                               "NIX_REMOTE",
                                               "OLDPWD",
                                               "PPID",
                                               "PWD",
                                               "SHELLOPTS",
                                               "SHLVL",
                                               "SSL_CERT_FILE",
                                               "TEMP",
                                               "TEMPDIR",
                                               "TERM",
                                               "TMP",
                                               "TMPDIR",
                                               "TZ",
                                               "UID",
                                               "builder",
                                               "outputs",
                                               "shellHook",
                                               "_",
                                               "dontAddDisableDepTrack"};
// Set by bash itself: it would refuse or misread them.
constexpr absl::string_view kOfBash[] = {"BASH",     "BASHOPTS",  "BASHPID", "DIRSTACK", "EUID",
                                         "FUNCNAME", "GROUPS",    "LINENO",  "PPID",     "RANDOM",
                                         "SECONDS",  "SHELLOPTS", "UID",     "_"};

// MAX_ARG_STRLEN is 32 pages, its final NUL included.
constexpr size_t kLongestWord = size_t{120} << 10;

std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("nix print-dev-env: ", what));
}

// One variable that is not exported, as bash declares it. "" for what bash would refuse.
absl::StatusOr<std::string> Declaration(const std::string& name, const std::string& type,
                                        const Json& value) {
  if (absl::c_linear_search(kOfBash, name)) return "";
  if (type == "var" && value.is_string()) {
    return absl::StrCat(name, "=", Quoted(value.get_ref<const std::string&>()), "\n");
  }
  if (type == "array" && value.is_array()) {
    std::string line = absl::StrCat("declare -a ", name, "=(");
    for (const Json& item : value) {
      if (!item.is_string()) return Malformed(absl::StrCat("array '", name, "' has no strings"));
      absl::StrAppend(&line, " ", Quoted(item.get_ref<const std::string&>()));
    }
    return absl::StrCat(line, ")\n");
  }
  if (type == "associative" && value.is_object()) {
    std::string line = absl::StrCat("declare -A ", name, "=(");
    for (const auto& [key, item] : value.items()) {
      if (!item.is_string()) return Malformed(absl::StrCat("array '", name, "' has no strings"));
      absl::StrAppend(&line, " [", Quoted(key), "]=", Quoted(item.get_ref<const std::string&>()));
    }
    return absl::StrCat(line, ")\n");
  }
  if (type == "unknown") return "";  // nix could not tell either, and leaves it out
  return Malformed(absl::StrCat("variable '", name, "' has the type '", type, "'"));
}

}  // namespace

Env DevEnv::ToEnv() const {
  Env env = Env::Clean();
  for (const auto& [key, value] : variables) {
    if (key == "PATH" || key == "XDG_DATA_DIRS") {
      env.Prepend(key, value, ":");
    } else {
      env.Set(key, value);
    }
  }
  return env;
}

std::vector<std::string> DevEnv::HookCommand() const {
  if (hook.empty()) return {};
  if (hook.size() <= kLongestWord) return {"bash", "-c", hook, "bash"};
  std::vector<std::string> words = {
      "bash", "-c",
      "_berth_n=$1; _berth_hook=; shift\n"
      "while [ $_berth_n -gt 0 ]; do _berth_hook+=$1; _berth_n=$((_berth_n - 1)); shift; done\n"
      "eval \"unset _berth_n _berth_hook; $_berth_hook\"",
      "bash", ""};
  for (size_t at = 0; at < hook.size(); at += kLongestWord) {
    words.push_back(hook.substr(at, kLongestWord));
  }
  words[4] = absl::StrCat(words.size() - 5);
  return words;
}

absl::StatusOr<DevEnv> ParseDevEnv(absl::string_view json) {
  const Json all = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) return Malformed("the output is not a JSON object");
  const auto variables = all.find("variables");
  if (variables == all.end() || !variables->is_object()) return Malformed("there are no variables");
  DevEnv out;
  std::vector<std::string> dropped(std::begin(kOfTheBuilder), std::end(kOfTheBuilder));
  std::string declarations, hook;
  for (const auto& [name, entry] : variables->items()) {
    if (!CheckEnvKey(name).ok()) return Malformed(absl::StrCat("a variable is named '", name, "'"));
    if (!entry.is_object() || !entry.contains("type") || !entry["type"].is_string() ||
        !entry.contains("value")) {
      return Malformed(absl::StrCat("variable '", name, "' has no type or value"));
    }
    const std::string& type = entry["type"].get_ref<const std::string&>();
    const Json& value = entry["value"];
    if (type == "exported" || type == "var") {
      if (!value.is_string()) return Malformed(absl::StrCat("'", name, "' is not a string"));
      const std::string& text = value.get_ref<const std::string&>();
      if (text.find('\0') != std::string::npos) {
        return Malformed(absl::StrCat("'", name, "' has a NUL byte"));
      }
      if (name == "shellHook") hook = text;
      if (name == "outputs") {
        for (absl::string_view output : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
          dropped.emplace_back(output);
        }
      }
    }
    if (type == "exported") {
      out.variables[name] = value.get_ref<const std::string&>();
    } else {
      absl::StatusOr<std::string> line = Declaration(name, type, value);
      if (!line.ok()) return line.status();
      absl::StrAppend(&declarations, *line);
    }
  }
  for (const std::string& name : dropped) out.variables.erase(name);
  if (hook.empty()) return out;

  if (const auto functions = all.find("bashFunctions"); functions != all.end()) {
    if (!functions->is_object()) return Malformed("bashFunctions is not an object");
    for (const auto& [name, body] : functions->items()) {
      if (!body.is_string() || !CheckEnvKey(name).ok()) {
        // Bash has functions of other names too; none of them can be declared without a doubt.
        continue;
      }
      absl::StrAppend(&declarations, name, " ()\n{\n", body.get_ref<const std::string&>(), "\n}\n");
    }
  }
  out.hook = absl::StrCat(declarations, "eval ", Quoted(hook), "\nexec \"$@\"\n");
  return out;
}

}  // namespace berth
