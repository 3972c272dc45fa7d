// Every parser on any bytes, cut into pieces at any place: no line is lost, each gives an event,
// the same events however the bytes were cut, and tallies that never shrink.
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/line_splitter.h"
#include "runtime/agent/usage.h"

namespace {

struct Outcome {
  size_t lines = 0;
  std::vector<berth::AgentEvent> events;
};

Outcome Run(const berth::AgentDriver& driver, absl::string_view text, size_t piece, size_t limit) {
  Outcome outcome;
  const std::unique_ptr<berth::AgentParser> parser = driver.make_parser();
  berth::LineSplitter splitter(limit);
  berth::UsageTally tally;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    splitter.Feed(text.substr(0, piece), [&](const berth::LineSplitter::Line& line) {
      ++outcome.lines;
      if (limit != 0 && line.text.size() > limit) abort();
      const size_t before = outcome.events.size();
      parser->Parse(line.text, &outcome.events);
      if (outcome.events.size() == before) abort();
      for (size_t i = before; i < outcome.events.size(); ++i) {
        const berth::Usage old = tally.total();
        tally.Add(outcome.events[i].message_id, outcome.events[i].usage);
        if (tally.total().input < old.input || tally.total().output < old.output) abort();
      }
    });
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the driver and the pieces.
  const berth::AgentDriver* const drivers[] = {&berth::ClaudeDriver(), &berth::CodexDriver(),
                                               &berth::GeminiDriver()};
  const berth::AgentDriver& driver = *drivers[data[0] % 3];
  const size_t piece = size_t{1} + data[0] / 3;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Run(driver, text, size, 0), pieces = Run(driver, text, piece, 0);
  if (whole.lines != pieces.lines || whole.events.size() != pieces.events.size()) abort();
  for (size_t i = 0; i < whole.events.size(); ++i) {
    if (whole.events[i].kind != pieces.events[i].kind) abort();
    if (whole.events[i].text != pieces.events[i].text) abort();
  }
  if (Run(driver, text, piece, 40).lines != whole.lines) abort();
  return 0;
}
