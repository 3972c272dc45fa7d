#include "runtime/docker/images.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace berth {
namespace {

using Json = nlohmann::json;

// "a/b:c" is {"a/b", "c"}; a colon before a slash is a port.
std::pair<std::string, std::string> SplitTag(absl::string_view name) {
  const size_t colon = name.rfind(':');
  if (absl::StrContains(name, '@') || colon == absl::string_view::npos ||
      name.find('/', colon) != absl::string_view::npos) {
    return {std::string(name), absl::StrContains(name, '@') ? "" : "latest"};
  }
  return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1))};
}

class Progress {
 public:
  explicit Progress(const OnPull* on_pull) : on_pull_(on_pull) {}

  // False if the caller gives up or the engine told an error.
  bool Take(const Json& line) {
    if (const std::string text = TextAt(line, "/error"); !text.empty()) {
      error = absl::UnavailableError(text);
      return false;
    }
    const std::string id = TextAt(line, "/id");
    const std::string status = TextAt(line, "/status");
    const int64_t total = NumberAt(line, "/progressDetail/total", 0);
    const bool is_layer = !id.empty() && !absl::StartsWith(status, "Pulling from");
    if (is_layer) {
      // Bounded: an engine cannot make us remember layers without end.
      if (layers_.size() >= 4096 && !layers_.contains(id)) return true;
      Layer& layer = layers_[id];
      if (total > 0) layer.total = total;
      if (status == "Downloading") layer.done = NumberAt(line, "/progressDetail/current", 0);
      if (status == "Download complete" || status == "Extracting") layer.done = layer.total;
      if (status == "Pull complete" || status == "Already exists") {
        layer.done = layer.total;
        layer.complete = true;
      }
    }
    if (on_pull_ == nullptr || !*on_pull_) return true;
    PullProgress now;
    now.status = status;
    int64_t done = 0, all = 0;
    for (const auto& [name, layer] : layers_) {
      done += layer.done;
      all += layer.total;
      ++now.layers;
      now.layers_done += layer.complete ? 1 : 0;
    }
    if (is_layer) {
      now.layer = id;
      now.done = layers_[id].done;
      now.total = layers_[id].total;
    }
    if (all > 0) now.percent = static_cast<int>(done * 100 / all);
    if (now.layers > 0 && now.layers == now.layers_done) now.percent = 100;
    return (*on_pull_)(now);
  }

  absl::Status error;

 private:
  struct Layer {
    int64_t done = 0, total = 0;
    bool complete = false;
  };
  const OnPull* const on_pull_;
  absl::btree_map<std::string, Layer> layers_;
};

// What became of a pull: the engine tells most of what a registry says in words only.
absl::Status PullFailure(const std::string& name, const absl::Status& status) {
  const std::string text = absl::StrCat("pull image '", name, "': ", status.message());
  const auto says = [&status](absl::string_view words) {
    return absl::StrContainsIgnoreCase(status.message(), words);
  };
  if (says("unauthorized") || says("no basic auth") || says("access denied") || says("denied:")) {
    return absl::PermissionDeniedError(
        absl::StrCat(text,
                     "; berth has no credentials of registries: pull it with the docker "
                     "command, after docker login"));
  }
  if (says("not found") || says("manifest unknown")) return absl::NotFoundError(text);
  if (status.code() == absl::StatusCode::kInternal) return absl::UnavailableError(text);
  return absl::Status(status.code(), text);
}

}  // namespace

std::string EscapeUrl(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~", c)) {
      out.push_back(c);
    } else {
      absl::StrAppend(&out, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return out;
}

absl::Status CheckImageName(absl::string_view name) {
  const auto bad = [name](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("image '", absl::CHexEscape(name.substr(0, 300)), "': ", why));
  };
  if (name.empty()) return absl::InvalidArgumentError("a docker session needs an image");
  if (name.size() > 512) return bad("the name is too long");
  if (!absl::ascii_isalnum(static_cast<unsigned char>(name[0])))
    return bad("it begins with a letter or a digit");
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains("-._/:@", c))
      return bad("letters, digits and -._/:@ only");
  }
  if (absl::StrContains(name, "..") || absl::StrContains(name, "//"))
    return bad("it has '..' or '//'");
  return absl::OkStatus();
}

absl::StatusOr<Image> Images::Inspect(const std::string& name) const {
  ABSL_RETURN_IF_ERROR(CheckImageName(name));
  // The name's slashes are part of the path here.
  ABSL_ASSIGN_OR_RETURN(const Json json, client_->Get(absl::StrCat("/images/", name, "/json")));
  Image image;
  image.id = TextAt(json, "/Id");
  image.architecture = TextAt(json, "/Architecture");
  if (image.id.empty()) return absl::DataLossError(absl::StrCat("image '", name, "' has no id"));
  const auto config = json.find("Config");
  if (config != json.end() && config->is_object() && config->contains("Env") &&
      (*config)["Env"].is_array()) {
    for (const Json& entry : (*config)["Env"]) {
      if (entry.is_string()) image.env.push_back(entry.get<std::string>());
    }
  }
  return image;
}

absl::StatusOr<bool> Images::Exists(const std::string& name) const {
  const absl::Status status = Inspect(name).status();
  if (absl::IsNotFound(status)) return false;
  ABSL_RETURN_IF_ERROR(status);
  return true;
}

absl::StatusOr<Image> Images::Pull(const std::string& name, const OnPull& progress,
                                   absl::Duration limit) const {
  ABSL_RETURN_IF_ERROR(CheckImageName(name));
  const auto [repository, tag] = SplitTag(name);
  Progress state(&progress);
  const absl::Status pulled = client_->Lines(
      absl::StrCat("/images/create?fromImage=", EscapeUrl(repository), "&tag=", EscapeUrl(tag)), "",
      [&state](const Json& line) { return state.Take(line); }, limit);
  if (!state.error.ok()) return PullFailure(name, state.error);
  if (absl::IsCancelled(pulled)) return pulled;
  if (!pulled.ok()) return PullFailure(name, pulled);
  return Inspect(name);
}

absl::Status Images::Load(absl::string_view tar) const {
  std::string answer;
  ABSL_RETURN_IF_ERROR(
      client_->Upload("POST", "/images/load?quiet=1", tar, &answer, absl::Minutes(10)));
  // The engine tells what is wrong with an archive in a line of a successful answer.
  const Json json = Json::parse(answer.substr(0, answer.find('\n')), nullptr, false);
  if (const std::string error = TextAt(json, "/error"); !error.empty())
    return absl::InvalidArgumentError(absl::StrCat("load an image: ", error));
  return absl::OkStatus();
}

absl::StatusOr<Image> Images::Import(absl::string_view tar, const std::string& name,
                                     const std::vector<std::string>& changes) const {
  ABSL_RETURN_IF_ERROR(CheckImageName(name));
  const auto [repository, tag] = SplitTag(name);
  std::string path = absl::StrCat("/images/create?fromSrc=-&repo=", EscapeUrl(repository),
                                  "&tag=", EscapeUrl(tag));
  for (const std::string& change : changes) absl::StrAppend(&path, "&changes=", EscapeUrl(change));
  Progress state(nullptr);
  const absl::Status imported = client_->Lines(
      path, std::string(tar), [&state](const Json& line) { return state.Take(line); },
      absl::Minutes(10));
  if (!state.error.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("import image '", name, "': ", state.error.message()));
  ABSL_RETURN_IF_ERROR(imported);
  return Inspect(name);
}

}  // namespace berth
