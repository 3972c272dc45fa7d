// Toy: an agent that there is not, as docs/agents.md shows how to add one.
//
//   toy run --json [--session ID]     {"event":"hello","session":"t-1"}
//                                     {"event":"say","id":"m1","text":"…","tokens":{"in":9,"out":2}}
//                                     {"event":"bye","failed":false}
#include "runtime/agent/toy_driver.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/json_line.h"

namespace berth {
namespace {

using agent_json::Bool;
using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

class ToyParser final : public AgentParser {
 public:
  void Parse(absl::string_view line, std::vector<AgentEvent>* events) override {
    const Json json = agent_json::Parse(line);  // whatever it is, nothing below fails
    AgentEvent& event = events->emplace_back();
    const absl::string_view kind = Text(json, "event");
    if (kind == "hello") {
      event.kind = AgentEvent::Kind::kStarted;
      event.session_id = Text(json, "session");
    } else if (kind == "say") {
      event.kind = AgentEvent::Kind::kText;
      event.text = Text(json, "text");
      event.new_turn = true;
      last_text_ = event.text;
      AgentEvent& usage = events->emplace_back();  // `event` is not valid after this
      usage.kind = AgentEvent::Kind::kUsage;
      usage.message_id = Text(json, "id");
      usage.usage.input = Count(Get(json, "tokens"), "in");
      usage.usage.output = Count(Get(json, "tokens"), "out");
    } else if (kind == "bye") {
      event.kind = AgentEvent::Kind::kResult;
      event.text = last_text_;
      event.is_error = Bool(json, "failed");
    }
  }

 private:
  std::string last_text_;
};

}  // namespace

const AgentDriver& ToyDriver() {
  static const AgentDriver* const driver =
      new AgentDriver{.name = "toy",
                      .program = "toy",
                      .before = {"run", "--json"},
                      .resume = {"--session", "{session}"},
                      .resume_refused = "(?i)no such session",
                      .make_parser = []() -> std::unique_ptr<AgentParser> {
                        return std::make_unique<ToyParser>();
                      }};
  return *driver;
}

}  // namespace berth
