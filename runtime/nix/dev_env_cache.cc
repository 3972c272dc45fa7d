#include "runtime/nix/dev_env_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/nix/dev_env.h"
#include "runtime/nix/flake_files.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/record/files.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/sha256.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

using Json = nlohmann::json;
using Files = std::map<std::string, std::string>;

constexpr int kSchema = 1;
constexpr size_t kMaxKept = size_t{64} << 20;
// An evaluation may build and download a lot.
constexpr absl::Duration kEvaluationTime = absl::Hours(2);

struct Kept {
  std::string nix;  // which nix, and for which system
  Files files;
  DevEnv env;
};

std::string Encode(const Kept& kept) {
  const Json json = {{"schema", kSchema},
                     {"nix", kept.nix},
                     {"files", kept.files},
                     {"variables", kept.env.variables},
                     {"hook", kept.env.hook}};
  const std::string body =
      json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return absl::StrCat(Sha256Hex(body), "\n", body);
}

bool GetMap(const Json& json, const char* key, std::map<std::string, std::string>* out) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_object()) return false;
  for (const auto& [name, value] : it->items()) {
    if (!value.is_string()) return false;
    (*out)[name] = value.get_ref<const std::string&>();
  }
  return true;
}

absl::StatusOr<Kept> Decode(absl::string_view text) {
  const absl::Status bad = absl::DataLossError("what was kept of it is damaged");
  if (text.size() < 65 || text[64] != '\n') return bad;
  const absl::string_view body = text.substr(65);
  if (Sha256Hex(body) != text.substr(0, 64)) return bad;
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("schema", 0) != kSchema) {
    return absl::DataLossError("what was kept of it is of another version of berth");
  }
  Kept kept;
  if (!json.contains("nix") || !json["nix"].is_string() || !json.contains("hook") ||
      !json["hook"].is_string() || !GetMap(json, "files", &kept.files) ||
      !GetMap(json, "variables", &kept.env.variables)) {
    return bad;
  }
  kept.nix = json["nix"].get<std::string>();
  kept.env.hook = json["hook"].get<std::string>();
  return kept;
}

absl::StatusOr<UniqueFd> MakeFolder(int dir_fd, const std::string& name) {
  if (mkdirat(dir_fd, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("make the folder '", name, "'"));
  }
  return OpenFolder(dir_fd, name);
}

// Whether the GC root is there and leads to something.
bool RootStands(int folder) {
  struct stat st;
  return fstatat(folder, "root", &st, 0) == 0;
}

}  // namespace

std::string FlakeInstallable(const std::string& folder, const std::string& shell) {
  return shell.empty() ? folder : absl::StrCat(folder, "#", shell);
}

absl::StatusOr<DevEnvCache::Found> DevEnvCache::Get(const std::string& folder,
                                                    const std::string& shell) const {
  ABSL_ASSIGN_OR_RETURN(const std::string nix, FindNix());
  ABSL_ASSIGN_OR_RETURN(const std::string identity, NixIdentity(nix));
  const std::string which = absl::StrCat(identity, " ", NixSystem());
  ABSL_ASSIGN_OR_RETURN(const UniqueFd top, MakeFolder(store_->dir().root_fd(), "nix"));
  const std::string id = Sha256Hex(FlakeInstallable(folder, shell)).substr(0, 32);
  ABSL_ASSIGN_OR_RETURN(const UniqueFd place, MakeFolder(top.get(), id));
  ABSL_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(place.get()));

  Found found;
  absl::StatusOr<Files> files = HashFlakeFiles(folder);
  if (absl::IsOutOfRange(files.status())) {
    found.reason = files.status().message();
  } else {
    ABSL_RETURN_IF_ERROR(files.status());
    absl::StatusOr<std::string> text = ReadSmallFile(place.get(), "env", kMaxKept);
    absl::StatusOr<Kept> kept = text.ok() ? Decode(*text) : absl::StatusOr<Kept>(text.status());
    if (!kept.ok()) {
      found.reason = absl::IsNotFound(kept.status()) ? "it is the first time"
                                                     : std::string(kept.status().message());
    } else if (kept->nix != which) {
      found.reason = "nix has changed";
    } else if (const std::string change = DescribeChange(kept->files, *files); !change.empty()) {
      found.reason = change;
    } else if (!RootStands(place.get())) {
      found.reason = "its GC root is gone";
    } else {
      found.kept = true;
      found.env = std::move(kept->env);
      return found;
    }
  }

  const std::string root = absl::StrCat(store_->dir().path(), "/nix/", id, "/root");
  ABSL_ASSIGN_OR_RETURN(
      const std::string json,
      RunNix(spawn_,
             {nix, "--extra-experimental-features", "nix-command flakes", "print-dev-env", "--json",
              "--profile", root, FlakeInstallable(folder, shell)},
             absl::Now() + kEvaluationTime));
  ABSL_ASSIGN_OR_RETURN(found.env, ParseDevEnv(json));
  if (!files.ok()) return found;
  // nix may have written a flake.lock; had a file changed under it, the next start would see that.
  ABSL_ASSIGN_OR_RETURN(const Files after, HashFlakeFiles(folder));
  Files made_from = *files;
  if (const auto lock_file = after.find("flake.lock");
      lock_file != after.end() && files->at("flake.lock") == "-") {
    made_from["flake.lock"] = lock_file->second;
  }
  ABSL_RETURN_IF_ERROR(
      WriteFileDurably(place.get(), "env", ".env.tmp", Encode({which, made_from, found.env})));
  return found;
}

}  // namespace berth
