// Records as JSON. The names of the fields are the format: they stay.
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <variant>
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
using Texts = std::vector<std::string>;
using Pairs = std::map<std::string, std::string>;

constexpr bool kRequired = true, kOptional = false;

// All fields there are, for reading (Is is Identity) and for writing (const Identity).
template <typename Is, typename Visit>
void VisitProcess(Is& it, Visit visit) {
  visit("pid", it.pid, kRequired);
  visit("boot_id", it.boot_id, kRequired);
  visit("start_time", it.start_time, kOptional);
  visit("pidfs_inode", it.pidfs_inode, kOptional);
  visit("pid_namespace", it.pid_namespace, kOptional);
}

template <typename Is, typename Visit>
void VisitRecord(Is& it, Visit visit) {
  visit("schema", it.schema, kRequired);
  visit("install_id", it.install_id, kRequired);
  visit("boot_id", it.boot_id, kRequired);
  visit("host_id", it.host_id, kOptional);
  visit("uid", it.uid, kRequired);
  visit("name", it.name, kRequired);
  visit("renaming_to", it.renaming_to, kOptional);
  visit("backend", it.backend, kRequired);
  visit("engine_address", it.engine_address, kOptional);
  visit("state", it.state, kRequired);
  visit("durable", it.durable, kOptional);
  visit("created_at_unix_ns", it.created_at_unix_ns, kRequired);
  visit("token", it.token, kRequired);
  visit("owner_id", it.owner_id, kRequired);
  visit("owner", it.owner, kRequired);
  visit("keeper", it.keeper, kOptional);
  visit("leader", it.leader, kOptional);
  visit("pid_namespace_init", it.pid_namespace_init, kOptional);
  visit("tree", it.tree, kOptional);
  visit("cgroup", it.cgroup, kOptional);
  visit("socket", it.socket, kOptional);
  visit("container_id", it.container_id, kOptional);
  visit("tmux_socket", it.tmux_socket, kOptional);
  visit("tmux_session", it.tmux_session, kOptional);
  visit("temp_dirs", it.temp_dirs, kOptional);
  visit("log", it.log, kOptional);
  visit("tier", it.tier, kOptional);
  visit("copy_on_write", it.copy_on_write, kOptional);
  visit("labels", it.labels, kOptional);
}

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

Json ProcessToJson(const Identity& process);

// What is empty is not written.
struct Put {
  Json* json;
  template <typename Number>
  void operator()(const char* name, const Number& value, bool) const {
    (*json)[name] = value;
  }
  void operator()(const char* name, const std::string& value, bool) const {
    if (!value.empty()) (*json)[name] = TextToJson(value);
  }
  void operator()(const char* name, const Identity& value, bool) const {
    if (value != Identity()) (*json)[name] = ProcessToJson(value);
  }
  void operator()(const char* name, const Texts& values, bool) const {
    for (const std::string& each : values) (*json)[name].push_back(TextToJson(each));
  }
  // [[key, value], …], since a JSON key could not hold bytes that are not UTF-8.
  void operator()(const char* name, const Pairs& values, bool) const {
    for (const auto& [key, value] : values) {
      (*json)[name].push_back(Json::array({TextToJson(key), TextToJson(value)}));
    }
  }
};

Json ProcessToJson(const Identity& process) {
  Json json = Json::object();
  VisitProcess(process, Put{&json});
  return json;
}

// What a value is written into; none: it is skipped.
struct Pair {
  Pairs* into;
  std::string texts[2];
  int count = 0;
};
struct Hex {
  std::string* into;
};
using Slot = std::variant<std::monostate, Record*, Identity*, bool*, int64_t*, uint64_t*,
                          std::string*, Hex, Texts*, Pairs*, Pair*>;

// Takes the fields as the parser comes upon them, without a tree of all: a reaper reads thousands
// of records. The first thing that is wrong is kept, and the rest is still read: whether a newer
// berth wrote it is known at the end only. The last of fields with one name counts.
class Reader {
 public:
  explicit Reader(Slot root) : root_(root) {}

  bool null() { return Refuse(Next()); }
  bool boolean(bool value) {
    const Slot slot = Next();
    if (bool* const* into = std::get_if<bool*>(&slot)) return **into = value, true;
    return Refuse(slot);
  }
  bool number_integer(int64_t value) {
    const Slot slot = Next();
    if (int64_t* const* into = std::get_if<int64_t*>(&slot)) return **into = value, true;
    return Refuse(slot);
  }
  // The parser's word for every number that is not negative.
  bool number_unsigned(uint64_t value) {
    const Slot slot = Next();
    if (uint64_t* const* into = std::get_if<uint64_t*>(&slot)) return **into = value, true;
    if (int64_t* const* into = std::get_if<int64_t*>(&slot)) {
      if (value > INT64_MAX) return Wrong("in range");
      return **into = static_cast<int64_t>(value), true;
    }
    return Refuse(slot);
  }
  bool number_float(double, const std::string&) { return Refuse(Next()); }
  bool binary(Json::binary_t&) { return Refuse(Next()); }
  bool string(std::string& text) {
    const Slot slot = Next();
    if (std::string* const* into = std::get_if<std::string*>(&slot)) {
      (*into)->swap(text);
      return true;
    }
    const Hex* hex = std::get_if<Hex>(&slot);
    if (hex != nullptr && absl::HexStringToBytes(text, hex->into)) return true;
    return Refuse(slot);
  }

  bool start_object(size_t) {
    const Slot slot = Next();
    if (std::string* const* text = std::get_if<std::string*>(&slot)) {
      levels_.push_back({Hex{*text}});
    } else if (std::holds_alternative<Record*>(slot) || std::holds_alternative<Identity*>(slot)) {
      levels_.push_back({slot});
    } else {
      levels_.push_back({});
      Refuse(slot);
    }
    return true;
  }
  bool key(std::string& name) {
    Level& level = levels_.back();
    if (std::holds_alternative<Hex>(level.in)) {
      next_ = name == "hex" && level.seen++ == 0 ? level.in : Slot();
      return std::holds_alternative<Hex>(next_) || Wrong(wanted_);
    }
    next_ = Slot();
    VisitLevel(level, [&](absl::string_view each, auto& member, bool, uint64_t bit) {
      if (each != name) return;
      next_ = &member;
      level.seen |= bit;
      field_ = each;
      wanted_ = Wanted(next_);
    });
    return true;
  }
  bool end_object() {
    Level& level = levels_.back();
    VisitLevel(level, [&](absl::string_view each, auto&, bool required, uint64_t bit) {
      if (!required || (level.seen & bit) != 0 || !status_.ok()) return;
      status_ =
          absl::InvalidArgumentError(absl::StrCat("record field '", each, "': it is missing"));
    });
    if (std::holds_alternative<Hex>(level.in) && level.seen == 0) Wrong(wanted_);
    levels_.pop_back();
    return true;
  }

  bool start_array(size_t) {
    const Slot slot = Next();
    Texts* const* texts = std::get_if<Texts*>(&slot);
    Pairs* const* pairs = std::get_if<Pairs*>(&slot);
    if (texts != nullptr) (*texts)->clear();
    if (pairs != nullptr) (*pairs)->clear();
    const bool expected =
        texts != nullptr || pairs != nullptr || std::holds_alternative<Pair*>(slot);
    levels_.push_back({expected ? slot : Slot()});
    return expected || Refuse(slot);
  }
  bool end_array() {
    if (std::holds_alternative<Pair*>(levels_.back().in) &&
        (pair_.count != 2 ||
         !pair_.into->emplace(std::move(pair_.texts[0]), std::move(pair_.texts[1])).second)) {
      Wrong(wanted_);
    }
    levels_.pop_back();
    return true;
  }

  template <typename Error>
  bool parse_error(size_t, const std::string&, const Error&) {
    return false;
  }

  const absl::Status& status() const { return status_; }

 private:
  struct Level {
    Slot in;
    uint64_t seen = 0;  // a bit for each field there was
  };

  template <typename Visit>
  static void VisitLevel(const Level& level, Visit visit) {
    uint64_t bit = 1;
    const auto each = [&](absl::string_view name, auto& member, bool required) {
      visit(name, member, required, bit);
      bit <<= 1;
    };
    if (Record* const* record = std::get_if<Record*>(&level.in)) VisitRecord(**record, each);
    if (Identity* const* process = std::get_if<Identity*>(&level.in)) VisitProcess(**process, each);
  }

  // Where the value belongs that comes now.
  Slot Next() {
    if (levels_.empty()) return root_;
    const Slot& in = levels_.back().in;
    if (Texts* const* texts = std::get_if<Texts*>(&in)) return &(*texts)->emplace_back();
    if (Pairs* const* pairs = std::get_if<Pairs*>(&in)) {
      pair_ = {*pairs, {}, 0};
      return &pair_;
    }
    if (std::holds_alternative<Pair*>(in)) {
      return pair_.count < 2 ? Slot(&pair_.texts[pair_.count++]) : (++pair_.count, Slot());
    }
    return std::exchange(next_, Slot());
  }

  static absl::string_view Wanted(const Slot& slot) {
    static constexpr absl::string_view kWanted[] = {
        "",
        "an object",
        "an object",
        "true or false",
        "an integer",
        "an integer that is not negative",
        "a string",
        "a string",
        "an array of strings",
        "an array of pairs of strings with different keys",
        ""};
    static_assert(std::size(kWanted) == std::variant_size_v<Slot>);
    return kWanted[slot.index()];
  }
  bool Refuse(const Slot& slot) {
    return std::holds_alternative<std::monostate>(slot) || Wrong(wanted_);
  }
  bool Wrong(absl::string_view wanted) {
    if (!status_.ok()) return true;
    status_ = field_.empty() ? absl::InvalidArgumentError("record: it is not a JSON object")
                             : absl::InvalidArgumentError(
                                   absl::StrCat("record field '", field_, "': it is not ", wanted));
    return true;
  }

  const Slot root_;
  Slot next_;  // of the key that came last
  std::vector<Level> levels_;
  Pair pair_ = {};
  absl::string_view field_, wanted_;  // the field that was last, and what it must be
  absl::Status status_;
};

// The status is of the JSON; what is wrong with its fields is left in `reader`.
absl::Status Parse(absl::string_view text, Reader* reader) {
  if (text.size() > kMaxRecordBytes) {
    return absl::OutOfRangeError(
        absl::StrCat("record: ", text.size(), " bytes are more than ", kMaxRecordBytes));
  }
  if (!Json::sax_parse(text.begin(), text.end(), reader)) {
    return absl::InvalidArgumentError("record: it is not JSON, or torn");
  }
  return absl::OkStatus();
}

}  // namespace

std::string ToJson(const Record& record) {
  Json json = Json::object();
  VisitRecord(record, Put{&json});
  return Dump(json) + "\n";
}

absl::StatusOr<Record> FromJson(absl::string_view text) {
  Record record;
  record.schema = 0;
  Reader reader(&record);
  ABSL_RETURN_IF_ERROR(Parse(text, &reader));
  if (record.schema > kRecordSchema) {
    return absl::FailedPreconditionError(absl::StrCat("record: of schema ", record.schema,
                                                      ", written by a newer berth than this one (",
                                                      kRecordSchema, ")"));
  }
  ABSL_RETURN_IF_ERROR(reader.status());
  ABSL_RETURN_IF_ERROR(CheckRecord(record));
  return record;
}

std::string IdentityToJson(const Identity& identity) {
  return Dump(ProcessToJson(identity)) + "\n";
}

absl::StatusOr<Identity> IdentityFromJson(absl::string_view text) {
  Identity identity;
  Reader reader(&identity);
  ABSL_RETURN_IF_ERROR(Parse(text, &reader));
  ABSL_RETURN_IF_ERROR(reader.status());
  return identity;
}

}  // namespace berth
