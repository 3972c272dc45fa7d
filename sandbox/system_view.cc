#include "sandbox/system_view.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/policy_check.h"
#include "sandbox/view.h"

namespace berth {
namespace {

constexpr const char* kFolders[] = {"/usr",   "/bin",    "/sbin", "/lib",       "/lib32",
                                    "/lib64", "/libx32", "/opt",  "/nix/store", "/gnu/store"};

// No shadow, no keys, no sudoers, nothing of a service's.
constexpr const char* kEtc[] = {"alternatives",    "bash.bashrc",   "ca-certificates",
                                "crypto-policies", "fonts",         "gitconfig",
                                "group",           "host.conf",     "hosts",
                                "inputrc",         "java",          "ld.so.cache",
                                "ld.so.conf",      "ld.so.conf.d",  "locale.alias",
                                "localtime",       "lsb-release",   "magic",
                                "mime.types",      "nsswitch.conf", "os-release",
                                "passwd",          "pki",           "profile",
                                "profile.d",       "protocols",     "python3",
                                "services",        "shells",        "ssl",
                                "terminfo",        "timezone"};
constexpr const char* kEtcResolver[] = {"resolv.conf", "gai.conf"};
// Below what is listed above.
constexpr const char* kEtcSecrets[] = {"/etc/ssl/private", "/etc/pki/tls/private"};

constexpr const char* kHomeSecrets[] = {".ssh",
                                        ".aws",
                                        ".config",
                                        ".gnupg",
                                        ".netrc",
                                        ".docker",
                                        ".kube",
                                        ".azure",
                                        ".password-store",
                                        ".mozilla",
                                        ".npmrc",
                                        ".pypirc",
                                        ".git-credentials",
                                        ".bash_history",
                                        ".zsh_history",
                                        ".thunderbird",
                                        ".local/share/keyrings",
                                        ".cargo/credentials.toml"};

constexpr const char* kSockets[] = {
    "/run/docker.sock", "/run/containerd", "/run/podman", "/run/crio",      "/run/buildkit",
    "/run/dbus",        "/run/systemd",    "/run/user",   "/tmp/.X11-unix", "/tmp/.ICE-unix"};

std::string RealPath(const std::string& path) {
  char real[PATH_MAX];
  return realpath(path.c_str(), real) != nullptr ? real : "";
}

bool Listed(const View& view, absl::string_view target) {
  for (const View::Shown& shown : view.shown) {
    if (shown.target == target) return true;
  }
  for (const std::string& folder : view.private_folders) {
    if (folder == target) return true;
  }
  return false;
}

// `parent`: what the folder that it is in really is; "" for "/".
void Add(const std::string& path, absl::string_view parent, View* view) {
  struct stat st;
  if (Listed(*view, path)) return;
  if (lstat(path.c_str(), &st) != 0) return view->absent.push_back(path);
  const size_t slash = path.rfind('/');
  const std::string real = S_ISLNK(st.st_mode)
                               ? RealPath(path)
                               : absl::StrCat(parent, absl::string_view(path).substr(slash));
  if (real.empty()) return;
  if (S_ISLNK(st.st_mode) && IsBelow(real, "/usr")) {
    // As the host has it (/bin -> usr/bin), so that one mount shows all of them.
    char text[PATH_MAX];
    const ssize_t n = readlink(path.c_str(), text, sizeof(text));
    if (n > 0 && static_cast<size_t>(n) < sizeof(text)) {
      view->links.push_back({std::string(text, static_cast<size_t>(n)), path});
      return;
    }
  }
  view->shown.push_back({real, path, Policy::Access::kReadOnly});
}

}  // namespace

void AddSystem(bool resolver, View* view) {
  for (const std::string folder : kFolders) {
    const size_t slash = folder.rfind('/');
    Add(folder, slash == 0 ? "" : RealPath(folder.substr(0, slash)), view);
  }
  // Nothing of it, if the policy lists all of it.
  if (Listed(*view, "/etc")) return;
  const std::string etc = RealPath("/etc");
  for (const char* name : kEtc) Add(absl::StrCat("/etc/", name), etc, view);
  if (resolver) {
    for (const char* name : kEtcResolver) Add(absl::StrCat("/etc/", name), etc, view);
  }
  for (const char* secret : kEtcSecrets) {
    struct stat st;
    if (!Listed(*view, secret) && lstat(secret, &st) == 0 && S_ISDIR(st.st_mode)) {
      view->hidden.push_back(secret);
    }
  }
}

void AddHomeSecrets(absl::string_view home, std::vector<std::string>* secrets) {
  for (const char* name : kHomeSecrets) secrets->push_back(absl::StrCat(home, "/", name));
}

void AddSocketSecrets(std::vector<std::string>* secrets) {
  for (const char* path : kSockets) secrets->push_back(path);
}

}  // namespace berth
