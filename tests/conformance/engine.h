// Engine: what the conformance suite must know of a backend to run on it. One is linked into each
// test binary: tests/conformance/<backend>_engine.cc defines MakeEngine.
#ifndef BERTH_TESTS_CONFORMANCE_ENGINE_H_
#define BERTH_TESTS_CONFORMANCE_ENGINE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/spec.h"

namespace berth {

// What a backend may lack. The call is then a typed Unimplemented: tests/conformance/features.cc is
// the one table of it.
enum class Feature {
  kPipes,      // SessionSpec::pty = false: stdin, stdout and stderr apart
  kRawOutput,  // OpenOutput gives the program's own bytes
  kEphemeral,
  kAttach,  // Session::Attach, a viewer's socket
  kExec,
  kLog,
  kLimits,  // wall_limit and inactivity_limit
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string backend() const = 0;
  // Starts what the backend talks to, once for the whole test binary. The destructor ends it.
  virtual absl::Status Start() { return absl::OkStatus(); }
  // Adds what a session of this backend needs, such as an image.
  virtual void Complete(SessionSpec*) const {}
  // Of things that are done many times: fewer where one start takes long.
  virtual int Rounds() const { return 50; }

  bool Has(Feature feature) const;
};

std::unique_ptr<Engine> MakeEngine();

}  // namespace berth

#endif  // BERTH_TESTS_CONFORMANCE_ENGINE_H_
