// How fast a Screen takes output: bytes_per_second of each.
#include <string>

#include "benchmark/benchmark.h"
#include "sandbox/launcher/terminal/screen.h"

namespace berth::launcher {
namespace {

void Feed(benchmark::State& state, const std::string& unit) {
  std::string block;
  while (block.size() < 1 << 16) block += unit;
  Screen screen(24, 80);
  for (auto _ : state) screen.Feed(block);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * block.size()));
}

void BM_PlainLines(benchmark::State& state) {
  Feed(state, "a line of a log of the usual length, which is about sixty columns\r\n");
}
void BM_ColouredLines(benchmark::State& state) {
  Feed(state,
       "\x1b[32m+\x1b[m a line of a diff \x1b[1mwith\x1b[m some colour in it, sixty columns\r\n");
}
void BM_RedrawInPlace(benchmark::State& state) {
  Feed(state,
       "\x1b[H\x1b[2K\x1b[2m> \x1b[22mthinking\x1b[38;2;200;100;50m ...\x1b[m\x1b[2;1H\x1b[K");
}
void BM_WideCharacters(benchmark::State& state) {
  Feed(state, "漢字仮名交じり文の行はこのくらいの長さです\r\n");
}
void BM_IgnoredString(benchmark::State& state) {
  Feed(state, "\x1b_G" + std::string(4096, 'A') + "\x1b\\");
}

void BM_Capture(benchmark::State& state) {
  Screen screen(24, 80);
  for (int i = 0; i < 3000; ++i) screen.Feed("\x1b[32m+\x1b[m a line\r\n");
  for (auto _ : state)
    benchmark::DoNotOptimize(screen.Capture(static_cast<int>(state.range(0)), false));
}
void BM_Repaint(benchmark::State& state) {
  Screen screen(24, 80);
  for (int i = 0; i < 30; ++i) screen.Feed("\x1b[32m+\x1b[m a line\r\n");
  for (auto _ : state) benchmark::DoNotOptimize(screen.Repaint());
}

BENCHMARK(BM_PlainLines);
BENCHMARK(BM_ColouredLines);
BENCHMARK(BM_RedrawInPlace);
BENCHMARK(BM_WideCharacters);
BENCHMARK(BM_IgnoredString);
BENCHMARK(BM_Capture)->Arg(24)->Arg(0);
BENCHMARK(BM_Repaint);

}  // namespace
}  // namespace berth::launcher
