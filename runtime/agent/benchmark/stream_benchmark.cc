// A Claude stream (64 MiB of lines of so many bytes) read in pieces of 256 KiB, four ways: split
// with memchr alone (the floor), split and parsed by the JSON library alone, turned into events,
// and turned into lines of the event log.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_json.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/agent/redact.h"

namespace {

constexpr size_t kStream = size_t{64} << 20;
constexpr size_t kPiece = size_t{256} << 10;

// An answer as one line per block, each message's usage three times, as Claude Code prints it.
std::string Stream(size_t line_bytes) {
  std::string stream;
  const std::string filler =
      std::string("The quick brown fox \\\"jumps\\\" over\\n the lazy dog. ");
  std::string text;
  while (text.size() < line_bytes) text += filler;
  text.resize(line_bytes > 320 ? line_bytes - 320 : 0);
  while (!text.empty() && text.back() == '\\') text.pop_back();
  for (int i = 0; stream.size() < kStream; ++i) {
    absl::StrAppend(
        &stream, R"({"type":"assistant","message":{"id":"msg_)", i / 3,
        R"(","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[)",
        i % 3 == 2 ? absl::StrCat(R"({"type":"tool_use","id":"toolu_)", i,
                                  R"(","name":"Write","input":{"content":")", text, "\"}}")
                   : absl::StrCat(R"({"type":"text","text":")", text, "\"}"),
        R"(],"usage":{"input_tokens":12,"cache_creation_input_tokens":400,)",
        R"("cache_read_input_tokens":9000,"output_tokens":100}},)",
        R"("parent_tool_use_id":null,"session_id":"0b6f1f6e"})", "\n");
  }
  return stream;
}

// Calls `line` for each line of the stream, as the pieces come.
template <typename Callback>
void ForLines(absl::string_view stream, Callback line) {
  berth::LineSplitter splitter(0);
  for (; !stream.empty(); stream.remove_prefix(std::min(kPiece, stream.size()))) {
    splitter.Feed(stream.substr(0, kPiece),
                  [&](const berth::LineSplitter::Line& each) { line(each.text); });
  }
}

void Report(benchmark::State& state, const std::string& stream, int64_t events) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(stream.size()));
  state.SetItemsProcessed(events);
}

void BM_Memchr(benchmark::State& state) {
  const std::string stream = Stream(static_cast<size_t>(state.range(0)));
  int64_t lines = 0;
  for (auto _ : state) {
    const char *at = stream.data(), *end = at + stream.size();
    while (at < end) {
      const void* next = memchr(at, '\n', static_cast<size_t>(end - at));
      if (next == nullptr) break;
      at = static_cast<const char*>(next) + 1;
      ++lines;
    }
  }
  Report(state, stream, lines);
}

void BM_Split(benchmark::State& state) {
  const std::string stream = Stream(static_cast<size_t>(state.range(0)));
  int64_t lines = 0;
  for (auto _ : state) ForLines(stream, [&](absl::string_view) { ++lines; });
  Report(state, stream, lines);
}

void BM_JsonAlone(benchmark::State& state) {
  const std::string stream = Stream(static_cast<size_t>(state.range(0)));
  int64_t lines = 0;
  for (auto _ : state) {
    ForLines(stream, [&](absl::string_view line) {
      benchmark::DoNotOptimize(
          nlohmann::json::parse(line.data(), line.data() + line.size(), nullptr, false));
      ++lines;
    });
  }
  Report(state, stream, lines);
}

void BM_Events(benchmark::State& state) {
  const std::string stream = Stream(static_cast<size_t>(state.range(0)));
  int64_t count = 0;
  for (auto _ : state) {
    const std::unique_ptr<berth::AgentParser> parser = berth::ClaudeDriver().make_parser();
    std::vector<berth::AgentEvent> events;
    ForLines(stream, [&](absl::string_view line) {
      parser->Parse(line, &events);
      events[0].raw = line;
      count += static_cast<int64_t>(events.size());
      events.clear();
    });
  }
  Report(state, stream, count);
}

void BM_EventsAndLog(benchmark::State& state) {
  const std::string stream = Stream(static_cast<size_t>(state.range(0)));
  const berth::Redactor redactor = *berth::Redactor::Create({});
  int64_t count = 0;
  for (auto _ : state) {
    const std::unique_ptr<berth::AgentParser> parser = berth::ClaudeDriver().make_parser();
    std::vector<berth::AgentEvent> events;
    ForLines(stream, [&](absl::string_view line) {
      parser->Parse(line, &events);
      events[0].raw = line;
      for (const berth::AgentEvent& event : events) {
        benchmark::DoNotOptimize(
            berth::AgentEventToJson(event, {.redactor = &redactor, .max_text = 256 << 10}));
      }
      count += static_cast<int64_t>(events.size());
      events.clear();
    });
  }
  Report(state, stream, count);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(500)->Arg(4 << 10)->Arg(1 << 20)->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_Memchr)->Apply(Sizes);
BENCHMARK(BM_Split)->Apply(Sizes);
BENCHMARK(BM_JsonAlone)->Apply(Sizes);
BENCHMARK(BM_Events)->Apply(Sizes);
BENCHMARK(BM_EventsAndLog)->Apply(Sizes);

}  // namespace
