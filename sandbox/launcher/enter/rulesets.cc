#include "sandbox/launcher/enter/rulesets.h"

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/enter/landlock.h"

namespace berth::launcher {
namespace {

SourceIdentity FileAt(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 ? SourceIdentity{st.st_dev, st.st_ino} : SourceIdentity();
}

bool AreStill(const SandboxPlan& plan, const std::vector<SourceIdentity>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (!(FileAt(plan.landlock[i].path) == files[i])) return false;
  }
  return files.size() == plan.landlock.size();
}

}  // namespace

int Rulesets::Get(std::string_view bytes, const SandboxPlan& plan) {
  if (bytes.empty() || !UsesLandlock(plan)) return -1;
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (kept->bytes != bytes) continue;
    kept_.splice(kept_.begin(), kept_, kept);
    if (AreStill(plan, kept_.front().files)) return kept_.front().ruleset.get();
    kept_.pop_front();
    break;
  }
  // Looked up before and after: what changes in between is not kept.
  std::vector<SourceIdentity> files;
  for (const LandlockRule& rule : plan.landlock) files.push_back(FileAt(rule.path));
  Failure failure;
  UniqueFd ruleset(MakeRuleset(plan, &failure));
  if (!ruleset.ok() || !AreStill(plan, files)) return -1;
  kept_.push_front({++made_, std::string(bytes), std::move(ruleset), std::move(files)});
  if (kept_.size() > kMost) kept_.pop_back();
  return kept_.front().ruleset.get();
}

}  // namespace berth::launcher
