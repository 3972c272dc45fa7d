#include "runtime/record/record.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/session_name.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kBoot[] = "01234567-89ab-cdef-0123-456789abcdef";

Record Full() {
  Record record;
  record.install_id = std::string(32, 'a');
  record.boot_id = kBoot;
  record.uid = std::string(26, 'b');
  record.name = "builder";
  record.backend = "native";
  record.engine_address = "unix:///run/x";
  record.state = kStateRunning;
  record.durable = true;
  record.created_at_unix_ns = 1'800'000'000'000'000'000;
  record.token = std::string(32, 'c');
  record.owner_id = "owner";
  record.owner = {1, kBoot, 5, 6, 7};
  record.keeper = {101, kBoot, UINT64_MAX, UINT64_MAX, 7};
  record.leader = {102, kBoot, 1, 0, 0};
  record.pid_namespace_init = {4194304, kBoot, 1, 0, 0};
  record.tree = kTreePidNamespace;
  record.cgroup = "/sys/fs/cgroup/berth/x";
  record.socket = "/run/berth/x.sock";
  record.container_id = "0123";
  record.tmux_socket = "/run/berth/tmux";
  record.tmux_session = "builder";
  record.temp_dirs = {"/tmp/a b", "/tmp/\xff\xfe", "/tmp/\xc3\xa9", "/tmp/\"\n\\"};
  record.log = "/x/log";
  record.labels = {{"team", "a"}, {"\xff", "\x80\x81"}, {"empty", ""}, {"hex", "00"}};
  return record;
}

TEST(Record, GoesThroughJsonUnchanged) {
  EXPECT_THAT(FromJson(ToJson(Full())), IsOkAndHolds(Full()));
  Record least;
  const Record full = Full();
  least.install_id = full.install_id;
  least.boot_id = full.boot_id;
  least.uid = full.uid;
  least.name = "x";
  least.backend = "tmux";
  least.token = full.token;
  least.owner_id = "o";
  least.owner = full.owner;
  EXPECT_THAT(FromJson(ToJson(least)), IsOkAndHolds(least));
}

TEST(Record, IgnoresFieldsOfLaterVersionsButNotALaterSchema) {
  const std::string json = ToJson(Full());
  EXPECT_THAT(FromJson(absl::StrCat("{\"zebra\":[{}],", json.substr(1))), IsOkAndHolds(Full()));
  EXPECT_THAT(FromJson(absl::StrReplaceAll(json, {{"\"schema\":1", "\"schema\":2"}})),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("newer berth")));
}

TEST(Record, TornAtAnyByteIsRefused) {
  const std::string json = ToJson(Full());
  for (size_t length = 0; length + 1 < json.size(); ++length) {
    EXPECT_THAT(FromJson(json.substr(0, length)), StatusIs(absl::StatusCode::kInvalidArgument))
        << length;
  }
}

TEST(Record, LongerThanTheLimitIsRefusedUnread) {
  EXPECT_THAT(FromJson(std::string(kMaxRecordBytes + 1, '[')),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(FromJson(std::string(kMaxRecordBytes, '[')),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Record, OfTheWrongShapeIsRefusedByField) {
  const std::string json = ToJson(Full());
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"pid\":101", "\"pid\":\"101\""},
      {"\"pid\":101", "\"pid\":101.5"},
      {"\"pid\":101", "\"pid\":1"},
      {"\"pid\":101", "\"pid\":0"},
      {"\"pid\":101", "\"pid\":-1"},
      {"\"pid\":101", "\"pid\":18446744073709551615"},
      {"\"pid\":101", "\"pid\":4294967397"},
      {"\"pid\":102", "\"pid\":null"},
      {"\"pid\":1,", "\"pid\":0,"},
      {"\"pid\":1,", "\"pid\":-1,"},
      {"\"durable\":true", "\"durable\":1"},
      {"\"durable\":true", "\"durable\":\"true\""},
      {"\"uid\":\"bbb", "\"uid\":\"../"},
      {"\"uid\":\"b", "\"uid\":\"B"},
      {"\"name\":\"builder\"", "\"name\":\"../x\""},
      {"\"name\":\"builder\"", "\"name\":7"},
      {"\"name\":\"builder\"", "\"name\":\"\""},
      {"\"state\":\"running\"", "\"state\":\"dead\""},
      {"\"tree\":\"pidns\"", "\"tree\":\"all\""},
      {"\"backend\":\"native\"", "\"backend\":\"a/b\""},
      {"\"start_time\":5", "\"start_time\":-5"},
      {"\"start_time\":5", "\"start_time\":1e3"},
      {"\"token\":\"c", "\"token\":\"z"},
      {"\"schema\":1", "\"schema\":0"},
      {"\"schema\":1", "\"schema\":\"1\""},
      {"\"schema\":1,", ""},
      {"\"owner_id\":\"owner\"", "\"owner_id\":\"../../x\""},
      {"\"/tmp/a b\"", "\"/\""},
      {"\"/tmp/a b\"", "\"/tmp/../etc\""},
      {"\"/tmp/a b\"", "\"tmp\""},
      {"\"/tmp/a b\"", "\"\""},
      {"\"/tmp/a b\"", "7"},
      {"\"/tmp/a b\"", "\"/tmp/a\\u0000b\""},
      {"\"/tmp/a b\"", "\"/tmp//x\""},
      {"\"/tmp/a b\"", "{\"hex\":\"0\"}"},
      {"\"/tmp/a b\"", "{\"hex\":\"zz\"}"},
      {"\"/tmp/a b\"", "{\"hex\":7}"},
      {"\"/x/log\"", "[\"/x/log\"]"},
      {"/sys/fs/cgroup/berth/x", "/sys/fs/cgroup/.."},
      {"[\"team\",\"a\"]", "[\"team\"]"},
      {"[\"team\",\"a\"]", "[\"\",\"a\"]"},
      {"[\"team\",\"a\"]", "[\"empty\",\"a\"]"},
  };
  for (const auto& [from, to] : changes) {
    ASSERT_THAT(json, HasSubstr(from));
    EXPECT_THAT(FromJson(absl::StrReplaceAll(json, {{from, to}})),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << from << " -> " << to;
  }
  for (const char* other : {"", "null", "[]", "7", "\"x\"", "{}", "\xff", "{\"schema\":1}"}) {
    EXPECT_THAT(FromJson(other), StatusIs(absl::StatusCode::kInvalidArgument)) << other;
  }
}

TEST(SessionName, FollowsTheRule) {
  for (const std::string& good :
       {std::string("a"), std::string("7"), std::string("A-b_c"), std::string(64, 'x')}) {
    EXPECT_THAT(CheckSessionName(good), IsOk());
  }
  const std::string nul("a\0b", 3);
  for (const std::string& bad :
       {std::string(), std::string("-a"), std::string("_a"), std::string("."), std::string("a.b"),
        std::string("a b"), std::string("a/b"), std::string("a\n"), nul, std::string("é"),
        std::string(65, 'x'), std::string("=a"), std::string("a:b")}) {
    EXPECT_THAT(CheckSessionName(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
  EXPECT_THAT(CheckSessionName("a\x1b[2Jb"), StatusIs(absl::StatusCode::kInvalidArgument,
                                                      HasSubstr("'a\\x1b[2Jb': it holds '\\x1b'")));
  EXPECT_LT(CheckSessionName(std::string(100'000, 'x')).message().size(), 300u);
}

}  // namespace
}  // namespace berth
