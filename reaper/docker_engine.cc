#include "reaper/docker_engine.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reaper/container.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/docker/labels.h"
#include "runtime/docker/wait_stream.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

using Json = nlohmann::json;

constexpr absl::Duration kAnswer = absl::Seconds(10);

// Ids go into paths of the API.
bool IsContainerId(absl::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  });
}

std::string Escaped(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      out += c;
    } else {
      absl::StrAppend(&out, "%", absl::BytesToHexString(absl::string_view(&c, 1)));
    }
  }
  return out;
}

std::string LabelOf(const Json& labels, const char* key) {
  const auto found = labels.is_object() ? labels.find(key) : labels.end();
  return found != labels.end() && found->is_string() ? found->get<std::string>() : "";
}

// Removes it and proves it gone.
absl::Status RemoveContainer(EngineClient* client, const std::string& id, absl::Duration grace,
                             absl::Time deadline) {
  const auto left = [deadline] { return std::max(deadline - absl::Now(), absl::Seconds(1)); };
  const std::string path = absl::StrCat("/containers/", id);
  const int64_t seconds =
      std::max<int64_t>(absl::ToInt64Seconds(absl::Ceil(grace, absl::Seconds(1))), 0);
  // Fails if it does not run, or did not stop: what counts is the removal.
  client->Post(absl::StrCat(path, "/stop?t=", seconds), nullptr, left()).IgnoreError();
  const absl::Status removed = client->Delete(absl::StrCat(path, "?force=1&v=1"), left()).status();
  // Somebody else is removing it: the session's relay, as it ends.
  if (absl::IsFailedPrecondition(removed))
    client->Post(absl::StrCat(path, "/wait?condition=removed"), nullptr, left()).IgnoreError();
  const absl::Status there = client->Get(absl::StrCat(path, "/json"), left()).status();
  if (absl::IsNotFound(there)) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(removed);
  return there.ok() ? absl::UnavailableError(absl::StrCat("container ", id, " is still there"))
                    : there;
}

Liveness OwnerLivenessOf(const Store& store, const Json& labels) {
  const absl::StatusOr<Identity> identity = IdentityFromJson(LabelOf(labels, kLabelOwnerIdentity));
  if (!identity.ok()) return Liveness::kUnknown;
  return OwnerOf({.lease = ProbeLease(store.dir(), LabelOf(labels, kLabelOwner)),
                  .owner = CheckIdentity(*identity)});
}

// Once a socket of that name is in its folder. Not ok() where that cannot be watched.
EventSource ComesBack(const EngineAddress& address) {
  const std::string folder = address.path().substr(0, address.path().rfind('/'));
  const std::string name = address.path().substr(folder.size() + 1);
  EventSource source{UniqueFd(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), nullptr};
  // IN_ATTRIB: given to its group once somebody listens on it.
  if (source.fd.ok() && inotify_add_watch(source.fd.get(), folder.empty() ? "/" : folder.c_str(),
                                          IN_CREATE | IN_MOVED_TO | IN_ATTRIB) < 0) {
    source.fd.reset();
  }
  source.happened = [name](int fd) {
    alignas(inotify_event) char buffer[4096];
    bool came = false;
    ssize_t length;
    while ((length = read(fd, buffer, sizeof buffer)) > 0) {
      for (ssize_t at = 0; at < length;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        came = came || (event->len > 0 && name == event->name);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return came;
  };
  return source;
}

}  // namespace

void DockerEngine::Begin() {
  clients_.clear();
  noted_.clear();
  begun_ = absl::Now();
}

std::vector<EventSource> DockerEngine::Events(const Store& store) {
  const Json filters{{"type", {"container"}},
                     {"event", {"die", "destroy"}},
                     {"label", {absl::StrCat(kLabelInstall, "=", store.dir().install_id())}}};
  // From the sweep's beginning on: what happened since then would be missed otherwise.
  const int64_t since = absl::ToUnixNanos(begun_);
  const std::string query =
      absl::StrFormat("/events?since=%d.%09d&filters=%s", since / 1'000'000'000,
                      since % 1'000'000'000, Escaped(filters.dump()));
  std::vector<EventSource> sources;
  for (const std::string& text : noted_) {
    const absl::StatusOr<EngineAddress> address =
        text.empty() ? EngineAddress::Resolve() : EngineAddress::Parse(text);
    if (!address.ok()) continue;
    EngineClient* client = Client(text);
    const absl::StatusOr<std::string> version =
        client != nullptr ? client->Version() : absl::UnavailableError("");
    absl::StatusOr<UniqueFd> events =
        version.ok()
            ? OpenStream(*address, absl::StrCat("GET ", *version, query), absl::Now() + kAnswer)
            : absl::StatusOr<UniqueFd>(version.status());
    if (events.ok()) {
      sources.push_back({*std::move(events), [](int) { return true; }});
    } else if (address->is_unix()) {
      sources.push_back(ComesBack(*address));
    }
  }
  std::erase_if(sources, [](const EventSource& each) { return !each.fd.ok(); });
  return sources;
}

EngineClient* DockerEngine::Client(const std::string& address) {
  const auto found = clients_.find(address);
  if (found != clients_.end()) return found->second.get();
  const absl::StatusOr<EngineAddress> parsed =
      address.empty() ? EngineAddress::Resolve() : EngineAddress::Parse(address);
  std::unique_ptr<EngineClient>& client = clients_[address];
  if (!parsed.ok()) return nullptr;
  client = std::make_unique<EngineClient>(*parsed);
  // Asked once in a sweep: one that does not answer would cost its limit for each container.
  if (!client->Get("/version", kAnswer).ok()) client = nullptr;
  return client.get();
}

Presence DockerEngine::Look(const Record& record) {
  if (!IsContainerId(record.container_id)) return Presence::kUnknown;
  EngineClient* client = Client(record.engine_address);
  if (client == nullptr) return Presence::kUnknown;
  const absl::Status there =
      client->Get(absl::StrCat("/containers/", record.container_id, "/json"), kAnswer).status();
  if (absl::IsNotFound(there)) return Presence::kDead;
  return there.ok() ? Presence::kAlive : Presence::kUnknown;
}

absl::Status DockerEngine::End(const Record& record, const EndOptions& options) {
  EngineClient* client = Client(record.engine_address);
  if (client == nullptr || !IsContainerId(record.container_id)) {
    return absl::UnavailableError("the engine does not answer");
  }
  const absl::StatusOr<Json> container =
      client->Get(absl::StrCat("/containers/", record.container_id, "/json"), kAnswer);
  if (absl::IsNotFound(container.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(container.status());
  const Json labels =
      container->contains("Config") ? container->at("Config").value("Labels", Json()) : Json();
  // One that was kept from an earlier session carries the id of that one, and the name of both.
  const bool kept =
      LabelOf(labels, kLabelReuse) == "true" && LabelOf(labels, kLabelName) == record.name;
  if ((LabelOf(labels, kLabelSession) != record.uid && !kept) ||
      LabelOf(labels, kLabelInstall) != record.install_id) {
    return absl::FailedPreconditionError(absl::StrCat(
        "container ", record.container_id, " does not carry the session's id: left alone"));
  }
  return RemoveContainer(client, record.container_id, options.grace, options.deadline);
}

void DockerEngine::SweepStrays(const Store& store, const Options& options, absl::Time deadline,
                               Report* report) {
  Client("");  // the default one, whether a record names it or not
  const Json filters{{"label", {absl::StrCat(kLabelInstall, "=", store.dir().install_id())}}};
  for (const auto& [address, client] : clients_) {
    if (client == nullptr) continue;
    const absl::StatusOr<Json> all = client->Get(
        absl::StrCat("/containers/json?all=1&filters=", Escaped(filters.dump())), kAnswer);
    if (!all.ok() || !all->is_array()) continue;
    for (const Json& container : *all) {
      SweepContainer(store, options, deadline, client.get(), container, report);
    }
  }
}

void DockerEngine::SweepContainer(const Store& store, const Options& options, absl::Time deadline,
                                  EngineClient* client, const Json& container, Report* report) {
  const std::string id = TextAt(container, "/Id");
  const Json labels = container.is_object() ? container.value("Labels", Json()) : Json();
  const std::string uid = LabelOf(labels, kLabelSession);
  if (!IsContainerId(id) || !IsUid(uid)) return;
  Record named;
  named.name = LabelOf(labels, kLabelName);
  ContainerFacts facts;
  facts.chosen = options.filter.Chooses(named);
  facts.our_install = LabelOf(labels, kLabelInstall) == store.dir().install_id();
  facts.has_record = !absl::IsNotFound(store.Read(uid).status());
  facts.this_host = client->address().is_unix();
  facts.running = TextAt(container, "/State") == "running";
  facts.ephemeral = LabelOf(labels, kLabelEphemeral) == "true";
  facts.reusable = LabelOf(labels, kLabelReuse) == "true";
  facts.owner = OwnerLivenessOf(store, labels);
  const Decision decision = DecideContainer(facts);
  Item item{.kind = "container",
            .id = id,
            .name = named.name,
            .verdict = decision.verdict,
            .deed = "removed",
            .because = {decision.because.begin(), decision.because.end()}};
  item.evidence.push_back(absl::StrCat("of session ", uid, ", ", TextAt(container, "/State"),
                                       ", owner ", LivenessName(facts.owner)));
  if (item.verdict == Verdict::kReap && !options.dry_run) {
    if (absl::Now() >= deadline) {
      item.result = Result::kOutOfTime;
    } else {
      item.error = RemoveContainer(client, id, options.grace,
                                   std::min(deadline, absl::Now() + options.time_per_object));
      item.result = item.error.ok() ? Result::kDone : Result::kFailed;
    }
  }
  report->Add(std::move(item), options.show_kept);
}

}  // namespace berth::reaper
