// The environment of a process, described: where it starts from and what is changed.
//
//   Env env = Env::Basic();
//   env.Set("PORT", "8080").Append("PATH", "/opt/tool/bin", ":");
//
// Values are byte-exact and never expanded. They reach the program through memory only: no argv, no
// file, no log. Value type; not thread-safe.
#ifndef BERTH_RUNTIME_ENV_H_
#define BERTH_RUNTIME_ENV_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth {

class Env {
 public:
  // Nothing of the host's environment.
  static Env Clean();
  // What a shell cannot do without, where the host has it: PATH HOME USER LOGNAME SHELL LANG LC_*
  // TERM TZ TMPDIR.
  static Env Basic();
  // The listed variables, where the host has them.
  static Env InheritListed(std::vector<std::string> keys);
  // All of the host's environment.
  static Env Inherit();

  Env& Set(absl::string_view key, absl::string_view value);
  Env& Unset(absl::string_view key);
  // Adds `value` behind what is there, with `separator` between; alone if there is nothing.
  Env& Append(absl::string_view key, absl::string_view value, absl::string_view separator);
  // The same before what is there.
  Env& Prepend(absl::string_view key, absl::string_view value, absl::string_view separator);

  // Puts the changes of `other` between what this one inherits and what it changes itself: what was
  // set here stands.
  Env& Beneath(const Env& other);

  // Whether it adds to what is there: Append, Prepend.
  bool adds() const;
  // Its changes alone, where it adds to a variable of `entries` ("KEY=value") to what that has.
  Env Over(const std::vector<std::string>& entries) const;

  // Whether all of the host's environment goes in, whatever it holds.
  bool inherits_all() const { return base_ == Base::kInherit; }

  // "KEY=value" strings, in the order in which they were first named. InvalidArgument, naming the
  // key, for a key that is not [A-Za-z_][A-Za-z0-9_]* or a value with a NUL byte. `host` is the
  // environment to inherit from.
  absl::StatusOr<std::vector<std::string>> Resolve(const char* const* host) const;

 private:
  enum class Base { kClean, kBasic, kListed, kInherit };
  enum class Op { kSet, kUnset, kAppend, kPrepend };
  struct Change {
    Op op;
    std::string key, value, separator;
  };

  Base base_ = Base::kClean;
  std::vector<std::string> listed_;
  std::vector<Change> changes_;
};

// OkStatus if `key` may name an environment variable.
absl::Status CheckEnvKey(absl::string_view key);

}  // namespace berth

#endif  // BERTH_RUNTIME_ENV_H_
