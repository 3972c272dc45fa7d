// World: everything that one test binary starts, whatever it does to get away. The binary's main
// runs the tests in a child inside a cgroup of its own, so that what is left over can be named, and
// fails the test that left it.
//
// Each test target exists twice (see tree_test.bzl): as root, where berth holds trees by cgroups,
// and as a plain user without a writable cgroup, where it has to be their subreaper.
#ifndef BERTH_TESTS_SUPPORT_WORLD_H_
#define BERTH_TESTS_SUPPORT_WORLD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace berth {

class World {
 public:
  // Runs the tests in a world, as a user of their own if $BERTH_TEST_USER is "plain", or a program
  // that a test asked for (see actor.h). Returns the exit code.
  static int Main(int argc, char** argv);

  // Whether this process runs in one; if not, why (no root, no cgroup v2).
  static bool Exists();
  static std::string WhyNot();

  // The folder of its cgroup.
  static std::string Folder();

  // What holds a tree here: "cgroup" or "subreaper".
  static std::string Tree();

  // The processes in it, but for this one.
  static std::vector<pid_t> Members();
  static std::vector<pid_t> MembersNamed(const std::string& comm);

  // Waits until only this process is left, or until then. Returns what is there: processes, then
  // groups. Ends it, so that the next test does not find it too.
  static std::vector<std::string> Leftovers(absl::Duration limit = absl::Seconds(5));
};

}  // namespace berth

#endif  // BERTH_TESTS_SUPPORT_WORLD_H_
