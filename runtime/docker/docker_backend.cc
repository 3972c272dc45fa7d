#include "runtime/docker/docker_backend.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/container_config.h"
#include "runtime/docker/docker_session.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/images.h"
#include "runtime/docker/relay_start.h"
#include "runtime/docker/wait_stream.h"
#include "runtime/env.h"
#include "runtime/start_request.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr absl::Duration kStartTime = absl::Seconds(60);

// The relay is of this machine's kind, and so must be the container that it is put into.
constexpr char kArchitecture[] =
#if defined(__x86_64__)
    "amd64";
#else
    "arm64";
#endif

// Past some centuries there is no limit.
int64_t LimitMs(absl::Duration limit) {
  const int64_t ms = std::max<int64_t>(absl::ToInt64Milliseconds(limit), 0);
  return ms > (int64_t{1} << 43) ? -1 : ms;
}

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

// The environment of the program: for a container, what there is to inherit is the image's.
absl::StatusOr<Env> MakeEnv(const SessionSpec& spec, const Image& image) {
  std::vector<std::string> entries = image.env;
  if (spec.pty) entries.push_back("TERM=xterm-256color");
  std::vector<const char*> host;
  for (const std::string& entry : entries) host.push_back(entry.c_str());
  host.push_back(nullptr);
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> resolved, spec.env.Resolve(host.data()));
  Env env = Env::Clean();
  for (const std::string& entry : resolved) {
    const size_t equals = entry.find('=');
    env.Set(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return env;
}

// A container kept from an earlier session of this name, if it was made from the same description.
// One that was not, and does not run, is removed.
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
  if (spec.container.reuse) {
    ABSL_ASSIGN_OR_RETURN(const std::string kept, FindKept(client, record, ConfigSum(config)));
    if (!kept.empty()) return kept;
  }
  LabelContainer(record, spec, &config);
  ABSL_ASSIGN_OR_RETURN(
      const Json made,
      client->Post(absl::StrCat("/containers/create?name=", ContainerName(record.uid)), config));
  const std::string id = TextAt(made, "/Id");
  if (id.empty() || id.find_first_not_of("0123456789abcdef") != std::string::npos)
    return absl::DataLossError("the engine gave no id for the new container");
  return id;
}

void RemoveContainer(EngineClient* client, const std::string& uid) {
  client->Delete(absl::StrCat("/containers/", ContainerName(uid), "?force=1&v=1")).IgnoreError();
}

}  // namespace

absl::StatusOr<std::shared_ptr<EngineClient>> DockerBackend::Client(const std::string& address) {
  ABSL_ASSIGN_OR_RETURN(EngineAddress parsed,
                        address.empty() ? EngineAddress::Resolve() : EngineAddress::Parse(address));
  absl::MutexLock lock(mutex_);
  std::shared_ptr<EngineClient>& client = clients_[parsed.text()];
  if (client == nullptr) client = std::make_shared<EngineClient>(std::move(parsed));
  return client;
}

absl::Status DockerBackend::Probe() {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<EngineClient> client, Client(""));
  return client->Version().status();
}

absl::StatusOr<std::unique_ptr<Session>> DockerBackend::Create(const SessionSpec& spec) {
  // Everything that can be wrong with the description is found before anything is made.
  if (!spec.command.argv().empty()) {
    ABSL_RETURN_IF_ERROR(CheckCommand(spec.command));
  }
  if (!spec.cwd.empty()) {
    ABSL_RETURN_IF_ERROR(ResolveCwd(spec.cwd).status());
  }
  ABSL_RETURN_IF_ERROR(CheckImageName(spec.container.image));
  ABSL_RETURN_IF_ERROR(spec.env.Resolve(nullptr).status());
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<EngineClient> client, Client(""));
  ABSL_ASSIGN_OR_RETURN(const std::string version, client->Version());
  ABSL_ASSIGN_OR_RETURN(const std::string address, NumericAddress(client->address()));
  ABSL_ASSIGN_OR_RETURN(const Image image, FindImage(client.get(), spec.container));
  ABSL_ASSIGN_OR_RETURN(const Json config, MakeContainerConfig(spec, client->address(), image.id));
  ABSL_ASSIGN_OR_RETURN(const std::string filter, MakeFilter(spec));
  ABSL_ASSIGN_OR_RETURN(const std::string relay, RelayPath());

  // The session that holds the streams: the relay, in the place of the program.
  SessionSpec held = spec;
  held.backend = "docker";
  held.command = Command::Argv({relay});
  ABSL_ASSIGN_OR_RETURN(held.env, MakeEnv(spec, image));
  held.cwd = "/";
  held.policy.reset();
  // Limits in time are the relay's: they count from the program's start, not from the keeper's.
  absl::Duration wall = spec.wall_limit;
  if (spec.policy.has_value()) wall = std::min(wall, spec.policy->limits().wall);
  held.wall_limit = held.inactivity_limit = absl::InfiniteDuration();
  if (!spec.cwd.empty()) held.labels["berth.cwd"] = spec.cwd;
  // Time for the engine to do what the relay asks of it when the session is to end.
  held.grace = spec.grace + absl::Seconds(15);

  std::string uid;
  std::optional<StartReport> report;
  NativeBackend::Guise guise;
  guise.reserved = [&](Record* record, SessionSpec* completed) -> absl::Status {
    uid = record->uid;
    record->engine_address = client->address().text();
    ABSL_ASSIGN_OR_RETURN(record->container_id, MakeContainer(client.get(), *record, spec, config));
    ABSL_RETURN_IF_ERROR(store_->Write(*record));
    ABSL_RETURN_IF_ERROR(client->Upload(
        "PUT", absl::StrCat("/containers/", record->container_id, "/archive?path=%2F"),
        InsideArchive(), nullptr, EngineClient::kLimit));
    ABSL_RETURN_IF_ERROR(KeepFilter(*store_, uid, filter));
    ABSL_ASSIGN_OR_RETURN(StartReport made, StartReport::Make(*store_, uid));
    report.emplace(std::move(made));
    std::vector<std::string> argv = {
        relay,
        "relay-main",
        address,
        version,
        record->container_id,
        report->path(),
        absl::StrCat(store_->dir().path(), "/sessions/", uid, "/end"),
        spec.durable || spec.container.reuse ? "keep" : "remove",
        absl::StrCat(std::clamp<int64_t>(absl::ToInt64Milliseconds(spec.grace), 0, 1 << 30)),
        absl::StrCat(LimitMs(wall)),
        absl::StrCat(LimitMs(spec.inactivity_limit)),
        absl::BytesToHexString(filter),
        spec.cwd};
    argv.insert(argv.end(), spec.command.argv().begin(), spec.command.argv().end());
    completed->command = Command::Argv(std::move(argv));
    return absl::OkStatus();
  };
  absl::StatusOr<std::unique_ptr<Session>> session = native_->CreateAs(guise, held);
  if (!session.ok()) {
    if (!uid.empty()) RemoveContainer(client.get(), uid);
    return session.status();
  }
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid));
  auto made = std::make_unique<DockerSession>(store_, record, client, *std::move(session));
  const absl::StatusOr<UniqueFd> gone = native_->Open(record).value()->ExitFd();
  const std::string program = spec.command.argv().empty() ? "" : spec.command.argv()[0];
  absl::Status started =
      report->Wait(program, spec.cwd, gone.ok() ? gone->get() : -1, absl::Now() + kStartTime);
  if (!started.ok()) {
    made->Destroy(absl::ZeroDuration()).IgnoreError();
    return started;
  }
  return made;
}

absl::StatusOr<std::unique_ptr<Session>> DockerBackend::Open(const Record& record) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<EngineClient> client, Client(record.engine_address));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Session> held, native_->Open(record));
  return std::make_unique<DockerSession>(store_, record, std::move(client), std::move(held));
}

}  // namespace berth
