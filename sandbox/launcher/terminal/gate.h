// Gate stands between the bytes of a program that nobody trusts and libvterm. It cuts the stream
// into text and whole control sequences, and lets through only what libvterm 0.3.3 is safe with:
//   - text is well-formed UTF-8; ill-formed parts become U+FFFD, code points split over two reads
//   are put together
//     (libvterm decodes those with two decoders and loses some);
//   - C1 controls as code points are dropped: libvterm gives them a width of -1, and the cursor
//   leaves the screen;
//   - U+302A..302F and U+3099..309A are dropped: combining *and* wide to libvterm, so one cell
//   could be twelve wide;
//   - a control sequence has at most kMaxArgs arguments of at most five digits: libvterm's parser
//   writes past its array
//     of sixteen and overflows a long;
//   - strings (OSC, DCS) come whole or not at all, so no split can upset libvterm's arithmetic on
//   their parts.
// What single sequences need beyond that is in screen.cc.
//
// Owns nothing but a few hundred bytes of state. One thread. Cannot fail.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_GATE_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_GATE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::launcher {

// A whole control sequence: CSI leader args intermediate final.
struct ControlSequence {
  static constexpr int kMaxArgs = 32;
  static constexpr int kMissing = -1;

  char leader = 0;        // one of <=>? or 0
  char intermediate = 0;  // one of 0x20..0x2f or 0
  char final = 0;
  int count = 0;               // 0: no argument at all
  int args[kMaxArgs];          // kMissing or 0..99999
  bool colon_after[kMaxArgs];  // the next one is a sub-parameter of this one

  int Arg(int i, int otherwise) const {
    return i < count && args[i] != kMissing ? args[i] : otherwise;
  }
};

class Gate {
 public:
  class Receiver {
   public:
    // Code points and C0 controls other than NUL and ESC. `printable_ascii`: there is one of
    // 0x20..0x7e in it.
    virtual void OnText(const char* bytes, size_t size, bool printable_ascii) = 0;
    // ESC, without that byte: up to three intermediate bytes and a final one.
    virtual void OnEscape(std::string_view sequence) = 0;
    virtual void OnControlSequence(const ControlSequence& sequence) = 0;
    // kind is ']' (OSC) or 'P' (DCS). Longer ones than kMaxString, and other kinds, are not
    // reported.
    virtual void OnString(char kind, std::string_view body) = 0;

   protected:
    ~Receiver() = default;
  };

  static constexpr size_t kMaxString = 1024;

  explicit Gate(Receiver* receiver) : receiver_(receiver) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void Feed(const char* bytes, size_t size);

  // The last printed code point, for REP. Empty if there was none.
  std::string_view last_character() const { return {last_, last_size_}; }

 private:
  enum class State { kText, kEscape, kArgs, kIntermediate, kIgnore, kString };

  const char* FeedText(const char* p, const char* end);
  const char* FeedSplitCharacter(const char* p, const char* end);
  void FeedControl(unsigned char c);
  void FeedEscape(unsigned char c);
  void FeedSequence(unsigned char c);
  void FeedString(unsigned char c);
  void EndString();
  void Emit(const char* begin, const char* end, bool printable_ascii);

  Receiver* receiver_;
  State state_ = State::kText;
  char string_kind_ = 0;  // 0 outside of strings; kept through the ESC of a terminator
  bool string_too_long_ = false;
  char escape_[4];
  size_t escape_size_ = 0;
  char held_[4];  // the beginning of a code point
  size_t held_size_ = 0;
  char last_[4];
  size_t last_size_ = 0;
  ControlSequence sequence_;
  std::string string_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_GATE_H_
