#include "sandbox/carve.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "sandbox/launcher/placeholder_link.h"
#include "sandbox/policy.h"

namespace berth {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel

bool IsWritable(Policy::Access access) {
  return access == Policy::Access::kReadWrite || access == Policy::Access::kCopyOnWrite;
}

void AddOnce(std::string text, std::vector<std::string>* list) {
  if (!absl::c_linear_search(*list, text)) list->push_back(std::move(text));
}

class Walk {
 public:
  Walk(absl::string_view target, const View::Shown& above, bool optional, View* view)
      : target_(target), above_(above), optional_(optional), view_(*view) {
    Put(absl::string_view(target).substr(above.target.size()));
  }

  void Run();

 private:
  // Names to walk next, before those that are left.
  void Put(absl::string_view path);
  // Where in the view a name of the host's is, and has to be held.
  std::vector<std::string> PlacesOf(const std::string& source) const;
  void Hold(const std::string& source);
  void HoldMissing(const std::string& source);
  // False if it is none that can be followed.
  bool Follow(const std::string& link);

  const std::string target_;
  const View::Shown above_;
  const bool optional_;
  View& view_;
  std::vector<std::string> left_;  // the next is the last
  std::string at_ = above_.source;
  int links_ = 0;
};

void Walk::Put(absl::string_view path) {
  std::vector<std::string> names = absl::StrSplit(path, '/', absl::SkipEmpty());
  left_.insert(left_.end(), names.rbegin(), names.rend());
}

std::vector<std::string> Walk::PlacesOf(const std::string& source) const {
  if (links_ == 0) {
    return {absl::StrCat(above_.target, absl::string_view(source).substr(above_.source.size()))};
  }
  std::vector<std::string> places = view_.TargetsOf(source);
  // What nobody can write, or move: the rest is read-only, or a mount itself.
  std::erase_if(places, [this](const std::string& place) {
    const View::Shown* shows = view_.Above(place);
    return shows == nullptr || !IsWritable(shows->access) || shows->target == place;
  });
  return places;
}

void Walk::Hold(const std::string& source) {
  for (std::string& place : PlacesOf(source)) AddOnce(std::move(place), &view_.carved);
}

void Walk::HoldMissing(const std::string& source) {
  if (optional_ && links_ == 0) return;
  // Of "not-there/../x" nothing can be held but the beginning.
  const bool plain = !absl::c_linear_search(left_, "..");
  const std::string rest = plain && !left_.empty()
                               ? absl::StrCat("/", absl::StrJoin(left_.rbegin(), left_.rend(), "/"))
                               : "";
  for (const std::string& place : PlacesOf(source)) {
    AddOnce(absl::StrCat(place, rest), &view_.carved);
    const View::Shown* shows = view_.Above(place);
    if (shows != nullptr && IsWritable(shows->access)) AddOnce(place, &view_.placeholders);
    if (!rest.empty()) AddOnce(place, &view_.missing);
  }
}

bool Walk::Follow(const std::string& link) {
  char text[PATH_MAX];
  const ssize_t n = readlink(link.c_str(), text, sizeof(text));
  if (n <= 0 || n == sizeof(text)) return false;
  const std::string leads(text, static_cast<size_t>(n));
  for (std::string& place : PlacesOf(link)) {
    const bool known = absl::c_any_of(
        view_.carved_links, [&](const View::Link& other) { return other.target == place; });
    if (!known) view_.carved_links.push_back({leads, std::move(place)});
  }
  if (++links_ > kMaxLinks) return false;
  if (leads.front() == '/') at_.clear();
  Put(leads);
  return true;
}

void Walk::Run() {
  while (!left_.empty()) {
    const std::string name = std::move(left_.back());
    left_.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      at_.resize(at_.empty() ? 0 : at_.rfind('/'));
      continue;
    }
    const std::string next = absl::StrCat(at_, "/", name);
    struct stat st;
    if (lstat(next.c_str(), &st) != 0 || launcher::IsPlaceholderLink(AT_FDCWD, next.c_str())) {
      return HoldMissing(next);
    }
    if (S_ISLNK(st.st_mode)) {
      if (!Follow(next)) return;
      continue;
    }
    // A .git that is a file names the real one elsewhere: it is what must not change.
    if (!S_ISDIR(st.st_mode)) return Hold(next);
    at_ = next;
  }
  Hold(at_);
}

}  // namespace

void CarveOut(absl::string_view target, bool optional, View* view) {
  const View::Shown* above = view->Above(target);
  if (above == nullptr) return AddOnce(std::string(target), &view->carved);  // in a private folder
  Walk(target, *above, optional, view).Run();
}

}  // namespace berth
