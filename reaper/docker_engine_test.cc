// Scenario 29 on a real engine: containers by record and by label.

#include "reaper/docker_engine.h"

#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "reaper/test_watch.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "tests/docker/dockerd.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class Containers : public StoreTest {
 protected:
  static void SetUpTestSuite() {
    auto engine = berth::DockerEngine::Start();
    ASSERT_THAT(engine, IsOk());
    engine_ = engine->release();
    setenv("DOCKER_HOST", engine_->address().c_str(), 1);
  }
  static void TearDownTestSuite() {
    delete engine_;
    engine_ = nullptr;
  }
  void SetUp() override {
    StoreTest::SetUp();
    client_ = std::make_unique<EngineClient>(*EngineAddress::Parse(engine_->address()));
  }
  void TearDown() override {
    const auto all = client_->Get("/containers/json?all=1");
    ASSERT_THAT(all, IsOk());
    for (const Json& each : *all) {
      EXPECT_THAT(
          client_->Delete(absl::StrCat("/containers/", TextAt(each, "/Id"), "?force=1")).status(),
          IsOk());
    }
  }
  struct Made {
    bool running = false;
    bool ephemeral = true;
    bool reusable = false;
    std::string install = "";  // ours
    std::string uid = "";      // a new one
    Identity owner = {};       // dead
    std::string lease = "gone";
  };
  std::string Make(Made made) {
    const Json config{
        {"Image", berth::DockerEngine::kImage},
        {"Cmd", {"sleep", "1000"}},
        {"HostConfig", {{"NetworkMode", "none"}}},
        {"Labels",
         {{"berth.owner", made.lease},
          {"berth.session", made.uid.empty() ? *RandomUid() : made.uid},
          {"berth.name", "c"},
          {"berth.install", made.install.empty() ? store_->dir().install_id() : made.install},
          {"berth.boot", dead_.boot_id},
          {"berth.owner-identity", IdentityToJson(made.owner.pid == 0 ? dead_ : made.owner)},
          {"berth.ephemeral", made.ephemeral ? "true" : "false"},
          {"berth.reuse", made.reusable ? "true" : "false"}}}};
    const auto answer = client_->Post("/containers/create", config);
    EXPECT_THAT(answer, IsOk());
    const std::string id = answer.ok() ? TextAt(*answer, "/Id") : "";
    if (made.running) {
      EXPECT_THAT(client_->Post(absl::StrCat("/containers/", id, "/start")).status(), IsOk());
    }
    return id;
  }
  bool Exists(const std::string& id) {
    return client_->Get(absl::StrCat("/containers/", id, "/json")).ok();
  }
  Report SweepNow() {
    Engines engines;
    engines.push_back(std::make_unique<DockerEngine>());
    auto report = Sweep(*store_, {.show_kept = true, .grace = absl::ZeroDuration()}, engines);
    EXPECT_THAT(report, IsOk());
    return report.ok() ? *std::move(report) : Report();
  }
  Verdict VerdictOf(const Report& report, absl::string_view id) {
    for (const Item& item : report.items) {
      if (item.id == id) return item.verdict;
    }
    ADD_FAILURE() << id << " is not in the report";
    return Verdict::kKeep;
  }

  static berth::DockerEngine* engine_;
  std::unique_ptr<EngineClient> client_;
};
berth::DockerEngine* Containers::engine_ = nullptr;

TEST_F(Containers, OfSessionsThatAreReapedGoWithThemAndNoOthers) {
  const Record ours = MakeOrphan(*store_, "ours", dead_, [&](Record& it) {
    it.backend = "docker";
    it.engine_address = engine_->address();
    it.container_id = Make({.running = true, .uid = it.uid});
  });
  const std::string stranger = Make({.running = true, .install = std::string(32, 'f')});
  MakeOrphan(*store_, "wrong", dead_, [&](Record& it) {
    it.backend = "docker";
    it.engine_address = engine_->address();
    it.container_id = stranger;
  });
  const Report report = SweepNow();
  EXPECT_EQ(report.done, 1) << ToText(report, true, false);
  EXPECT_EQ(report.failed, 1);  // and did not stop the rest
  EXPECT_FALSE(Exists(ours.container_id));
  EXPECT_TRUE(Exists(stranger));
  EXPECT_THAT(store_->Find("wrong"), IsOk());
}

TEST_F(Containers, KeptFromAnEarlierSessionGoWithTheLaterOne) {
  const Record later = MakeOrphan(*store_, "c", dead_, [&](Record& it) {
    it.backend = "docker";
    it.engine_address = engine_->address();
    it.container_id = Make({.running = true, .reusable = true});
  });
  const Record other = MakeOrphan(*store_, "d", dead_, [&](Record& it) {
    it.backend = "docker";
    it.engine_address = engine_->address();
    it.container_id = Make({.running = true, .reusable = true});
  });
  SweepNow();
  EXPECT_FALSE(Exists(later.container_id));
  EXPECT_TRUE(Exists(other.container_id)) << "of another name";
}

TEST_F(Containers, WithoutARecordAreDecidedByTheirLabels) {
  const auto lease = Lease::Acquire(store_->dir(), "mine");
  ASSERT_THAT(lease, IsOk());
  const std::string running = Make({.running = true}), stopped = Make({}),
                    lasting = Make({.running = true, .ephemeral = false}),
                    lasted = Make({.ephemeral = false}),
                    reusable = Make({.running = true, .reusable = true}),
                    foreign = Make({.running = true, .install = std::string(32, 'f')}),
                    owned = Make({.running = true, .owner = lease->owner(), .lease = "mine"}),
                    unsure = Make({.running = true, .owner = lease->owner()});
  const Report report = SweepNow();
  EXPECT_EQ(VerdictOf(report, running), Verdict::kReap);
  EXPECT_EQ(VerdictOf(report, stopped), Verdict::kReap);
  EXPECT_EQ(VerdictOf(report, lasting), Verdict::kDoubt);
  EXPECT_EQ(VerdictOf(report, lasted), Verdict::kReap);
  EXPECT_EQ(VerdictOf(report, reusable), Verdict::kKeep);
  EXPECT_EQ(VerdictOf(report, owned), Verdict::kKeep);
  EXPECT_EQ(VerdictOf(report, unsure), Verdict::kDoubt);
  for (const std::string& id : {running, stopped, lasted}) EXPECT_FALSE(Exists(id));
  for (const std::string& id : {lasting, reusable, foreign, owned, unsure}) EXPECT_TRUE(Exists(id));
}

TEST_F(Containers, AnEngineThatIsDownIsNoErrorAndNoAction) {
  MakeOrphan(*store_, "waits", dead_, [&](Record& it) {
    it.backend = "docker";
    it.engine_address = "unix:///nonexistent/engine.sock";
    it.container_id = std::string(64, 'a');
  });
  MakeOrphan(*store_, "goes", dead_);
  const Report report = SweepNow();
  EXPECT_EQ(ExitCodeOf(report), kExitDone) << ToText(report, true, false);
  EXPECT_THAT(store_->Find("waits"), IsOk());
  EXPECT_FALSE(store_->Find("goes").ok());
}

TEST_F(Containers, AWatchHearsOfThemFromTheEngineAndOutlivesTheEngine) {
  MakeOrphan(*store_, "watched", dead_, [&](Record& it) {
    it.backend = "docker";
    it.durable = true;
    it.engine_address = engine_->address();
    it.container_id = Make({.running = true, .ephemeral = false, .uid = it.uid});
  });
  const std::string first = store_->Find("watched")->container_id;
  TestWatch watch(*store_, {.forget_ended = absl::ZeroDuration()}, [] {
    Engines engines;
    engines.push_back(std::make_unique<DockerEngine>());
    return engines;
  });
  EXPECT_THAT(watch.Next(), HasSubstr("done 0 failed 0"));
  // The engine's end is an event; that nobody answers is no error and no action.
  ASSERT_THAT(engine_->Kill(), IsOk());
  EXPECT_THAT(watch.Next(), HasSubstr("done 0 failed 0"));
  EXPECT_THAT(store_->Find("watched"), IsOk());
  // So is its return; and then what it tells.
  ASSERT_THAT(engine_->Restart(), IsOk());
  EXPECT_THAT(watch.Next(), HasSubstr("done 0 failed 0"));
  ASSERT_THAT(client_->Delete(absl::StrCat("/containers/", first, "?force=1")).status(), IsOk());
  watch.Await("done 1 failed 0 kept 0");
  EXPECT_FALSE(store_->Find("watched").ok());
}

}  // namespace
}  // namespace berth::reaper
