#include "tests/support/actor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

std::map<std::string, Actor::Body>& Actors() {
  static auto* actors = new std::map<std::string, Actor::Body>;
  return *actors;
}

std::string Self() {
  const char* self = getenv("BERTH_TEST_SELF");
  return self != nullptr ? self : "/proc/self/exe";
}

}  // namespace

Actor::Actor(const char* name, Body body) { Actors()[name] = body; }

int RunActor(const std::vector<std::string>& command) {
  const auto it = Actors().find(command[0]);
  if (it == Actors().end()) return 126;
  return it->second({command.begin() + 1, command.end()});
}

std::vector<std::string> ActorCommand(std::vector<std::string> command) {
  command.insert(command.begin(), {Self(), "act"});
  return command;
}

std::string ActorLine(const std::string& command) { return absl::StrCat(Self(), " act ", command); }

void Report(const std::string& path, const std::string& line) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const std::string text = line + "\n";
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(97);
}

void StayForever() {
  while (true) pause();
}

}  // namespace berth
