#include "tests/nix/nix_store.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text, mode_t mode = 0644) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  chmod(path.c_str(), mode);
}

constexpr const char* kVariables[] = {"NIX_STORE_DIR", "NIX_STATE_DIR", "NIX_LOG_DIR",
                                      "NIX_CONF_DIR"};

}  // namespace

NixStore::NixStore(const std::string& folder)
    : folder_(folder), path_(getenv("PATH")), home_(getenv("HOME") ? getenv("HOME") : "") {
  // `nix develop` leaves a file there at each start.
  if (const char* before = getenv("TMPDIR"); before != nullptr) tmpdir_ = before;
  fs::create_directories(folder + "/tmp");
  setenv("TMPDIR", (folder + "/tmp").c_str(), 1);
  const char* const parts[] = {"store", "var", "log", "conf"};
  for (int i = 0; i < 4; ++i) setenv(kVariables[i], absl::StrCat(folder, "/", parts[i]).c_str(), 1);
  fs::create_directories(folder + "/home");
  setenv("HOME", (folder + "/home").c_str(), 1);
  Write(folder + "/conf/registry.json", R"({"flakes":[],"version":2})");
  Write(folder + "/conf/nix.conf",
        absl::StrCat("sandbox = false\nbuild-users-group =\nsubstituters =\nwarn-dirty = false\n",
                     "flake-registry = ", folder, "/conf/registry.json\n"));
  Write(
      folder + "/bin/nix",
      absl::StrCat("#!/bin/sh\necho run >>", folder, "/runs\nPATH='", path_, "' exec nix \"$@\"\n"),
      0755);
  setenv("PATH", absl::StrCat(folder, "/bin:", path_).c_str(), 1);
}

NixStore::~NixStore() {
  for (const char* variable : kVariables) unsetenv(variable);
  setenv("PATH", path_.c_str(), 1);
  setenv("HOME", home_.c_str(), 1);
  if (tmpdir_.has_value()) {
    setenv("TMPDIR", tmpdir_->c_str(), 1);
  } else {
    unsetenv("TMPDIR");
  }
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/store", error)) {
    // Nix takes write permission from its store.
    if (entry.is_directory(error) && !entry.is_symlink(error)) chmod(entry.path().c_str(), 0700);
  }
}

std::string NixStore::MakeFlake(const std::string& name, const std::string& attributes) const {
  const std::string flake = absl::StrCat(folder_, "/", name);
  Write(
      flake + "/flake.nix",
      absl::StrCat("{ outputs = { self }: { devShells.x86_64-linux.default = derivation ({ name = "
                   "\"devsh\"; system = \"x86_64-linux\"; builder = \"/bin/bash\"; args = [ "
                   "\"-c\" \"echo ok > $out\" ]; outputs = [ \"out\" ]; PATH = "
                   "\"/usr/bin:/bin\"; } // ",
                   attributes, "); }; }\n"));
  return flake;
}

int NixStore::Runs() const {
  std::ifstream in(folder_ + "/runs");
  int runs = 0;
  for (std::string line; std::getline(in, line);) ++runs;
  return runs;
}

void NixStore::BreakNix() const {
  Write(folder_ + "/bin/nix", "#!/bin/sh\necho 'error: the store is on fire' >&2\nexit 3\n", 0755);
}

}  // namespace berth
