// Shows that each library berth builds on compiles, links and answers in this configuration.

#include <libcgroup.h>
#include <seccomp.h>
#include <vterm.h>

#include <string>
#include <tuple>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "re2/re2.h"

namespace {

TEST(Dependencies, LibseccompIsNewEnoughToMergeComparisonsSafely) {
  const scmp_version* version = seccomp_version();
  ASSERT_NE(version, nullptr);
  EXPECT_GE(std::tie(version->major, version->minor, version->micro), std::make_tuple(2u, 6u, 1u));
}

TEST(Dependencies, LibcgroupAnswers) {
  const cgroup_library_version* version = cgroup_version();
  ASSERT_NE(version, nullptr);
  EXPECT_GE(version->major, 2u);
}

TEST(Dependencies, LibvtermRendersAScreen) {
  VTerm* term = vterm_new(2, 10);
  VTermScreen* screen = vterm_obtain_screen(term);
  vterm_screen_reset(screen, 1);
  vterm_input_write(term, "hi", 2);
  char text[16] = {};
  vterm_screen_get_text(screen, text, sizeof(text), VTermRect{0, 1, 0, 2});
  EXPECT_EQ(std::string(text), "hi");
  vterm_free(term);
}

TEST(Dependencies, TheOthersAnswer) {
  EXPECT_TRUE(RE2::FullMatch("berth", "b.*h"));
  EXPECT_EQ(nlohmann::json::parse("[1,2]").size(), 2u);
  CLI::App app("x");
  EXPECT_EQ(app.get_description(), "x");
  httplib::Headers headers{{"Host", "docker"}};
  EXPECT_EQ(headers.size(), 1u);
  EXPECT_TRUE(absl::StatusOr<int>(1).ok());
}

}  // namespace
