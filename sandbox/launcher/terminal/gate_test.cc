#include "sandbox/launcher/terminal/gate.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace berth::launcher {
namespace {

// Writes down what comes through.
class Recorder final : public Gate::Receiver {
 public:
  void OnText(const char* bytes, size_t size, bool) override { Add('T', {bytes, size}); }
  void OnEscape(std::string_view sequence) override { Add('E', sequence); }
  void OnString(char kind, std::string_view body) override { Add(kind, body); }
  void OnControlSequence(const ControlSequence& s) override {
    std::string text;
    if (s.leader) text += s.leader;
    for (int i = 0; i < s.count; ++i) {
      text += s.args[i] < 0 ? "_" : std::to_string(s.args[i]);
      if (i + 1 < s.count) text += s.colon_after[i] ? ':' : ';';
    }
    if (s.intermediate) text += s.intermediate;
    Add('C', text + s.final);
  }
  void Add(char kind, std::string_view text) {
    if (kind == 'T' && last_ == 'T') {
      log.pop_back();
    } else {
      log += kind;
      log += '(';
    }
    log += text;
    log += ')';
    last_ = kind;
  }
  std::string log;

 private:
  char last_ = 0;
};

std::string Through(std::string_view bytes, size_t step = 1 << 20) {
  Recorder recorder;
  Gate gate(&recorder);
  for (size_t i = 0; i < bytes.size(); i += step)
    gate.Feed(bytes.data() + i, std::min(step, bytes.size() - i));
  return recorder.log;
}

TEST(Gate, CutsTextAndSequencesTheSameWhereverReadsEnd) {
  const std::string_view kInput =
      "ab\r\n\x1b[1;31mred\x1b[?1049h\x1b(0q\x1b]2;title\x07\x1bP$qm\x1b\\\x1b[!p\x1b[4:3;;"
      "5m\xf0\x9f\x98\x80z";
  const std::string kOutput =
      "T(ab\r\n)C(1;31m)T(red)C(?1049h)E((0)T(q)](2;title)P($qm)C(!p)C(4:3;_;5m)T("
      "\xf0\x9f\x98\x80z)";
  for (size_t step = 1; step < 20; ++step) EXPECT_EQ(Through(kInput, step), kOutput) << step;
}

TEST(Gate, IllFormedUtf8BecomesReplacementCharacters) {
  for (size_t step = 1; step < 5; ++step) {
    EXPECT_EQ(Through("a\xff"
                      "b",
                      step),
              "T(a\xef\xbf\xbd"
              "b)");
    EXPECT_EQ(Through("\xe6\xbc\nx", step), "T(\xef\xbf\xbd\nx)");        // cut short
    EXPECT_EQ(Through("\xc0\x80", step), "T(\xef\xbf\xbd\xef\xbf\xbd)");  // overlong
    EXPECT_EQ(Through("\xed\xa0\x80", step),
              "T(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd)");  // surrogate
    EXPECT_EQ(Through("\xc3\x1b[m", step), "T(\xef\xbf\xbd)C(m)");
  }
}

TEST(Gate, DropsWhatMovesLibvtermsCursorOffTheScreen) {
  for (size_t step = 1; step < 5; ++step) {
    EXPECT_EQ(Through("a\xc2\x9b"
                      "b\xc2\x85"
                      "c\xc2\xa0",
                      step),
              "T(abc\xc2\xa0)");
    EXPECT_EQ(Through("\xe3\x81\x8b\xe3\x82\x99x", step), "T(\xe3\x81\x8bx)");
    EXPECT_EQ(Through(std::string_view("a\0b\x7f", 4), step), "T(ab)");
  }
}

TEST(Gate, BoundsArguments) {
  EXPECT_EQ(Through("\x1b[99999999999999999999999H"), "C(99999H)");
  std::string many = "\x1b[1";
  for (int i = 0; i < 1000; ++i) many += ";1";
  EXPECT_EQ(Through(many + "mx"), "T(x)");
}

TEST(Gate, BoundsStringsAndForgetsTheKindsNobodyReads) {
  const std::string kLong(1 << 20, 'x');
  EXPECT_EQ(Through("\x1b]2;" + kLong +
                    "\x07"
                    "a"),
            "T(a)");
  EXPECT_EQ(Through("\x1b_G" + kLong + "\x1b\\a"), "T(a)");
  EXPECT_EQ(Through("\x1b]2;lost\x1b[31ma"), "C(31m)T(a)");
  EXPECT_EQ(Through("\x1b]2;lost\x18"
                    "a"),
            "T(a)");
}

TEST(Gate, ControlsInsideOfASequenceActAtOnce) {
  EXPECT_EQ(Through("\x1b[1\n;2H"), "T(\n)C(1;2H)");
}

TEST(Gate, IgnoresMalformedSequencesWhole) {
  EXPECT_EQ(Through("\x1b[1?2hx"), "T(x)");
  EXPECT_EQ(Through("\x1b[ 1qx"), "T(x)");
  EXPECT_EQ(Through("\x1b[!!px"), "T(x)");
  EXPECT_EQ(Through("\x1b     (0x"), "T(x)");
}

TEST(Gate, RemembersTheLastCharacterForRep) {
  Recorder recorder;
  Gate gate(&recorder);
  EXPECT_EQ(gate.last_character(), "");
  gate.Feed("ab\r\n", 4);
  gate.Feed("c\xe6\xbc", 3);
  EXPECT_EQ(gate.last_character(), "c");
  gate.Feed("\xa2", 1);
  EXPECT_EQ(gate.last_character(), "\xe6\xbc\xa2");
}

}  // namespace
}  // namespace berth::launcher
