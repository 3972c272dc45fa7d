#include "sandbox/seccomp/program.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace berth::seccomp {
namespace {

using Code = std::vector<sock_filter>;

#if defined(__x86_64__)
constexpr uint32_t kArch = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kArch = AUDIT_ARCH_AARCH64;
#endif
constexpr uint32_t kX32 = 0x40000000;  // numbers from here on are of the x32 ABI

sock_filter Load(uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter Return(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
sock_filter IfEqual(uint32_t value, uint8_t yes, uint8_t no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}
sock_filter IfAtLeast(uint32_t value, uint8_t yes, uint8_t no) {
  return BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, yes, no);
}
sock_filter Jump(uint32_t over) { return BPF_STMT(BPF_JMP | BPF_JA, over); }

constexpr size_t kFarthest = 255;  // of a conditional jump

uint32_t Low(unsigned argument) {
  return static_cast<uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(uint64_t));
}
uint32_t High(unsigned argument) { return Low(argument) + sizeof(uint32_t); }

// The comparisons for one call.
class Block {
 public:
  void Add(const Rule& rule) {
    misses_.clear();
    for (const Condition& condition : rule.conditions) Test(condition);
    code_.push_back(Return(rule.action));
    for (const auto& [at, yes] : misses_) {
      const size_t over = code_.size() - at - 1;
      fits_ = fits_ && over <= kFarthest;
      (yes ? code_[at].jt : code_[at].jf) = static_cast<uint8_t>(over);
    }
    // Who misses a single comparison comes on with what it loaded; otherwise it is not known.
    if (rule.conditions.size() != 1) loaded_ = kNothing;
    done_ = done_ || rule.conditions.empty();
  }
  Code Finish(uint32_t otherwise) {
    if (!done_) code_.push_back(Return(otherwise));
    return std::move(code_);
  }
  bool done() const { return done_; }
  // False: a jump would have to lead farther than one can.
  bool fits() const { return fits_; }

 private:
  using Loaded = std::pair<uint32_t, uint32_t>;  // offset, mask
  static constexpr Loaded kNothing = {~uint32_t{0}, 0};

  void Want(uint32_t offset, uint32_t mask) {
    if (loaded_ == Loaded(offset, mask)) return;
    if (loaded_ != Loaded(offset, ~uint32_t{0})) code_.push_back(Load(offset));
    if (mask != ~uint32_t{0}) code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    loaded_ = {offset, mask};
  }
  // Misses if the comparison comes out as `yes`.
  void MissIf(bool yes, uint32_t value) {
    misses_.emplace_back(code_.size(), yes);
    code_.push_back(IfEqual(value, 0, 0));
  }
  void Test(const Condition& condition) {
    const uint32_t low = Low(condition.argument), high = High(condition.argument);
    switch (condition.kind) {
      case Condition::Kind::kMasked:
        Want(low, condition.mask);
        return MissIf(false, condition.value);
      case Condition::Kind::kNotIn:
        Want(low, ~uint32_t{0});
        for (const uint32_t value : condition.values) MissIf(true, value);
        return;
      case Condition::Kind::kNull:
        for (const uint32_t half : {low, high}) {
          code_.push_back(Load(half));
          MissIf(false, 0);
        }
        loaded_ = kNothing;
        return;
      case Condition::Kind::kNotNull:
        code_.push_back(Load(low));
        code_.push_back(IfEqual(0, 0, 2));
        code_.push_back(Load(high));
        MissIf(true, 0);
        loaded_ = kNothing;
        return;
    }
  }

  Code code_;
  std::vector<std::pair<size_t, bool>> misses_;
  Loaded loaded_ = kNothing;
  bool done_ = false;
  bool fits_ = true;
};

// What happens from a number on, up to the next range.
struct Range {
  uint32_t from;
  bool is_block;
  uint32_t what;  // an action, or the number of a block
  bool Same(const Range& other) const { return is_block == other.is_block && what == other.what; }
};

class Search {
 public:
  explicit Search(const std::vector<Range>& ranges) : ranges_(ranges) {}
  // Appends the search; `jumps` are the instructions that go to a block, and to which.
  void Emit(size_t first, size_t last, Code* code,
            std::vector<std::pair<size_t, uint32_t>>* jumps) const {
    if (last - first == 1) {
      const Range& range = ranges_[first];
      if (range.is_block) jumps->emplace_back(code->size(), range.what);
      code->push_back(range.is_block ? Jump(0) : Return(range.what));
      return;
    }
    const size_t middle = (first + last) / 2;
    const size_t below = Size(first, middle);
    if (below <= kFarthest) {
      code->push_back(IfAtLeast(ranges_[middle].from, static_cast<uint8_t>(below), 0));
    } else {
      code->push_back(IfAtLeast(ranges_[middle].from, 0, 1));
      code->push_back(Jump(static_cast<uint32_t>(below)));
    }
    Emit(first, middle, code, jumps);
    Emit(middle, last, code, jumps);
  }

 private:
  size_t Size(size_t first, size_t last) const {
    if (last - first == 1) return 1;
    const size_t middle = (first + last) / 2;
    const size_t below = Size(first, middle);
    return (below <= kFarthest ? 1 : 2) + below + Size(middle, last);
  }
  const std::vector<Range>& ranges_;
};

}  // namespace

std::string Assemble(const std::vector<Rule>& rules, const Actions& actions) {
  std::map<uint32_t, Block> calls;
  for (const Rule& rule : rules) {
    if (rule.number < 0) continue;
    Block& block = calls[static_cast<uint32_t>(rule.number)];
    if (!block.done()) block.Add(rule);
  }
  std::vector<Code> blocks;
  std::vector<Range> ranges = {{0, false, actions.otherwise}};
  const auto add = [&ranges](const Range& range) {
    if (ranges.back().from == range.from) ranges.pop_back();
    if (ranges.empty() || !ranges.back().Same(range)) ranges.push_back(range);
  };
  for (auto& [number, call] : calls) {
    if (!call.fits()) return "";
    Code code = call.Finish(actions.otherwise);
    if (code.size() == 1) {
      add({number, false, code[0].k});
    } else {
      uint32_t which = 0;
      const auto same = [&code](const Code& other) {
        return code.size() == other.size() &&
               __builtin_memcmp(code.data(), other.data(), code.size() * sizeof(code[0])) == 0;
      };
      while (which < blocks.size() && !same(blocks[which])) ++which;
      if (which == blocks.size()) blocks.push_back(std::move(code));
      add({number, true, which});
    }
    add({number + 1, false, actions.otherwise});
  }

  Code program = {Load(offsetof(seccomp_data, arch)), IfEqual(kArch, 1, 0), Return(actions.foreign),
                  Load(offsetof(seccomp_data, nr))};
  if (kArch == AUDIT_ARCH_X86_64) {
    // -1 is how a tracer skips a call: it is of no ABI.
    for (const sock_filter& step : {IfAtLeast(kX32, 0, 3), IfEqual(~uint32_t{0}, 1, 0),
                                    Return(actions.foreign), Return(actions.otherwise)}) {
      program.push_back(step);
    }
  }
  std::vector<std::pair<size_t, uint32_t>> jumps;
  Search(ranges).Emit(0, ranges.size(), &program, &jumps);
  std::vector<size_t> starts;
  for (const Code& block : blocks) {
    starts.push_back(program.size());
    program.insert(program.end(), block.begin(), block.end());
  }
  for (const auto& [at, block] : jumps) {
    program[at].k = static_cast<uint32_t>(starts[block] - at - 1);
  }
  return {reinterpret_cast<const char*>(program.data()), program.size() * sizeof(program[0])};
}

}  // namespace berth::seccomp
