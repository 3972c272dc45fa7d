#include "runtime/env.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace berth {
namespace {

constexpr absl::string_view kBasicKeys[] = {"PATH", "HOME", "USER", "LOGNAME", "SHELL",
                                            "LANG", "TERM", "TZ",   "TMPDIR"};

bool IsBasic(absl::string_view key) {
  return absl::StartsWith(key, "LC_") || absl::c_linear_search(kBasicKeys, key);
}

// Variables in the order of their first mention, with look-up by key.
class Table {
 public:
  std::string* Find(absl::string_view key) {
    auto it = index_.find(key);
    return it == index_.end() ? nullptr : &entries_[it->second].value;
  }
  void Set(absl::string_view key, absl::string_view value) {
    auto [it, added] = index_.try_emplace(key, entries_.size());
    if (added) entries_.push_back({std::string(key), "", true});
    entries_[it->second].value = value;
    entries_[it->second].present = true;
  }
  void Unset(absl::string_view key) {
    auto it = index_.find(key);
    if (it == index_.end()) return;
    entries_[it->second].present = false;
    entries_[it->second].value.clear();
  }
  std::vector<std::string> Strings() const {
    std::vector<std::string> out;
    for (const Entry& entry : entries_) {
      if (entry.present) out.push_back(absl::StrCat(entry.key, "=", entry.value));
    }
    return out;
  }

 private:
  struct Entry {
    std::string key, value;
    bool present;
  };
  std::vector<Entry> entries_;
  absl::flat_hash_map<std::string, size_t> index_;
};

}  // namespace

Env Env::Clean() { return Env(); }

Env Env::Basic() {
  Env env;
  env.base_ = Base::kBasic;
  return env;
}

Env Env::InheritListed(std::vector<std::string> keys) {
  Env env;
  env.base_ = Base::kListed;
  env.listed_ = std::move(keys);
  return env;
}

Env Env::Inherit() {
  Env env;
  env.base_ = Base::kInherit;
  return env;
}

Env& Env::Set(absl::string_view key, absl::string_view value) {
  changes_.push_back({Op::kSet, std::string(key), std::string(value), ""});
  return *this;
}

Env& Env::Unset(absl::string_view key) {
  changes_.push_back({Op::kUnset, std::string(key), "", ""});
  return *this;
}

Env& Env::Append(absl::string_view key, absl::string_view value, absl::string_view separator) {
  changes_.push_back({Op::kAppend, std::string(key), std::string(value), std::string(separator)});
  return *this;
}

Env& Env::Prepend(absl::string_view key, absl::string_view value, absl::string_view separator) {
  changes_.push_back({Op::kPrepend, std::string(key), std::string(value), std::string(separator)});
  return *this;
}

Env& Env::Beneath(const Env& other) {
  const std::vector<Change> below = other.changes_;  // `other` may be this one
  changes_.insert(changes_.begin(), below.begin(), below.end());
  return *this;
}

bool Env::adds() const {
  return absl::c_any_of(changes_, [](const Change& change) {
    return change.op == Op::kAppend || change.op == Op::kPrepend;
  });
}

Env Env::Over(const std::vector<std::string>& entries) const {
  Env out, there;
  out.changes_ = changes_;
  for (const absl::string_view entry : entries) {
    const absl::string_view key = entry.substr(0, entry.find('='));
    const bool added_to = absl::c_any_of(changes_, [&](const Change& change) {
      return change.key == key && (change.op == Op::kAppend || change.op == Op::kPrepend);
    });
    if (added_to && key.size() < entry.size()) there.Set(key, entry.substr(key.size() + 1));
  }
  return out.Beneath(there);
}

absl::Status CheckEnvKey(absl::string_view key) {
  const auto bad = [key](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("environment variable '", absl::CHexEscape(key.substr(0, 64)), "': ", why));
  };
  if (key.empty()) return bad("the name is empty");
  if (absl::ascii_isdigit(key[0])) return bad("the name begins with a digit");
  for (char c : key) {
    if (!absl::ascii_isalnum(c) && c != '_') {
      return bad("the name has a character other than A-Z, a-z, 0-9 and _");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Env::Resolve(const char* const* host) const {
  Table table;
  if (base_ != Base::kClean && host != nullptr) {
    for (; *host != nullptr; ++host) {
      const absl::string_view entry = *host;
      const size_t eq = entry.find('=');
      if (eq == absl::string_view::npos || eq == 0) continue;
      const absl::string_view key = entry.substr(0, eq);
      const bool wanted = base_ == Base::kInherit || (base_ == Base::kBasic && IsBasic(key)) ||
                          (base_ == Base::kListed && absl::c_linear_search(listed_, key));
      // The first of two entries is the one that getenv finds.
      if (wanted && table.Find(key) == nullptr) table.Set(key, entry.substr(eq + 1));
    }
  }
  for (const std::string& key : listed_) ABSL_RETURN_IF_ERROR(CheckEnvKey(key));
  for (const Change& change : changes_) {
    ABSL_RETURN_IF_ERROR(CheckEnvKey(change.key));
    if (absl::StrContains(change.value, '\0') || absl::StrContains(change.separator, '\0')) {
      return absl::InvalidArgumentError(
          absl::StrCat("environment variable '", change.key, "': the value has a NUL byte"));
    }
    switch (change.op) {
      case Op::kSet:
        table.Set(change.key, change.value);
        break;
      case Op::kUnset:
        table.Unset(change.key);
        break;
      case Op::kAppend:
      case Op::kPrepend: {
        const std::string* old = table.Find(change.key);
        if (old == nullptr || old->empty()) {
          table.Set(change.key, change.value);
        } else if (change.op == Op::kAppend) {
          table.Set(change.key, absl::StrCat(*old, change.separator, change.value));
        } else {
          table.Set(change.key, absl::StrCat(change.value, change.separator, *old));
        }
        break;
      }
    }
  }
  return table.Strings();
}

}  // namespace berth
