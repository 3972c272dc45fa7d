// From rules about system calls to the program that the kernel runs at each of them.
//
// The program is a binary search over ranges of numbers with one outcome, and a few comparisons for
// the calls whose arguments matter. (libseccomp, which the tests compare it with, has a leaf for
// each number and no "all values but these": for our rules that is a program of twice the size,
// which takes the kernel longer to load at each start, and 14 ms to make.)
#ifndef BERTH_SANDBOX_SECCOMP_PROGRAM_H_
#define BERTH_SANDBOX_SECCOMP_PROGRAM_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace berth::seccomp {

struct Condition {
  enum class Kind : uint8_t {
    kMasked,   // its lower half, masked, is `value`; the kernel looks at no more of such arguments
    kNotIn,    // its lower half is none of `values`
    kNull,     // all of it is 0
    kNotNull,  // it is not
  };
  Kind kind = Kind::kMasked;
  unsigned argument = 0;
  uint32_t value = 0, mask = 0xffffffff;
  std::vector<uint32_t> values = {};
};

struct Rule {
  int number = -1;
  uint32_t action = 0;                     // SECCOMP_RET_*
  std::vector<Condition> conditions = {};  // all must hold
};

struct Actions {
  uint32_t otherwise = 0;  // no rule of the call holds, or it has none
  uint32_t foreign = 0;    // of another ABI
};

// An array of sock_filter. Of the rules of one call the first that holds counts. "" if a rule has
// more conditions than a program can test (some hundred).
std::string Assemble(const std::vector<Rule>& rules, const Actions& actions);

}  // namespace berth::seccomp

#endif  // BERTH_SANDBOX_SECCOMP_PROGRAM_H_
