#include "runtime/docker/make_container.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/container_config.h"
#include "runtime/docker/labels.h"

namespace berth {
namespace {

using Json = nlohmann::json;

// The relay is of this machine's kind, and so must be the container that it is put into.
constexpr char kArchitecture[] =
#if defined(__x86_64__)
    "amd64";
#else
    "arm64";
#endif

}  // namespace

absl::StatusOr<Image> FindImage(EngineClient* client, const ContainerSpec& wanted) {
  const Images images(client);
  ABSL_RETURN_IF_ERROR(CheckImageName(wanted.image));
  absl::StatusOr<Image> image = absl::NotFoundError("");
  if (wanted.pull != ContainerSpec::Pull::kAlways) image = images.Inspect(wanted.image);
  if (absl::IsNotFound(image.status()) && wanted.pull != ContainerSpec::Pull::kNever) {
    image = images.Pull(wanted.image, nullptr);
  }
  ABSL_RETURN_IF_ERROR(image.status());
  if (!image->architecture.empty() && image->architecture != kArchitecture) {
    return absl::FailedPreconditionError(absl::StrCat("image '", wanted.image, "' is for ",
                                                      image->architecture, ", this berth for ",
                                                      kArchitecture));
  }
  return image;
}

absl::StatusOr<std::string> FindKept(EngineClient* client, const Record& record,
                                     const std::string& sum) {
  Json filters;
  filters["label"] = {absl::StrCat(kLabelInstall, "=", record.install_id),
                      absl::StrCat(kLabelName, "=", record.name),
                      absl::StrCat(kLabelReuse, "=true")};
  ABSL_ASSIGN_OR_RETURN(const Json list, client->Get(absl::StrCat("/containers/json?all=1&filters=",
                                                                  EscapeUrl(filters.dump()))));
  std::string found;
  if (!list.is_array()) return absl::DataLossError("the engine's list of containers is no list");
  for (const Json& entry : list) {
    const std::string id = TextAt(entry, "/Id");
    const std::string state = TextAt(entry, "/State");
    if (id.empty() || state == "running") continue;
    if (found.empty() && TextAt(entry, absl::StrCat("/Labels/", kLabelConfig)) == sum) {
      found = id;
    } else {
      ABSL_RETURN_IF_ERROR(
          client->Delete(absl::StrCat("/containers/", id, "?force=1&v=1")).status());
    }
  }
  return found;
}

absl::StatusOr<std::string> MakeContainer(EngineClient* client, const Record& record,
                                          const SessionSpec& spec, Json config) {
  LabelContainer(record, spec, &config);
  ABSL_ASSIGN_OR_RETURN(
      const Json made,
      client->Post(absl::StrCat("/containers/create?name=", ContainerName(record.uid)), config));
  const std::string id = TextAt(made, "/Id");
  if (id.empty() || id.find_first_not_of("0123456789abcdef") != std::string::npos)
    return absl::DataLossError("the engine gave no id for the new container");
  return id;
}

}  // namespace berth
