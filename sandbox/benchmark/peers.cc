#include "sandbox/benchmark/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using launcher::SandboxMount;
using Kind = SandboxMount::Kind;

std::string Find(const std::string& name) {
  for (const auto folder : absl::StrSplit(getenv("PATH") ? getenv("PATH") : "", ':')) {
    const std::string path = absl::StrCat(folder, "/", name);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  printf("%s is not on PATH: left out\n", name.c_str());
  return "";
}

}  // namespace

std::vector<std::string> Peers::Bwrap() const {
  std::vector<std::string> argv = {
      Find("bwrap"), "--unshare-user", "--unshare-all", "--die-with-parent",
      "--hostname",  "berth",          "--seccomp",     "9"};
  const auto add = [&argv](const char* option, const std::string& a, const std::string& b = "") {
    argv.insert(argv.end(), {option, a});
    if (!b.empty()) argv.push_back(b);
  };
  for (const SandboxMount& mount : plan.mounts) {
    if (mount.kind == Kind::kBind) {
      add(mount.read_only ? "--ro-bind" : "--bind", mount.source, mount.target);
    }
    if (mount.kind == Kind::kTmpfs) add("--tmpfs", mount.target);
    if (mount.kind == Kind::kSymlink) add("--symlink", mount.source, mount.target);
    if (mount.kind == Kind::kProc) add("--proc", "/proc");
    if (mount.kind == Kind::kDev) add("--dev", "/dev");
  }
  argv.insert(argv.end(), {"--", program});
  return argv;
}

std::vector<std::string> Peers::Minijail() const {
  std::vector<std::string> argv = {Find("minijail0"),
                                   "-U",
                                   "-p",
                                   "-l",
                                   "-e",
                                   "--uts",
                                   "-N",
                                   "-n",
                                   "-c",
                                   "0",
                                   "--ambient",
                                   "-T",
                                   "static",
                                   "-P",
                                   jail,
                                   "-k",
                                   "proc,/proc,proc,0xe",
                                   absl::StrCat("-m", geteuid(), " ", geteuid(), " 1"),
                                   absl::StrCat("-M", getegid(), " ", getegid(), " 1"),
                                   absl::StrCat("--seccomp-bpf-binary=", filter),
                                   "--logging=stderr"};
  fs::create_directories(jail + "/proc");
  const auto bind = [&](const std::string& source, const std::string& target, bool writable) {
    if (fs::is_directory(source)) {
      fs::create_directories(jail + target);
    } else {
      fs::create_directories(fs::path(jail + target).parent_path());
      std::ofstream(jail + target) << "";
    }
    argv.insert(argv.end(), {"-b", absl::StrCat(source, ",", target, writable ? ",1" : "")});
  };
  for (const SandboxMount& mount : plan.mounts) {
    if (mount.kind == Kind::kBind) bind(mount.source, mount.target, !mount.read_only);
    if (mount.kind == Kind::kTmpfs) {
      fs::create_directories(jail + mount.target);
      argv.insert(argv.end(), {"-k", absl::StrCat("tmpfs,", mount.target, ",tmpfs,0xe")});
    }
    if (mount.kind != Kind::kDev) continue;
    for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
      bind(absl::StrCat("/dev/", name), absl::StrCat("/dev/", name), true);
    }
  }
  argv.insert(argv.end(), {"--", program});
  return argv;
}

}  // namespace berth
