// What an agent is to do, where, and how far.

#include <stddef.h>
#include <stdint.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/agent_objects.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/agent/context.h"

namespace berth::capi {
namespace {

struct AgentContextObject {
  static constexpr Kind kKind = Kind::kAgentContext;
  AgentContext context;
  absl::Status error;
};

absl::StatusOr<std::string*> TextOf(AgentContext& context, int32_t field) {
  switch (field) {
    case BERTH_AGENT_PROMPT:
      return &context.prompt;
    case BERTH_AGENT_COMMAND:
      return &context.command;
    case BERTH_AGENT_RESUME:
      return &context.resume;
    case BERTH_AGENT_COLD_PROMPT:
      return &context.cold_prompt;
    case BERTH_AGENT_STORY_ID:
      return &context.story_id;
    case BERTH_AGENT_NAME:
      return &context.agent_name;
    case BERTH_AGENT_API_URL:
      return &context.api.url;
    case BERTH_AGENT_API_MODEL:
      return &context.api.model;
    case BERTH_AGENT_API_KEY:
      return &context.api.key;
    case BERTH_AGENT_API_SYSTEM:
      return &context.api.system;
    case BERTH_AGENT_STATE_DIR:
      return &context.state_dir;
  }
  return NoSuch("text of an agent", field);
}

absl::StatusOr<absl::Duration*> TimeOf(AgentContext& context, int32_t which) {
  switch (which) {
    case BERTH_AGENT_INACTIVITY:
      return &context.inactivity;
    case BERTH_AGENT_RESULT_GRACE:
      return &context.result_grace;
    case BERTH_AGENT_STOP_GRACE:
      return &context.stop_grace;
    case BERTH_AGENT_LONGEST_RATE_LIMIT:
      return &context.longest_rate_limit;
    case BERTH_AGENT_HTTP_TIMEOUT:
      return &context.http.request_timeout;
    case BERTH_AGENT_HTTP_FIRST_PAUSE:
      return &context.http.first_pause;
    case BERTH_AGENT_HTTP_LONGEST_PAUSE:
      return &context.http.longest_pause;
  }
  return NoSuch("time of an agent", which);
}

absl::Status SetSize(AgentContext& context, int32_t which, int64_t size) {
  switch (which) {
    case BERTH_AGENT_MAX_LINE:
      context.max_line = static_cast<size_t>(size);
      return absl::OkStatus();
    case BERTH_AGENT_MAX_EVENTS:
      context.fan_out.max_events = static_cast<size_t>(size);
      return absl::OkStatus();
    case BERTH_AGENT_MAX_BYTES:
      context.fan_out.max_bytes = static_cast<size_t>(size);
      return absl::OkStatus();
    case BERTH_AGENT_HTTP_RETRIES:
      if (size > std::numeric_limits<int>::max()) break;
      context.http.max_retries = static_cast<int>(size);
      return absl::OkStatus();
    case BERTH_AGENT_HTTP_MAX_BODY:
      context.http.max_body = static_cast<size_t>(size);
      return absl::OkStatus();
  }
  return NoSuch("size of an agent", which);
}

template <typename Body>
int32_t With(const berth_agent_context* context, Body&& body) {
  return Change<AgentContextObject>(
      context, [&](AgentContextObject& object) -> absl::Status { return body(object.context); });
}

}  // namespace

absl::StatusOr<AgentContext> GetAgentContext(const berth_agent_context* context) {
  ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentContextObject>(context, "context"));
  ABSL_RETURN_IF_ERROR(object->error);
  return object->context;
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::AgentContext;

int32_t berth_agent_context_new(berth_agent_context** context, const char* agent, size_t agent_size,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(context, "context"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view name, Text(agent, agent_size, "agent"));
    auto object = std::make_shared<AgentContextObject>();
    object->context.agent = std::string(name);
    return Put(std::move(object), context);
  });
}

void berth_agent_context_free(berth_agent_context* context) {
  Handles::Remove<AgentContextObject>(context);
}

int32_t berth_agent_context_set_text(berth_agent_context* context, int32_t field, const char* text,
                                     size_t text_size) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(std::string * place, TextOf(it, field));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view bytes, Text(text, text_size, "text"));
    *place = std::string(bytes);
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_add_arg(berth_agent_context* context, const char* arg,
                                    size_t arg_size) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view bytes, Text(arg, arg_size, "arg"));
    it.args.emplace_back(bytes);
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_place(berth_agent_context* context,
                                      const berth_session_spec* place) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(it.place, GetSpec(place));
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_mcp_port(berth_agent_context* context, uint16_t port) {
  return With(context, [&](AgentContext& it) {
    it.mcp_port = port;
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_budget(berth_agent_context* context, int64_t turns, double cost_usd,
                                       int64_t wall_ms) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    if (turns < 0 || !std::isfinite(cost_usd) || cost_usd < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a budget of ", turns, " turns and ", cost_usd, " dollars"));
    }
    ABSL_ASSIGN_OR_RETURN(it.budget.wall, Milliseconds(wall_ms, true, "wall_ms"));
    it.budget.turns = turns;
    it.budget.cost_usd = cost_usd;
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_prices(berth_agent_context* context, double input, double output,
                                       double cache_creation, double cache_read) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    for (const double price : {input, output, cache_creation, cache_read}) {
      if (!std::isfinite(price) || price < 0) {
        return absl::InvalidArgumentError(absl::StrCat("a price of ", price));
      }
    }
    it.budget.prices = {.input = input,
                        .output = output,
                        .cache_creation = cache_creation,
                        .cache_read = cache_read};
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_time(berth_agent_context* context, int32_t which, int64_t ms) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(absl::Duration * time, TimeOf(it, which));
    ABSL_ASSIGN_OR_RETURN(*time, Milliseconds(ms, which == BERTH_AGENT_INACTIVITY, "ms"));
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_size(berth_agent_context* context, int32_t which, int64_t size) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    if (size < 0) return absl::InvalidArgumentError(absl::StrCat("a size of ", size));
    return SetSize(it, which, size);
  });
}

int32_t berth_agent_context_set_flags(berth_agent_context* context, uint32_t flags) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    if ((flags & ~(BERTH_AGENT_MAY_START_THREAD | BERTH_AGENT_STOP_WHEN_WAITING |
                   BERTH_AGENT_NO_REDACTION)) != 0) {
      return NoSuch("set of agent flags", flags);
    }
    it.may_start_thread = (flags & BERTH_AGENT_MAY_START_THREAD) != 0;
    it.stop_when_waiting = (flags & BERTH_AGENT_STOP_WHEN_WAITING) != 0;
    it.redact.defaults = (flags & BERTH_AGENT_NO_REDACTION) == 0;
    return absl::OkStatus();
  });
}

int32_t berth_agent_context_set_redactions(berth_agent_context* context,
                                           const berth_strings* patterns,
                                           const berth_strings* values) {
  return With(context, [&](AgentContext& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(auto forms, GetStringsOrNone(patterns, "patterns"));
    ABSL_ASSIGN_OR_RETURN(auto secrets, GetStringsOrNone(values, "values"));
    it.redact.patterns = std::move(forms);
    it.redact.values = std::move(secrets);
    return absl::OkStatus();
  });
}
