#include "sandbox/cgroups/layout.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/cgroups/file.h"

namespace berth::cgroups {
namespace {

// Cuts the next piece off `rest`, up to `separator`.
std::string_view Next(std::string_view* rest, char separator) {
  const size_t at = rest->find(separator);
  const std::string_view piece = rest->substr(0, at);
  rest->remove_prefix(at == std::string_view::npos ? rest->size() : at + 1);
  return piece;
}

bool Lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (Next(&list, ',') == name) return true;
  }
  return false;
}

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string Unescape(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                      (text[i + 3] - '0')));
      i += 3;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

void ParseMount(std::string_view line, Layout* layout) {
  const size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return;
  std::string_view left = line.substr(0, dash), right = line.substr(dash + 3);
  for (int i = 0; i < 3; ++i) Next(&left, ' ');  // mount id, parent id, device
  const std::string root = Unescape(Next(&left, ' '));
  const std::string point = Unescape(Next(&left, ' '));
  const std::string_view type = Next(&right, ' ');
  Next(&right, ' ');  // source
  const std::string_view options = Next(&right, ' ');
  // The first of several mounts: the others may be covered, or another container's part.
  const auto take = [&](Hierarchy* hierarchy) {
    if (hierarchy->mounted()) return;
    hierarchy->point = point;
    hierarchy->root = root;
  };
  if (type == "cgroup2") take(&layout->v2);
  if (type != "cgroup") return;
  for (const Controller controller : kAllControllers) {
    if (Lists(options, ControllerName(controller))) {
      take(&layout->v1[static_cast<int>(controller)]);
    }
  }
}

void ParseMembership(std::string_view line, Layout* layout) {
  Next(&line, ':');
  const std::string_view controllers = Next(&line, ':');
  if (line.empty() || line[0] != '/') return;
  if (controllers.empty()) layout->v2.own = line;
  for (const Controller controller : kAllControllers) {
    if (Lists(controllers, ControllerName(controller))) {
      layout->v1[static_cast<int>(controller)].own = line;
    }
  }
}

}  // namespace

const char* ControllerName(Controller controller) {
  static constexpr const char* kNames[] = {"memory", "pids", "cpu"};
  return kNames[static_cast<int>(controller)];
}

std::string Hierarchy::Directory(std::string_view group) const {
  if (!mounted() || group.empty() || group[0] != '/') return "";
  if (root != "/") {
    if (group.compare(0, root.size(), root) != 0) return "";
    group.remove_prefix(root.size());
    if (!group.empty() && group[0] != '/') return "";
  }
  return point + std::string(group == "/" ? "" : group);
}

uint8_t Layout::NotInV1(uint8_t controllers) const {
  for (const Controller controller : kAllControllers) {
    if (V1(controller).mounted()) controllers &= static_cast<uint8_t>(~Bit(controller));
  }
  return controllers;
}

const char* Layout::Name() const {
  bool any = false;
  for (const Hierarchy& hierarchy : v1) any = any || hierarchy.mounted();
  if (any) return v2.mounted() ? "hybrid" : "v1";
  return v2.mounted() ? "v2" : "none";
}

Layout Layout::Parse(std::string_view mountinfo, std::string_view cgroup) {
  Layout layout;
  while (!mountinfo.empty()) ParseMount(Next(&mountinfo, '\n'), &layout);
  while (!cgroup.empty()) ParseMembership(Next(&cgroup, '\n'), &layout);
  return layout;
}

Layout Layout::Read() {
  std::string mounts, groups;
  ReadFileAt(-1, "/proc/self/mountinfo", &mounts);
  ReadFileAt(-1, "/proc/self/cgroup", &groups);
  return Parse(mounts, groups);
}

}  // namespace berth::cgroups
