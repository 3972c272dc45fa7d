#include "sandbox/cgroups/tree_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <string>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/file.h"

namespace berth::cgroups {
namespace {

bool HasAll(int dir, const char* file, uint8_t controllers) {
  std::string text;
  if (ReadFileAt(dir, file, &text) != 0) return false;
  for (const Controller controller : kAllControllers) {
    if ((controllers & Bit(controller)) != 0 && !HasWord(text, ControllerName(controller))) {
      return false;
    }
  }
  return true;
}

// Whether this process may make children of the group and start processes in them: clone3 asks for
// the right to write cgroup.procs of the common ancestor, too.
bool MayMakeChildren(int dir) {
  return faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0 &&
         faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == 0;
}

// What GiveControllers would say.
int WouldEnable(int dir, bool is_root) {
  if (faccessat(dir, "cgroup.subtree_control", W_OK, AT_EACCESS) != 0) return errno;
  std::string members;
  if (const int error = ReadFileAt(dir, "cgroup.procs", &members); error != 0) return error;
  return is_root || members.empty() ? 0 : EBUSY;
}

}  // namespace

int GiveControllers(int dir, uint8_t controllers) {
  std::string text;
  for (const Controller controller : kAllControllers) {
    if ((controllers & Bit(controller)) != 0) {
      text += text.empty() ? "+" : " +";
      text += ControllerName(controller);
    }
  }
  return WriteFileAt(dir, "cgroup.subtree_control", text);
}

std::string PlaceFor(const Layout& layout, uint8_t controllers, bool probe, std::string* why) {
  std::string reason = "there is no cgroup v2 tree";
  for (const bool enable : {false, true}) {
    if (!layout.v2.mounted()) break;
    for (std::string group = layout.v2.own; !group.empty();) {
      const std::string path = layout.v2.Directory(group);
      if (path.empty()) break;
      const UniqueFd dir(open(path.c_str(), O_DIRECTORY | O_CLOEXEC));
      const bool offered = dir.ok() && HasAll(dir.get(), "cgroup.controllers", controllers);
      if (!offered) {
        reason = "group '" + group + "' has not been given the controllers";
      } else if (!MayMakeChildren(dir.get())) {
        reason = "this user may make no groups in '" + group + "'";
      } else if (HasAll(dir.get(), "cgroup.subtree_control", controllers)) {
        return group;
      } else if (enable) {
        const int error =
            probe ? WouldEnable(dir.get(), group == "/") : GiveControllers(dir.get(), controllers);
        if (error == 0) return group;
        reason = "group '" + group + "' cannot give them to its children: " +
                 (error == EBUSY ? "it has processes of its own" : strerror(error));
      }
      if (group == "/") break;
      group.resize(group.rfind('/'));
      if (group.empty()) group = "/";
    }
  }
  if (why != nullptr) *why = reason;
  return "";
}

}  // namespace berth::cgroups
