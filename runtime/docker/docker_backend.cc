#include "runtime/docker/docker_backend.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/container_config.h"
#include "runtime/docker/container_truth.h"
#include "runtime/docker/docker_session.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/images.h"
#include "runtime/docker/labels.h"
#include "runtime/docker/make_container.h"
#include "runtime/docker/relay_start.h"
#include "runtime/docker/wait_stream.h"
#include "runtime/env.h"
#include "runtime/start_request.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr absl::Duration kStartTime = absl::Seconds(60);

// Past some centuries there is no limit.
int64_t LimitMs(absl::Duration limit) {
  const int64_t ms = std::max<int64_t>(absl::ToInt64Milliseconds(limit), 0);
  return ms > (int64_t{1} << 43) ? -1 : ms;
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
  ABSL_ASSIGN_OR_RETURN(const std::string relay, RelayPath(client->address().is_tls()));

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
  // Open until the program runs: the engine gives up a start that nobody waits for.
  absl::StatusOr<UniqueFd> early_start = UniqueFd();
  NativeBackend::Guise guise;
  guise.reserved = [&](Record* record, SessionSpec* completed) -> absl::Status {
    uid = record->uid;
    record->engine_address = client->address().text();
    std::string kept;
    if (spec.container.reuse) {
      ABSL_ASSIGN_OR_RETURN(kept, FindKept(client.get(), *record, ConfigSum(config)));
    }
    // Durable before there is anything to be found by it.
    record->container_id = kept.empty() ? ContainerName(uid) : kept;
    ABSL_RETURN_IF_ERROR(store_->Write(*record));
    if (kept.empty()) {
      ABSL_ASSIGN_OR_RETURN(record->container_id,
                            MakeContainer(client.get(), *record, spec, config));
    }
    ABSL_RETURN_IF_ERROR(client->Upload(
        "PUT", absl::StrCat("/containers/", record->container_id, "/archive?path=%2F"),
        InsideArchive(), nullptr, EngineClient::kLimit));
    // The engine takes long to start a container, and does so while the keeper is being made: the
    // inside runs nothing before the relay tells it what. Whether it went well, the relay asks. By
    // ssh it might arrive after the relay's own, and start a container that has ended.
    if (!client->address().is_ssh()) {
      early_start =
          SendCall(client->address(),
                   absl::StrCat("POST ", version, "/containers/", record->container_id, "/start"),
                   absl::Now() + EngineClient::kLimit);
    }
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

std::vector<SessionInfo> DockerBackend::Describe(const std::vector<Record>& records) {
  std::vector<SessionInfo> infos = native_->Describe(records);
  absl::flat_hash_map<std::string, const Record*> by_handle;
  for (const Record& record : records)
    by_handle.emplace(absl::StrCat(name(), ":", record.uid), &record);
  absl::flat_hash_map<std::string, absl::StatusOr<Listing>> listings;
  std::erase_if(infos, [&](SessionInfo& info) {
    const auto record = by_handle.find(info.handle);
    return record == by_handle.end() || !Correct(*record->second, &listings, &info);
  });
  return infos;
}

bool DockerBackend::Correct(const Record& record,
                            absl::flat_hash_map<std::string, absl::StatusOr<Listing>>* listings,
                            SessionInfo* info) {
  ContainerTruth truth;
  truth.state = info->state;
  if (const std::optional<ExitStatus> end = WrittenEnd(*store_, record.uid); end.has_value()) {
    truth.state = SessionState::kExited;
    truth.exit = *end;
  } else if (record.state != kStateStarting) {
    auto listing = listings->find(record.engine_address);
    if (listing == listings->end())
      listing = listings->emplace(record.engine_address, List(record.engine_address)).first;
    truth.state = SessionState::kUnknown;
    if (listing->second.ok()) {
      const auto listed = listing->second->find(record.container_id);
      if (listed == listing->second->end()) {
        // Ended, removed, or younger than the list: asked for by itself.
        const absl::StatusOr<std::unique_ptr<Session>> session = Open(record);
        absl::StatusOr<SessionInfo> asked = absl::UnavailableError("");
        if (session.ok()) asked = (*session)->Info();
        if (!asked.ok()) return false;  // destroyed since
        *info = *std::move(asked);
        return true;
      }
      truth = listed->second;
    }
  }
  CompleteInfo(record, truth, info);
  return true;
}

absl::StatusOr<DockerBackend::Listing> DockerBackend::List(const std::string& address) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<EngineClient> client, Client(address));
  const Json filters{{"label", {absl::StrCat(kLabelInstall, "=", store_->dir().install_id())}}};
  ABSL_ASSIGN_OR_RETURN(const Json list, client->Get(absl::StrCat("/containers/json?all=1&filters=",
                                                                  EscapeUrl(filters.dump())),
                                                     absl::Seconds(5)));
  if (!list.is_array()) return absl::DataLossError("the engine's list of containers is no list");
  Listing listing;
  for (const Json& entry : list) {
    if (std::optional<ContainerTruth> truth = TruthOfListing(entry); truth.has_value())
      listing.emplace(TextAt(entry, "/Id"), *std::move(truth));
  }
  return listing;
}

absl::StatusOr<std::unique_ptr<Session>> DockerBackend::Open(const Record& record) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<EngineClient> client, Client(record.engine_address));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Session> held, native_->Open(record));
  return std::make_unique<DockerSession>(store_, record, std::move(client), std::move(held));
}

}  // namespace berth
