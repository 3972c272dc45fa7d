// A plan and a path of any bytes: some verdict, the same for a path and for its clean form if no
// link is in the plan, and never against what a plan gives all of.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/launcher/enter/file_view.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace {

using berth::launcher::CleanPath;
using berth::launcher::FileAccess;
using berth::launcher::FileView;
using berth::launcher::SandboxMount;
using berth::launcher::SandboxPlan;

bool Same(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && strcmp(a, b) == 0);
}

}  // namespace

// Lines: a letter for what it is, then its place, and of a link after a tab its text. The last line
// is the path.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  SandboxPlan plan;
  plan.tier = berth::launcher::SandboxTier::kNamespaces;
  bool links = false;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    if (line.empty()) continue;
    const std::string_view place = line.substr(1, line.find('\t') - 1);
    SandboxMount mount{.target = std::string(place)};
    mount.read_only = (line[0] & 1) != 0;
    mount.kind = static_cast<SandboxMount::Kind>(1 + (line[0] >> 1) % 8);
    if (line.find('\t') != line.npos) mount.source = line.substr(line.find('\t') + 1);
    links |= mount.kind == SandboxMount::Kind::kSymlink || mount.kind == SandboxMount::Kind::kDev;
    plan.landlock.push_back({.path = mount.target, .access = static_cast<uint64_t>(line[0]) * 257});
    plan.links.push_back({.path = mount.target, .text = mount.source});
    plan.mounts.push_back(std::move(mount));
  }
  const std::string clean = CleanPath(text);
  if (clean.empty() || clean[0] != '/' || CleanPath(clean) != clean) abort();
  SandboxPlan all;
  all.tier = plan.tier;
  all.mounts = {{.target = "/"}};
  const FileView view(plan, size % 2 == 0), open(all, false);
  plan.tier = berth::launcher::SandboxTier::kLandlock;
  const FileView rules(plan, false);
  for (int i = 0; i <= static_cast<int>(FileAccess::kRemove); ++i) {
    const auto access = static_cast<FileAccess>(i);
    const char* verdict = view.Judge(text, access);
    rules.Judge(text, access);
    // Of what a process has open nothing is known, also of what comes after ".." there.
    const bool plain = !links && !text.empty() && text[0] == '/' && text.find("proc") == text.npos;
    if (plain && !Same(verdict, view.Judge(clean, access))) abort();
    if (access < FileAccess::kReplace && open.Judge(text, access) != nullptr) abort();
  }
  return 0;
}
