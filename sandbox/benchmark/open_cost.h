// What it costs a program to open a file under a policy: with and without telling of files.
#ifndef BERTH_SANDBOX_BENCHMARK_OPEN_COST_H_
#define BERTH_SANDBOX_BENCHMARK_OPEN_COST_H_

#include <string>

#include "sandbox/launcher/client.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth {

// First argument of a program that is to call MeasureOpens with the second.
inline constexpr char kOpensMode[] = "--measure_opens";

// Opens and closes the file often, and writes the ns of one time to stdout. Its exit code.
int MeasureOpens(const char* file);

// Starts this very program so, in that sandbox, which has to show it and the file.
double OpenCost(launcher::LauncherClient* client, const launcher::SandboxPlan& plan,
                const std::string& file);

// The path of this program.
std::string OwnProgram();

}  // namespace berth

#endif  // BERTH_SANDBOX_BENCHMARK_OPEN_COST_H_
