// The whole table: each combination of facts against rules that are written down as rows of text,
// in another way than the code has them. The first row that fits tells the verdict.

#include "reaper/decide.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"

namespace berth::reaper {
namespace {

using ::testing::ElementsAre;

// Columns, each one letter; '.' fits all, "ab" fits a or b.
//   chosen     y n
//   install    o(urs) f(oreign)
//   place      t(his boot) e(arlier boot) h(other host) u(nknown)
//   us         y n
//   kind       d(urable, started) m(ortal: ephemeral or not started)
//   lease      h(eld) f(ree) m(issing) u(nknown)
//   owner      a(live) d(ead) u(nknown)
//   keeper     n(one) a d u
//   main       n a d u
//   engine     n a d u
//   remains    y n
//   forget     y n
constexpr absl::string_view kRules[] = {
    // chosen install place us kind lease owner keeper main engine remains forget
    "n . . . . . . . . . . .  keep",   // not asked for
    ". f . . . . . . . . . .  keep",   // not ours
    ". . h . . . . . . . . .  keep",   // not here
    ". . u . . . . . . . . .  doubt",  // perhaps here
    ". . . y . . . . . . . .  doubt",  // we would end ourselves
    // What ends with its owner, whose death takes both proofs.
    ". . . . m h a . . . . .  keep",
    ". . . . m h du . . . . .  doubt",
    ". . . . m u . . . . . .  doubt",
    ". . . . m fm au . . . . .  doubt",
    ". . . . m fm d . . u . .  keep",
    ". . . . m fm d u . nad . .  doubt",
    ". . . . m fm d nad u nad . .  doubt",
    ". . . . m fm d nad nad nad . .  reap",
    // What outlives its owner: lease and owner tell nothing.
    ". . . . d . . d a . . .  doubt",
    ". . . . d . . a . . . .  keep",
    ". . . . d . . nu a . . .  keep",
    ". . . . d . . . . a . .  keep",
    ". . . . d . . u . . . .  keep",
    ". . . . d . . . u . . .  keep",
    ". . . . d . . . . u . .  keep",
    ". . . . d . . n n n . .  keep",
    ". . . . d . . . . . . y  reap",
    ". . . . d . . . . . y n  clear",
    ". . . . d . . . . . n n  keep",
};

struct Rule {
  std::vector<std::string> columns;
  std::string verdict;
};

std::vector<Rule> Rules() {
  std::vector<Rule> rules;
  for (const absl::string_view text : kRules) {
    std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    Rule rule;
    rule.verdict = words.back();
    words.pop_back();
    rule.columns = std::move(words);
    rules.push_back(std::move(rule));
  }
  return rules;
}

char Letter(Presence presence) { return "nadu"[static_cast<int>(presence)]; }

std::string Row(const Facts& f) {
  std::string row;
  row += f.chosen ? 'y' : 'n';
  row += f.our_install ? 'o' : 'f';
  row += "tehu"[static_cast<int>(f.place)];
  row += f.holds_us ? 'y' : 'n';
  row += f.durable && f.started ? 'd' : 'm';
  row += "hfmu"[static_cast<int>(f.lease)];
  row += "adu"[static_cast<int>(f.owner)];
  row += Letter(f.keeper);
  row += Letter(f.main);
  row += Letter(f.engine);
  row += f.remains ? 'y' : 'n';
  row += f.forgettable ? 'y' : 'n';
  return row;
}

// The index of the first rule that fits; -1 if none does.
int FirstRule(const std::vector<Rule>& rules, const std::string& row) {
  for (size_t r = 0; r < rules.size(); ++r) {
    bool fits = true;
    for (size_t c = 0; c < row.size() && fits; ++c) {
      const std::string& column = rules[r].columns[c];
      fits = column == "." || absl::StrContains(column, row[c]);
    }
    if (fits) return static_cast<int>(r);
  }
  return -1;
}

template <typename Visit>
void ForEveryCombination(Visit visit) {
  Facts f;
  constexpr bool kBoth[] = {false, true};
  constexpr Presence kPresences[] = {Presence::kNone, Presence::kAlive, Presence::kDead,
                                     Presence::kUnknown};
  for (f.chosen = true;; f.chosen = false) {
    for (f.our_install = true;; f.our_install = false) {
      for (const Place place :
           {Place::kThisBoot, Place::kEarlierBoot, Place::kOtherHost, Place::kUnknown}) {
        f.place = place;
        for (const bool holds_us : kBoth) {
          f.holds_us = holds_us;
          for (const LeaseState lease :
               {LeaseState::kHeld, LeaseState::kFree, LeaseState::kMissing, LeaseState::kUnknown}) {
            f.lease = lease;
            for (const Liveness owner : {Liveness::kAlive, Liveness::kDead, Liveness::kUnknown}) {
              f.owner = owner;
              for (int bits = 0; bits < 16; ++bits) {
                f.durable = (bits & 1) != 0;
                f.started = (bits & 2) != 0;
                f.remains = (bits & 4) != 0;
                f.forgettable = (bits & 8) != 0;
                for (const Presence keeper : kPresences) {
                  f.keeper = keeper;
                  for (const Presence main : kPresences) {
                    f.main = main;
                    for (const Presence engine : kPresences) {
                      f.engine = engine;
                      visit(f);
                    }
                  }
                }
              }
            }
          }
        }
      }
      if (!f.our_install) break;
    }
    if (!f.chosen) break;
  }
}

TEST(Decide, IsWhatTheRulesSayForEveryCombinationOfFacts) {
  const std::vector<Rule> rules = Rules();
  for (const Rule& rule : rules) ASSERT_EQ(rule.columns.size(), 12u) << rule.verdict;
  std::vector<int> used(rules.size());
  int rows = 0, wrong = 0;
  ForEveryCombination([&](const Facts& facts) {
    ++rows;
    const std::string row = Row(facts);
    const int rule = FirstRule(rules, row);
    const Decision decision = Decide(facts);
    if (rule < 0 || rules[static_cast<size_t>(rule)].verdict != VerdictName(decision.verdict)) {
      if (++wrong <= 10) {
        ADD_FAILURE() << row << " (rule " << rule << "): " << VerdictName(decision.verdict) << ": "
                      << absl::StrJoin(decision.because, "; ");
      }
      return;
    }
    ++used[static_cast<size_t>(rule)];
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(rows, 2 * 2 * 4 * 2 * 4 * 3 * 16 * 64);
  for (size_t r = 0; r < rules.size(); ++r) {
    EXPECT_GT(used[r], 0) << "a rule that nothing needs: " << kRules[r];
  }
}

// What must hold whatever the rules say.
TEST(Decide, NeverActsOnWhatIsNotKnown) {
  ForEveryCombination([](const Facts& f) {
    const Decision decision = Decide(f);
    if (decision.because.empty()) FAIL() << Row(f) << ": without a reason";
    if (decision.verdict != Verdict::kReap && decision.verdict != Verdict::kClear) return;
    const bool mortal = !f.durable || !f.started;
    const bool owner_dead = f.owner == Liveness::kDead &&
                            (f.lease == LeaseState::kFree || f.lease == LeaseState::kMissing);
    if (!f.chosen || !f.our_install || f.holds_us || f.place == Place::kOtherHost ||
        f.place == Place::kUnknown || f.keeper == Presence::kUnknown ||
        f.main == Presence::kUnknown || f.engine == Presence::kUnknown || (mortal && !owner_dead) ||
        (!mortal && (f.keeper == Presence::kAlive || f.main == Presence::kAlive ||
                     f.engine == Presence::kAlive))) {
      FAIL() << Row(f) << ": " << VerdictName(decision.verdict);
    }
    if (decision.verdict == Verdict::kClear && mortal) FAIL() << Row(f);
  });
}

// The rows that people ask about.
TEST(Decide, ReapsAnEphemeralSessionOfADeadOwner) {
  const Decision decision = Decide({.lease = LeaseState::kFree,
                                    .owner = Liveness::kDead,
                                    .keeper = Presence::kAlive,
                                    .main = Presence::kAlive});
  EXPECT_EQ(decision.verdict, Verdict::kReap);
  EXPECT_THAT(decision.because,
              ElementsAre("it is to end with its owner",
                          "its owner is gone: nobody holds the lease, and the process has ended",
                          "nobody needs it"));
}

TEST(Decide, ReapsAStartThatItsOwnerDidNotLiveToFinish) {
  EXPECT_EQ(Decide({.lease = LeaseState::kMissing,
                    .owner = Liveness::kDead,
                    .durable = true,
                    .started = false})
                .verdict,
            Verdict::kReap);
}

TEST(Decide, DoubtsAnOwnerWhosePidIsAnothersWhileItsLeaseIsHeld) {
  EXPECT_EQ(Decide({.lease = LeaseState::kHeld, .owner = Liveness::kDead}).verdict,
            Verdict::kDoubt);
}

TEST(Decide, KeepsADurableSessionOfADeadOwner) {
  EXPECT_EQ(Decide({.lease = LeaseState::kFree,
                    .owner = Liveness::kDead,
                    .durable = true,
                    .keeper = Presence::kAlive,
                    .main = Presence::kDead,
                    .remains = true})
                .verdict,
            Verdict::kKeep);
}

TEST(Decide, ClearsWhatADurableSessionLeftAndKeepsItsRecord) {
  EXPECT_EQ(Decide({.lease = LeaseState::kMissing,
                    .owner = Liveness::kDead,
                    .durable = true,
                    .keeper = Presence::kDead,
                    .main = Presence::kDead,
                    .remains = true})
                .verdict,
            Verdict::kClear);
}

TEST(Decide, KeepsADurableSessionOfAnEarlierBootUntilItMayBeForgotten) {
  Facts facts{.place = Place::kEarlierBoot,
              .lease = LeaseState::kMissing,
              .owner = Liveness::kDead,
              .durable = true,
              .keeper = Presence::kDead,
              .main = Presence::kDead};
  EXPECT_EQ(Decide(facts).verdict, Verdict::kKeep);
  facts.forgettable = true;
  EXPECT_EQ(Decide(facts).verdict, Verdict::kReap);
}

TEST(Decide, DoesNothingWhileAnEngineDoesNotAnswer) {
  EXPECT_EQ(
      Decide({.lease = LeaseState::kFree, .owner = Liveness::kDead, .engine = Presence::kUnknown})
          .verdict,
      Verdict::kKeep);
}

}  // namespace
}  // namespace berth::reaper
