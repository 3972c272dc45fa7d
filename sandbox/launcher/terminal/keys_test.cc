#include "sandbox/launcher/terminal/keys.h"

#include <random>
#include <string>

#include "gtest/gtest.h"
#include "sandbox/launcher/terminal/paste.h"

namespace berth::launcher {
namespace {

std::string Bytes(std::string_view name, bool application = false) {
  std::string out;
  return KeyBytes(name, application, &out) ? out : "(unknown)";
}

TEST(Keys, NamesSendWhatXtermSends) {
  const struct {
    const char* name;
    const char* bytes;
  } kCases[] = {
      {"Enter", "\r"},      {"Tab", "\t"},           {"Escape", "\x1b"},   {"Space", " "},
      {"BSpace", "\x7f"},   {"Up", "\x1b[A"},        {"Down", "\x1b[B"},   {"Right", "\x1b[C"},
      {"Left", "\x1b[D"},   {"Home", "\x1b[H"},      {"End", "\x1b[F"},    {"PageUp", "\x1b[5~"},
      {"PPage", "\x1b[5~"}, {"PageDown", "\x1b[6~"}, {"NPage", "\x1b[6~"}, {"Insert", "\x1b[2~"},
      {"IC", "\x1b[2~"},    {"Delete", "\x1b[3~"},   {"DC", "\x1b[3~"},    {"F1", "\x1bOP"},
      {"F4", "\x1bOS"},     {"F5", "\x1b[15~"},      {"F6", "\x1b[17~"},   {"F10", "\x1b[21~"},
      {"F11", "\x1b[23~"},  {"F12", "\x1b[24~"},     {"S-Tab", "\x1b[Z"},  {"BTab", "\x1b[Z"},
      {"enter", "\r"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Bytes(c.name), c.bytes) << c.name;
}

TEST(Keys, ModifiersAreXtermParameters) {
  EXPECT_EQ(Bytes("S-Up"), "\x1b[1;2A");
  EXPECT_EQ(Bytes("M-Up"), "\x1b[1;3A");
  EXPECT_EQ(Bytes("C-Right"), "\x1b[1;5C");
  EXPECT_EQ(Bytes("C-S-Right"), "\x1b[1;6C");
  EXPECT_EQ(Bytes("C-M-S-End"), "\x1b[1;8F");
  EXPECT_EQ(Bytes("C-F1"), "\x1b[1;5P");
  EXPECT_EQ(Bytes("S-F5"), "\x1b[15;2~");
  EXPECT_EQ(Bytes("C-DC"), "\x1b[3;5~");
  EXPECT_EQ(Bytes("M-Enter"), "\x1b\r");
  EXPECT_EQ(Bytes("C-S-Tab"), "\x1b[1;6Z");
}

TEST(Keys, ControlAndMetaCharacters) {
  EXPECT_EQ(Bytes("C-a"), "\x01");
  EXPECT_EQ(Bytes("C-C"), "\x03");
  EXPECT_EQ(Bytes("^c"), "\x03");
  EXPECT_EQ(Bytes("C-["), "\x1b");
  EXPECT_EQ(Bytes("C-\\"), "\x1c");
  EXPECT_EQ(Bytes("C-_"), "\x1f");
  EXPECT_EQ(Bytes("C-?"), "\x7f");
  EXPECT_EQ(Bytes("C-Space"), std::string(1, '\0'));
  EXPECT_EQ(Bytes("C-@"), std::string(1, '\0'));
  EXPECT_EQ(Bytes("M-x"), "\x1bx");
  EXPECT_EQ(Bytes("C-M-x"), "\x1b\x18");
  EXPECT_EQ(Bytes("M-\xc3\xa9"), "\x1b\xc3\xa9");
  EXPECT_EQ(Bytes("C--"), "(unknown)");
  EXPECT_EQ(Bytes("M--"), "\x1b-");
}

TEST(Keys, ApplicationModeChangesOnlyUnmodifiedCursorKeys) {
  EXPECT_EQ(Bytes("Up", true), "\x1bOA");
  EXPECT_EQ(Bytes("Home", true), "\x1bOH");
  EXPECT_EQ(Bytes("C-Up", true), "\x1b[1;5A");
  EXPECT_EQ(Bytes("PageUp", true), "\x1b[5~");
}

TEST(Keys, OneCodePointStandsForItself) {
  for (const char* c :
       {"a", "Z", "~", "-", "^", ";", "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(Bytes(c), c);
}

TEST(Keys, UnknownNamesLeaveTheOutputAlone) {
  for (const char* name : {"", "Entr", "F0", "F13", "F1x", "ab", "C-", "C-Foo", "X-a", "C-C-a",
                           "C-\xc3\xa9", "\xff", "\xc3\xa9\xc3\xa9", "Enter ", "-x", "S-1"}) {
    std::string out = "before";
    EXPECT_FALSE(KeyBytes(name, false, &out)) << name;
    EXPECT_EQ(out, "before");
  }
}

TEST(Paste, PlainTextIsUnchanged) {
  const std::string text("a\nb\r\n\x1b[201~\0z", 13);
  EXPECT_EQ(PastePayload(text, false), text);
}

TEST(Paste, BracketedTextIsOnePaste) {
  EXPECT_EQ(PastePayload("one\ntwo\n", true), "\x1b[200~one\ntwo\n\x1b[201~");
  EXPECT_EQ(PastePayload("", true), "\x1b[200~\x1b[201~");
  EXPECT_EQ(PastePayload("~201~[201~\x1b[200~\x1b[20", true),
            "\x1b[200~~201~[201~\x1b[200~\x1b[20\x1b[201~");
}

TEST(Paste, EmbeddedEndMarkerCannotBreakOut) {
  EXPECT_EQ(PastePayload("a\x1b[201~rm -rf /\r", true), "\x1b[200~a[201~rm -rf /\r\x1b[201~");
  EXPECT_EQ(PastePayload("a\x9b"
                         "201~b",
                         true),
            "\x1b[200~a201~b\x1b[201~");
  EXPECT_EQ(PastePayload("a\xc2\x9b"
                         "201~b",
                         true),
            "\x1b[200~a201~b\x1b[201~");
}

TEST(Paste, RemovingOneMarkerMakesNoOther) {
  EXPECT_EQ(PastePayload("\x1b\x1b\x1b[201~", true), "\x1b[200~[201~\x1b[201~");
  EXPECT_EQ(PastePayload("\x1b[\x1b[201~201~", true), "\x1b[200~\x1b[[201~201~\x1b[201~");
  EXPECT_EQ(PastePayload("\x1b[\x9b"
                         "201~",
                         true),
            "\x1b[200~[201~\x1b[201~");
  EXPECT_EQ(PastePayload("\xc2\xc2\x9b\x9b"
                         "201~",
                         true),
            "\x1b[200~\xc2"
            "201~\x1b[201~");
}

TEST(Paste, CharactersThatEndInTheByteOfCsiStayWhole) {
  EXPECT_EQ(PastePayload("\xec\x9b\x9b"
                         "201~~x",
                         true),
            "\x1b[200~\xec\x9b\x9b"
            "201x\x1b[201~");
  EXPECT_EQ(PastePayload("\xec\x9b\x9b"
                         "x",
                         true),
            "\x1b[200~\xec\x9b\x9b"
            "x\x1b[201~");
}

TEST(Paste, NoMixtureOfFragmentsBreaksOut) {
  const std::string kParts[] = {"\x1b", "[",    "201~",     "20",        "1~", "~",
                                "\x9b", "\xc2", "\xc2\x9b", "\x1b[201~", "x",  "\xec\x9b"};
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned n = random() % 12; n > 0; --n) text += kParts[random() % std::size(kParts)];
    std::string payload = PastePayload(text, true);
    ASSERT_TRUE(payload.starts_with("\x1b[200~") && payload.ends_with("\x1b[201~"));
    payload = payload.substr(6, payload.size() - 12);
    ASSERT_EQ(payload.find("\x1b[201~"), payload.npos) << text;
    ASSERT_EQ(payload.find("\x9b"
                           "201~"),
              payload.npos)
        << text;
  }
}

}  // namespace
}  // namespace berth::launcher
