#include "sandbox/launcher/terminal/gate.h"

#include <cstring>

#include "sandbox/launcher/terminal/utf8.h"

namespace berth::launcher {
namespace {

constexpr unsigned char kEsc = 0x1b, kCan = 0x18, kSub = 0x1a, kBel = 0x07, kDel = 0x7f;
constexpr int kMaxValue = 99999;

bool Forbidden(uint32_t code_point) {
  return (code_point >= 0x80 && code_point <= 0x9f) ||
         (code_point >= 0x302a && code_point <= 0x302f) || code_point == 0x3099 ||
         code_point == 0x309a;
}

}  // namespace

void Gate::Feed(const char* bytes, size_t size) {
  const char* p = bytes;
  const char* const end = bytes + size;
  while (p < end) {
    if (state_ == State::kText) {
      p = FeedText(p, end);
      continue;
    }
    // The bulk of a string that is not kept (an image, say) is skipped at the speed of memory.
    if (state_ == State::kString && string_too_long_) {
      while (p < end && static_cast<unsigned char>(*p) >= 0x20) ++p;
      if (p == end) break;
    }
    FeedControl(static_cast<unsigned char>(*p++));
  }
}

const char* Gate::FeedText(const char* p, const char* end) {
  if (held_size_ > 0) {
    p = FeedSplitCharacter(p, end);
    if (held_size_ > 0) return p;
  }
  const char* begin = p;
  bool printable = false;
  while (p < end) {
    const unsigned char c = static_cast<unsigned char>(*p);
    if (c >= 0x20 && c < 0x7f) {
      printable = true;
      ++p;
    } else if (c < 0x20 && c != 0 && c != kEsc) {
      ++p;
    } else if (c < 0x80) {  // NUL, ESC, DEL
      Emit(begin, p, printable);
      ++p;
      if (c == kEsc) {
        state_ = State::kEscape;
        escape_size_ = 0;
        return p;
      }
      begin = p;
    } else {
      const Utf8Prefix prefix = ReadUtf8(p, static_cast<size_t>(end - p));
      if (prefix.kind == Utf8Prefix::kWhole && !Forbidden(prefix.code_point)) {
        p += prefix.size;
        continue;
      }
      Emit(begin, p, printable);
      printable = false;
      if (prefix.kind == Utf8Prefix::kCutShort) {
        memcpy(held_, p, prefix.size);
        held_size_ = prefix.size;
        return end;
      }
      if (prefix.kind == Utf8Prefix::kIllFormed) {
        Emit(kReplacementCharacter.data(),
             kReplacementCharacter.data() + kReplacementCharacter.size(), false);
      }
      p += prefix.size;
      begin = p;
    }
  }
  Emit(begin, p, printable);
  return p;
}

const char* Gate::FeedSplitCharacter(const char* p, const char* end) {
  for (; p < end; ++p) {
    held_[held_size_] = *p;
    const Utf8Prefix prefix = ReadUtf8(held_, held_size_ + 1);
    if (prefix.kind == Utf8Prefix::kIllFormed) {  // this byte is not of it
      held_size_ = 0;
      Emit(kReplacementCharacter.data(),
           kReplacementCharacter.data() + kReplacementCharacter.size(), false);
      return p;
    }
    ++held_size_;
    if (prefix.kind == Utf8Prefix::kWhole) {
      held_size_ = 0;
      if (!Forbidden(prefix.code_point)) Emit(held_, held_ + prefix.size, false);
      return p + 1;
    }
  }
  return p;
}

void Gate::Emit(const char* begin, const char* end, bool printable_ascii) {
  if (begin == end) return;
  const char* last = end - 1;
  while (last > begin && (static_cast<unsigned char>(*last) & 0xc0) == 0x80) --last;
  if (static_cast<unsigned char>(*last) >= 0x20) {
    last_size_ = static_cast<size_t>(end - last);
    memcpy(last_, last, last_size_);
  }
  receiver_->OnText(begin, static_cast<size_t>(end - begin), printable_ascii);
}

void Gate::FeedControl(unsigned char c) {
  if (c == kEsc) {  // ends any sequence; the next byte tells whether it also ends a string
    state_ = State::kEscape;
    escape_size_ = 0;
    return;
  }
  if (c == kCan || c == kSub) {
    state_ = State::kText;
    string_kind_ = 0;
    return;
  }
  if (state_ == State::kString) return FeedString(c);
  if (c == 0 || c == kDel) return;
  if (c < 0x20) {  // acts at once, in the middle of a sequence
    const char control = static_cast<char>(c);
    receiver_->OnText(&control, 1, false);
    return;
  }
  if (state_ == State::kEscape) return FeedEscape(c);
  FeedSequence(c);
}

void Gate::FeedEscape(unsigned char c) {
  if (string_kind_ != 0) {
    const bool terminated = c == '\\' && escape_size_ == 0;
    if (terminated) EndString();
    string_kind_ = 0;
    string_.clear();
    if (terminated) return;
  }
  if (escape_size_ == 0) {
    switch (c) {
      case '[':
        state_ = State::kArgs;
        sequence_ = ControlSequence();
        return;
      case ']':
      case 'P':
      case 'X':
      case '^':
      case '_':
        state_ = State::kString;
        string_kind_ = static_cast<char>(c);
        string_too_long_ = c != ']' && c != 'P';
        string_.clear();
        return;
      default:
        break;
    }
  }
  if (c >= 0x20 && c < 0x30) {
    if (escape_size_ < sizeof(escape_)) escape_[escape_size_++] = static_cast<char>(c);
    return;
  }
  state_ = State::kText;
  if (c > 0x7e || escape_size_ == sizeof(escape_)) return;
  escape_[escape_size_++] = static_cast<char>(c);
  receiver_->OnEscape({escape_, escape_size_});
}

void Gate::FeedSequence(unsigned char c) {
  ControlSequence& s = sequence_;
  if (c >= 0x40 && c <= 0x7e) {
    const bool ignored = state_ == State::kIgnore;
    state_ = State::kText;
    s.final = static_cast<char>(c);
    if (!ignored) receiver_->OnControlSequence(s);
    return;
  }
  if (c > 0x7e) {
    state_ = State::kText;
    return;
  }
  if (c < 0x30) {
    if (s.intermediate != 0) state_ = State::kIgnore;
    s.intermediate = static_cast<char>(c);
    if (state_ == State::kArgs) state_ = State::kIntermediate;
    return;
  }
  if (state_ == State::kIgnore) return;
  if (state_ == State::kIntermediate) {  // an argument after an intermediate byte
    state_ = State::kIgnore;
    return;
  }
  if (c >= 0x3c) {
    if (s.leader != 0 || s.count != 0) state_ = State::kIgnore;
    s.leader = static_cast<char>(c);
    return;
  }
  const auto add = [&s] {
    s.args[s.count] = ControlSequence::kMissing;
    s.colon_after[s.count++] = false;
  };
  if (s.count == 0) add();
  int& value = s.args[s.count - 1];
  if (c <= '9') {
    if (value == ControlSequence::kMissing) value = 0;
    value = value * 10 + (c - '0');
    if (value > kMaxValue) value = kMaxValue;
    return;
  }
  if (s.count == ControlSequence::kMaxArgs) {  // more than any real sequence has
    state_ = State::kIgnore;
    return;
  }
  s.colon_after[s.count - 1] = c == ':';
  add();
}

void Gate::FeedString(unsigned char c) {
  if (c == kBel) {
    EndString();
    string_kind_ = 0;
    return;
  }
  if (c < 0x20 || string_too_long_) return;
  if (string_.size() == kMaxString) {
    string_too_long_ = true;
    return;
  }
  string_.push_back(static_cast<char>(c));
}

void Gate::EndString() {
  state_ = State::kText;
  if (!string_too_long_) receiver_->OnString(string_kind_, string_);
  string_.clear();
  string_.shrink_to_fit();
}

}  // namespace berth::launcher
