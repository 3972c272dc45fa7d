#include "runtime/tmux/control_parser.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::tmux {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = ControlEvent::Kind;

std::vector<ControlEvent> Parse(absl::string_view bytes) {
  ControlParser parser;
  std::vector<ControlEvent> events;
  parser.Feed(bytes, &events);
  return events;
}

TEST(ControlParser, GivesTheLinesOfAReply) {
  EXPECT_THAT(Parse("%begin 10 2 1\na\n\nb\n%end 10 2 1\n"),
              ElementsAre(ControlEvent{Kind::kReply, true, "a\n\nb\n"}));
}

TEST(ControlParser, TellsErrorsApart) {
  EXPECT_THAT(Parse("%begin 10 2 1\ncan't find session: x\n%error 10 2 1\n"),
              ElementsAre(ControlEvent{Kind::kError, true, "can't find session: x\n"}));
}

TEST(ControlParser, KnowsWhichRepliesAreToOtherCommands) {
  EXPECT_THAT(Parse("%begin 10 2 0\n%end 10 2 0\n"),
              ElementsAre(ControlEvent{Kind::kReply, false, ""}));
}

TEST(ControlParser, ATitleThatLooksLikeTheEndOfAReplyDoesNotEndIt) {
  EXPECT_THAT(Parse("%begin 10 2 1\n%end 10 3 1\n%error 9 2 1\n%begin 1 1 1\n%exit\n%end 10 2 1\n"),
              ElementsAre(ControlEvent{Kind::kReply, true,
                                       "%end 10 3 1\n%error 9 2 1\n%begin 1 1 1\n%exit\n"}));
}

TEST(ControlParser, PassesNotificationsOn) {
  EXPECT_THAT(Parse("%sessions-changed\n%exit server exited\n%exit\n"),
              ElementsAre(ControlEvent{Kind::kNotification, false, "%sessions-changed"},
                          ControlEvent{Kind::kExit, false, "server exited"},
                          ControlEvent{Kind::kExit, false, ""}));
}

TEST(ControlParser, WaitsForTheEndOfALine) {
  ControlParser parser;
  std::vector<ControlEvent> events;
  for (const char* piece : {"%be", "gin 1 2 1", "\nx", "\n%end 1 2 1"}) parser.Feed(piece, &events);
  EXPECT_THAT(events, IsEmpty());
  parser.Feed("\n", &events);
  EXPECT_THAT(events, ElementsAre(ControlEvent{Kind::kReply, true, "x\n"}));
}

TEST(ControlParser, AReplyWithoutEndBreaksItInsteadOfEatingAllMemory) {
  ControlParser parser;
  std::vector<ControlEvent> events;
  parser.Feed("%begin 1 2 1\n", &events);
  const std::string line(1 << 20, 'x');
  for (int i = 0; i < 65 && !parser.broken(); ++i) parser.Feed(absl::StrCat(line, "\n"), &events);
  EXPECT_TRUE(parser.broken());
  EXPECT_THAT(events, IsEmpty());
}

}  // namespace
}  // namespace berth::tmux
