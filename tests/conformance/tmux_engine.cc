#include <memory>
#include <string>

#include "tests/conformance/engine.h"

namespace berth {
namespace {

// Each state directory starts a server of its own.
class TmuxEngine final : public Engine {
 public:
  std::string backend() const override { return "tmux"; }
};

}  // namespace

std::unique_ptr<Engine> MakeEngine() { return std::make_unique<TmuxEngine>(); }

}  // namespace berth
