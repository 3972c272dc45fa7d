#include <unistd.h>

#include "tests/toolchain/greeting.h"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "an unsanitized_static_binary has no exceptions and no RTTI"
#endif

int main() {
  if (berth::GreetingIsInstrumented()) return 3;
  const std::string_view text = berth::Greeting();
  return write(1, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
}
