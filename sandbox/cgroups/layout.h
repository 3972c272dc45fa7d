// Layout: where the kernel's control groups are on this machine, and where this process is in them.
// Three layouts are in use: one v2 tree with all controllers ("v2"), each controller in a v1
// hierarchy of its own ("v1"), and v1 hierarchies beside a v2 tree that has none of the controllers
// that we want ("hybrid"). A controller is in one of the two at a time, so it is asked for each.
// Used by the helper: no Abseil, no exceptions. Plain data.
#ifndef BERTH_SANDBOX_CGROUPS_LAYOUT_H_
#define BERTH_SANDBOX_CGROUPS_LAYOUT_H_

#include <stdint.h>

#include <string>
#include <string_view>

namespace berth::cgroups {

enum class Controller : uint8_t { kMemory = 0, kPids = 1, kCpu = 2 };
inline constexpr int kControllers = 3;
inline constexpr Controller kAllControllers[] = {Controller::kMemory, Controller::kPids,
                                                 Controller::kCpu};
// "memory", "pids", "cpu".
const char* ControllerName(Controller controller);
// A set of controllers is made of these.
inline constexpr uint8_t Bit(Controller controller) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(controller));
}

inline constexpr uint8_t kEveryController = (1u << kControllers) - 1;

// One hierarchy as it is mounted here. A container sees a part of it: what is at `root` there is
// at `point` here.
struct Hierarchy {
  std::string point;  // "": not mounted
  std::string root;
  std::string own;  // the group of this process, as /proc/self/cgroup gives it

  bool mounted() const { return !point.empty(); }
  // The directory of a group; "" if it is outside of what is mounted.
  std::string Directory(std::string_view group) const;
};

struct Layout {
  Hierarchy v2;
  Hierarchy v1[kControllers];

  const Hierarchy& V1(Controller controller) const { return v1[static_cast<int>(controller)]; }
  // Those of a set of Bit that are in no v1 hierarchy.
  uint8_t NotInV1(uint8_t controllers) const;
  // "v2", "v1", "hybrid" or "none".
  const char* Name() const;

  // From the texts of /proc/self/mountinfo and /proc/self/cgroup.
  static Layout Parse(std::string_view mountinfo, std::string_view cgroup);
  static Layout Read();
};

}  // namespace berth::cgroups

#endif  // BERTH_SANDBOX_CGROUPS_LAYOUT_H_
