#include <cstdio>
#include <string>

#include "absl/status/status_macros.h"
#include "runtime/runtime.h"

absl::Status Fix() {
  ABSL_ASSIGN_OR_RETURN(auto runtime, berth::Runtime::Create({}));
  berth::SessionSpec spec;
  spec.name = "fix-42";
  spec.command = berth::Command::Shell("read order; echo agent: $order");  // or "claude"
  ABSL_ASSIGN_OR_RETURN(auto session, runtime->CreateSession(spec));
  ABSL_RETURN_IF_ERROR(session->Send({.text = "run the tests"}).status());
  ABSL_ASSIGN_OR_RETURN(berth::ExitStatus end, session->Wait(absl::InfiniteFuture()));
  ABSL_ASSIGN_OR_RETURN(std::string screen, session->Capture({.lines = 10}));
  std::printf("%s%s\n", screen.c_str(), berth::Describe(end).c_str());
  return session->Destroy(absl::Seconds(5));
}

int main() { return Fix().ok() ? 0 : 1; }
