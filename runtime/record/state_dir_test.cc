#include "runtime/record/state_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/test_dir.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat entry;
  return stat(path.c_str(), &entry) == 0 ? entry.st_mode & 07777 : 0;
}

class Environment {
 public:
  Environment() {
    for (const char* name : {"BERTH_STATE_DIR", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"}) {
      const char* value = getenv(name);
      if (value != nullptr) saved_.emplace_back(name, value);
      unsetenv(name);
    }
  }
  ~Environment() {
    for (const char* name : {"BERTH_STATE_DIR", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"})
      unsetenv(name);
    for (const auto& [name, value] : saved_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::string>> saved_;
};

TEST(StateDir, IsMadeWithItsParentsForItsUserAlone) {
  TestDir test;
  const std::string path = test / "a/b/state";
  const absl::StatusOr<StateDir> dir = StateDir::Open(path + "//");
  ASSERT_THAT(dir, IsOk());
  EXPECT_EQ(dir->path(), path);
  EXPECT_EQ(dir->run_path(), path + "/run");
  for (const char* name : {"", "/sessions", "/names", "/owners", "/quarantine", "/run"}) {
    EXPECT_EQ(ModeOf(path + name), 0700u) << name;
  }
  EXPECT_EQ(dir->install_id().size(), 32u);
  EXPECT_EQ(ModeOf(path + "/install_id"), 0600u);
  EXPECT_EQ(StateDir::Open(path)->install_id(), dir->install_id());
}

TEST(StateDir, IsChosenByTheEnvironmentInOrder) {
  TestDir test;
  Environment environment;
  EXPECT_THAT(StateDir::Open(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("BERTH_STATE_DIR")));
  setenv("HOME", (test / "home").c_str(), 1);
  EXPECT_EQ(StateDir::Open()->path(), test / "home/.local/state/berth");
  setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(StateDir::Open()->path(), test / "home/.local/state/berth");
  setenv("XDG_STATE_HOME", (test / "xdg").c_str(), 1);
  EXPECT_EQ(StateDir::Open()->path(), test / "xdg/berth");

  setenv("XDG_RUNTIME_DIR", (test / "nowhere").c_str(), 1);
  EXPECT_EQ(StateDir::Open()->run_path(), test / "xdg/berth/run");
  std::filesystem::create_directory(test / "runtime");
  chmod((test / "runtime").c_str(), 0700);
  setenv("XDG_RUNTIME_DIR", (test / "runtime").c_str(), 1);
  EXPECT_EQ(StateDir::Open()->run_path(), test / "runtime/berth");

  setenv("BERTH_STATE_DIR", (test / "own").c_str(), 1);
  EXPECT_EQ(StateDir::Open()->path(), test / "own");
  EXPECT_EQ(StateDir::Open()->run_path(), test / "own/run");
}

TEST(StateDir, RefusesWhatOthersCouldHaveMade) {
  TestDir test;
  std::filesystem::create_directory(test / "real");
  chmod((test / "real").c_str(), 0700);
  std::filesystem::create_symlink(test / "real", test / "link");
  EXPECT_THAT(StateDir::Open(test / "link"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is a symlink")));
  WriteText(test / "file", "");
  EXPECT_THAT(StateDir::Open(test / "file"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not a folder")));
  for (const mode_t mode : {0770, 0707, 0777}) {
    chmod((test / "real").c_str(), mode);
    EXPECT_THAT(StateDir::Open(test / "real"),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("chmod 0700")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(test / "real"));
  chmod((test / "real").c_str(), 0755);
  EXPECT_THAT(StateDir::Open(test / "real"), IsOk());
  std::filesystem::remove(test / "real/names");
  std::filesystem::create_symlink(test / "real/sessions", test / "real/names");
  EXPECT_THAT(StateDir::Open(test / "real"), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                      HasSubstr("real/names' is a symlink")));
  EXPECT_THAT(StateDir::Open("relative"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(StateDir::Open("/"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StateDir, RefusesAnotherUsers) {
  TestDir test;
  std::filesystem::create_directory(test / "theirs");
  chmod((test / "theirs").c_str(), 0700);
  if (chown((test / "theirs").c_str(), 65534, 65534) != 0) GTEST_SKIP() << "chown takes root";
  EXPECT_THAT(StateDir::Open(test / "theirs"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("belongs to uid 65534")));
  EXPECT_TRUE(std::filesystem::is_empty(test / "theirs"));
}

TEST(StateDir, RefusesABrokenInstallIdRatherThanChangingIt) {
  TestDir test;
  ASSERT_THAT(StateDir::Open(test / "state"), IsOk());
  WriteText(test / "state/install_id", "not an id\n");
  EXPECT_THAT(StateDir::Open(test / "state"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("install_id")));
  EXPECT_EQ(ReadText(test / "state/install_id"), "not an id\n");
}

TEST(StateDir, HasOneInstallIdHoweverManyOpenItFirst) {
  TestDir test;
  absl::Mutex mutex;
  std::set<std::string> ids;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const absl::StatusOr<StateDir> dir = StateDir::Open(test / "state");
      ASSERT_THAT(dir, IsOk());
      absl::MutexLock lock(mutex);
      ids.insert(dir->install_id());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids.size(), 1u);
}

}  // namespace
}  // namespace berth
