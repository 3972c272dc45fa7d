// The second start in a dev shell, from the request to the known exit of `true`: as a session, and
// as one more process of an environment; beside the same without a dev shell, and beside `nix
// develop --command true`, on a Nix of its own (a store with one small derivation; no nixpkgs,
// whose evaluation would make nix slower still). In turns.
//
//   tools/bazel run --config=opt //runtime/nix/benchmark:nix_benchmark -- [--fifo] [rounds]

#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/env.h"
#include "runtime/environment.h"
#include "runtime/native/benchmark/samples.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/nix/nix_store.h"

namespace berth {
namespace {

double Microseconds(const std::function<void()>& what) {
  const absl::Time began = absl::Now();
  what();
  return absl::ToDoubleMicroseconds(absl::Now() - began);
}

void Main(int rounds) {
  char dir[] = "/tmp/berth-bench-XXXXXX";
  CHECK(mkdtemp(dir) != nullptr);
  const std::string nix = *FindNix();  // before the store puts one that counts in its place
  {
    const NixStore store(dir);
    const std::string plain = store.MakeFlake("plain", "{ V = \"v\"; }");
    const std::string hooked = store.MakeFlake("hooked", "{ shellHook = \"export V=v\"; }");
    auto runtime = Runtime::Create({.state_dir = absl::StrCat(dir, "/state")});
    CHECK(runtime.ok()) << runtime.status();
    const auto run = [&](const std::string& backend, const std::string& flake) {
      auto session = (*runtime)->CreateSession({.name = "bench",
                                                .backend = backend,
                                                .command = Command::Argv({"true"}),
                                                .pty = false,
                                                .nix = {.flake = flake}});
      CHECK(session.ok()) << session.status();
      CHECK((*session)->Wait(absl::Now() + absl::Minutes(1)).ok());
      return *std::move(session);
    };
    const auto sample = [&](const std::string& backend, const std::string& flake) {
      std::unique_ptr<Session> session;
      const double took = Microseconds([&] { session = run(backend, flake); });
      CHECK(session->Destroy(absl::ZeroDuration()).ok());  // not counted
      return took;
    };
    sample("nix", plain);  // the first start of each evaluates
    sample("nix", hooked);

    Environment native_place(runtime->get(), {.name = "n", .backend = "native"});
    Environment nix_place(runtime->get(), {.name = "x", .backend = "nix", .nix = {.flake = plain}});
    CHECK(native_place.Init().ok() && nix_place.Init().ok());
    const auto exec = [&](Environment& place) {
      return Microseconds([&] {
        CHECK(place.Run({.command = Command::Argv({"true"})}, absl::Now() + absl::Minutes(1)).ok());
      });
    };
    // Or nix would look for a registry in a network that is not there, for seconds.
    Env offline = Env::Inherit();
    offline.Set("NIX_CONFIG", absl::StrCat("experimental-features = nix-command flakes\n",
                                           "flake-registry = ", dir, "/conf/registry.json\n"));
    Samples native("native session"), second("nix session, again"),
        with_hook("the same, with a shell hook"), native_process("process in a native environment"),
        nix_process("process in a nix environment"), develop("nix develop");
    for (int i = 0; i < rounds; ++i) {
      native.Add(sample("native", ""));
      second.Add(sample("nix", plain));
      with_hook.Add(sample("nix", hooked));
      native_process.Add(exec(native_place));
      nix_process.Add(exec(nix_place));
      develop.Add(Microseconds([&] {
        auto process = (*runtime)->Spawn(
            {.command = Command::Argv({nix, "develop", plain, "--command", "true"}),
             .env = offline});
        CHECK(process.ok()) << process.status();
        CHECK((*process)->Wait(absl::Now() + absl::Minutes(1))->success());
      }));
    }
    Samples::PrintHeader("start of `true`, microseconds", "nix develop");
    for (const Samples* each :
         {&develop, &native, &second, &with_hook, &native_process, &nix_process}) {
      each->Print(develop);
    }
    CHECK(native_place.Shutdown(absl::ZeroDuration()).ok());
    CHECK(nix_place.Shutdown(absl::ZeroDuration()).ok());
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  int rounds = 50;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--fifo") {
      CHECK(berth::UseFifo()) << "--fifo needs root";
    } else {
      rounds = atoi(argv[i]);
    }
  }
  berth::Main(rounds);
}
