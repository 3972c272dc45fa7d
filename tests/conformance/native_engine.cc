#include <memory>
#include <string>

#include "tests/conformance/engine.h"

namespace berth {
namespace {

class NativeEngine final : public Engine {
 public:
  std::string backend() const override { return "native"; }
};

}  // namespace

std::unique_ptr<Engine> MakeEngine() { return std::make_unique<NativeEngine>(); }

}  // namespace berth
