// Records as JSON. The names of the fields are the format: they stay.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"

namespace berth {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// As a string if JSON can hold it, which is UTF-8 only.
Json TextToJson(const std::string& text) {
  for (const char c : text) {
    if (absl::ascii_isascii(static_cast<unsigned char>(c))) continue;
    const Json back = Json::parse(Dump(Json(text)), nullptr, /*allow_exceptions=*/false);
    if (back.is_string() && back.get_ref<const std::string&>() == text) break;
    return Json{{"hex", absl::BytesToHexString(text)}};
  }
  return Json(text);
}

bool TextFromJson(const Json& json, std::string* text) {
  if (json.is_string()) {
    *text = json.get_ref<const std::string&>();
    return true;
  }
  if (!json.is_object() || json.size() != 1) return false;
  const auto hex = json.find("hex");
  return hex != json.end() && hex->is_string() &&
         absl::HexStringToBytes(hex->get_ref<const std::string&>(), text);
}

Json ProcessToJson(const Identity& process) {
  return Json{{"pid", process.pid},
              {"boot_id", TextToJson(process.boot_id)},
              {"start_time", process.start_time},
              {"pidfs_inode", process.pidfs_inode},
              {"pid_namespace", process.pid_namespace}};
}

enum class Need { kRequired, kOptional };

// Takes fields out of an object; the first thing that is wrong is kept, and reported once.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {
    if (!object.is_object())
      status_ = absl::InvalidArgumentError("record: it is not a JSON object");
  }

  void Text(const char* name, std::string* value, Need need = Need::kOptional) {
    const Json* json = Find(name, need);
    if (json != nullptr && !TextFromJson(*json, value)) Wrong(name, "a string");
  }
  void Signed(const char* name, int64_t* value, Need need = Need::kOptional) {
    const Json* json = Find(name, need);
    if (json == nullptr) return;
    // A number above INT64_MAX is an unsigned one to the parser.
    if (json->is_number_unsigned() && json->get<uint64_t>() > INT64_MAX)
      return Wrong(name, "in range");
    if (!json->is_number_integer()) return Wrong(name, "an integer");
    *value = json->get<int64_t>();
  }
  void Unsigned(const char* name, uint64_t* value) {
    const Json* json = Find(name, Need::kOptional);
    if (json == nullptr) return;
    if (!json->is_number_unsigned()) return Wrong(name, "an integer that is not negative");
    *value = json->get<uint64_t>();
  }
  void Bool(const char* name, bool* value) {
    const Json* json = Find(name, Need::kOptional);
    if (json == nullptr) return;
    if (!json->is_boolean()) return Wrong(name, "true or false");
    *value = json->get<bool>();
  }
  void Process(const char* name, Identity* value, Need need = Need::kOptional) {
    const Json* json = Find(name, need);
    if (json == nullptr) return;
    if (!json->is_object()) return Wrong(name, "an object");
    Fields fields(*json);
    fields.ProcessItself(value);
    status_ = fields.status_;
  }
  void ProcessItself(Identity* value) {
    Signed("pid", &value->pid, Need::kRequired);
    Text("boot_id", &value->boot_id, Need::kRequired);
    Unsigned("start_time", &value->start_time);
    Unsigned("pidfs_inode", &value->pidfs_inode);
    Unsigned("pid_namespace", &value->pid_namespace);
  }
  void Texts(const char* name, std::vector<std::string>* values) {
    const Json* json = Find(name, Need::kOptional);
    if (json == nullptr) return;
    if (!json->is_array()) return Wrong(name, "an array");
    for (const Json& item : *json) {
      if (!TextFromJson(item, &values->emplace_back())) return Wrong(name, "an array of strings");
    }
  }
  // [[key, value], …], since a JSON key could not hold bytes that are not UTF-8.
  void Pairs(const char* name, std::map<std::string, std::string>* values) {
    const Json* json = Find(name, Need::kOptional);
    if (json == nullptr) return;
    if (!json->is_array()) return Wrong(name, "an array");
    for (const Json& item : *json) {
      std::string key, value;
      if (!item.is_array() || item.size() != 2 || !TextFromJson(item[0], &key) ||
          !TextFromJson(item[1], &value) || !values->emplace(key, value).second) {
        return Wrong(name, "an array of pairs of strings with different keys");
      }
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json* Find(const char* name, Need need) {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    if (need == Need::kRequired) {
      status_ =
          absl::InvalidArgumentError(absl::StrCat("record field '", name, "': it is missing"));
    }
    return nullptr;
  }
  void Wrong(const char* name, absl::string_view wanted) {
    status_ =
        absl::InvalidArgumentError(absl::StrCat("record field '", name, "': it is not ", wanted));
  }

  const Json& object_;
  absl::Status status_;
};

absl::StatusOr<Json> Parse(absl::string_view text) {
  if (text.size() > kMaxRecordBytes) {
    return absl::OutOfRangeError(
        absl::StrCat("record: ", text.size(), " bytes are more than ", kMaxRecordBytes));
  }
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("record: it is not JSON, or torn");
  return json;
}

}  // namespace

std::string ToJson(const Record& record) {
  Json json = Json::object();
  json["schema"] = record.schema;
  json["durable"] = record.durable;
  json["created_at_unix_ns"] = record.created_at_unix_ns;
  for (const auto& [name, value] :
       {std::pair("install_id", &record.install_id), std::pair("boot_id", &record.boot_id),
        std::pair("uid", &record.uid), std::pair("name", &record.name),
        std::pair("renaming_to", &record.renaming_to), std::pair("backend", &record.backend),
        std::pair("engine_address", &record.engine_address), std::pair("state", &record.state),
        std::pair("token", &record.token), std::pair("owner_id", &record.owner_id),
        std::pair("tree", &record.tree), std::pair("cgroup", &record.cgroup),
        std::pair("socket", &record.socket), std::pair("container_id", &record.container_id),
        std::pair("host_id", &record.host_id), std::pair("tmux_socket", &record.tmux_socket),
        std::pair("tmux_session", &record.tmux_session), std::pair("log", &record.log)}) {
    if (!value->empty()) json[name] = TextToJson(*value);
  }
  for (const auto& [name, process] :
       {std::pair("owner", &record.owner), std::pair("keeper", &record.keeper),
        std::pair("leader", &record.leader),
        std::pair("pid_namespace_init", &record.pid_namespace_init)}) {
    if (*process != Identity()) json[name] = ProcessToJson(*process);
  }
  for (const std::string& path : record.temp_dirs) json["temp_dirs"].push_back(TextToJson(path));
  for (const auto& [key, value] : record.labels) {
    json["labels"].push_back(Json::array({TextToJson(key), TextToJson(value)}));
  }
  return Dump(json) + "\n";
}

absl::StatusOr<Record> FromJson(absl::string_view text) {
  ABSL_ASSIGN_OR_RETURN(const Json json, Parse(text));
  Record record;
  Fields fields(json);
  fields.Signed("schema", &record.schema, Need::kRequired);
  if (fields.status().ok() && record.schema > kRecordSchema) {
    return absl::FailedPreconditionError(absl::StrCat("record: of schema ", record.schema,
                                                      ", written by a newer berth than this one (",
                                                      kRecordSchema, ")"));
  }
  fields.Text("install_id", &record.install_id, Need::kRequired);
  fields.Text("boot_id", &record.boot_id, Need::kRequired);
  fields.Text("host_id", &record.host_id);
  fields.Text("uid", &record.uid, Need::kRequired);
  fields.Text("name", &record.name, Need::kRequired);
  fields.Text("renaming_to", &record.renaming_to);
  fields.Text("backend", &record.backend, Need::kRequired);
  fields.Text("engine_address", &record.engine_address);
  fields.Text("state", &record.state, Need::kRequired);
  fields.Bool("durable", &record.durable);
  fields.Signed("created_at_unix_ns", &record.created_at_unix_ns, Need::kRequired);
  fields.Text("token", &record.token, Need::kRequired);
  fields.Text("owner_id", &record.owner_id, Need::kRequired);
  fields.Process("owner", &record.owner, Need::kRequired);
  fields.Process("keeper", &record.keeper);
  fields.Process("leader", &record.leader);
  fields.Process("pid_namespace_init", &record.pid_namespace_init);
  fields.Text("tree", &record.tree);
  fields.Text("cgroup", &record.cgroup);
  fields.Text("socket", &record.socket);
  fields.Text("container_id", &record.container_id);
  fields.Text("tmux_socket", &record.tmux_socket);
  fields.Text("tmux_session", &record.tmux_session);
  fields.Texts("temp_dirs", &record.temp_dirs);
  fields.Text("log", &record.log);
  fields.Pairs("labels", &record.labels);
  ABSL_RETURN_IF_ERROR(fields.status());
  ABSL_RETURN_IF_ERROR(CheckRecord(record));
  return record;
}

std::string IdentityToJson(const Identity& identity) {
  return Dump(ProcessToJson(identity)) + "\n";
}

absl::StatusOr<Identity> IdentityFromJson(absl::string_view text) {
  ABSL_ASSIGN_OR_RETURN(const Json json, Parse(text));
  Identity identity;
  Fields fields(json);
  fields.ProcessItself(&identity);
  ABSL_RETURN_IF_ERROR(fields.status());
  return identity;
}

}  // namespace berth
