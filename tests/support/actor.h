// Actors: programs that tests have run as workloads or as hosts. They live in the test's own
// binary, so that they are there for whichever user it runs as, and come as `PROGRAM act NAME
// ARGUMENT…`.
//
//   const Actor kServe("serve", [](const std::vector<std::string>& args) { …; return 0; });
//   session = runtime->CreateSession({.name = "a", .command = Command::Argv(ActorCommand({"serve",
//   "80"}))});
#ifndef BERTH_TESTS_SUPPORT_ACTOR_H_
#define BERTH_TESTS_SUPPORT_ACTOR_H_

#include <string>
#include <vector>

namespace berth {

class Actor {
 public:
  using Body = int (*)(const std::vector<std::string>& args);
  // For a constant at namespace scope; `name` must be a literal.
  Actor(const char* name, Body body);
};

// `command[0]` is the actor's name. Returns its exit code.
int RunActor(const std::vector<std::string>& command);

// The same as an argv, and as words for a shell (arguments without quotes or spaces).
std::vector<std::string> ActorCommand(std::vector<std::string> command);
std::string ActorLine(const std::string& command);

// Appends one line to a file or fifo in one write.
void Report(const std::string& path, const std::string& line);

// Sleeps until killed.
[[noreturn]] void StayForever();

}  // namespace berth

#endif  // BERTH_TESTS_SUPPORT_ACTOR_H_
