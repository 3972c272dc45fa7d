#pragma once

#include <string_view>

namespace berth {

// What greeter prints. In a library of its own, so that the test sees whether deps are built
// unsanitized too.
std::string_view Greeting();

// Whether the library was compiled with a sanitizer or without optimisation.
bool GreetingIsInstrumented();

}  // namespace berth
