#include "runtime/docker/relay/container.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <string>

namespace berth::relay {
namespace {

constexpr int kCallMs = 30000, kKillMs = 5000;

int NumberIn(const std::string& json, const char* key) {
  const size_t at = json.find(key);
  return at == std::string::npos ? -1 : atoi(json.c_str() + at + strlen(key));
}

}  // namespace

Answer Container::Attach(UniqueFd* stream) {
  return Upgrade(address_, At("/attach?stream=1&stdin=1&stdout=1&stderr=1"), "", kCallMs, stream);
}

Answer Container::Start() { return Request(address_, "POST", At("/start"), "", kCallMs); }

Answer Container::Exec(UniqueFd* stream) {
  const Answer made = Request(address_, "POST", At("/exec"),
                              R"({"AttachStdin":true,"AttachStdout":true,"AttachStderr":true,)"
                              R"("Cmd":["/.berth/inside","exec"]})",
                              kCallMs);
  // {"Id":"…"}
  const size_t at = made.body.find("\"Id\":\"");
  if (made.status != 201) return made;
  if (at == std::string::npos) return {0, "the engine gave no id"};
  exec_ = made.body.substr(at + 6, made.body.find('"', at + 6) - at - 6);
  if (exec_.empty() || exec_.find_first_not_of("0123456789abcdef") != std::string::npos)
    return {0, "the engine gave a malformed id"};
  return Upgrade(address_, version_ + "/exec/" + exec_ + "/start",
                 R"({"Detach":false,"Tty":false})", kCallMs, stream);
}

void Container::Kill(const char* signal) {
  Request(address_, "POST", At(std::string("/kill?signal=") + signal), "", kKillMs);
}

void Container::Remove() { Request(address_, "DELETE", At("?force=1&v=1"), "", kCallMs); }

// A key and its value cannot stand so in a string of JSON, whose quotes are escaped.
bool Container::AskForEnd(bool told, End* end) {
  const bool main = exec_.empty();
  const Answer answer = Request(
      address_, "GET", main ? At("/json") : version_ + "/exec/" + exec_ + "/json", "", kCallMs);
  if (answer.status == 404) {
    if (!told) *end = {0, SIGKILL, false, true, end->reason};  // removed with force
    return true;
  }
  if (answer.status != 200) return false;
  if (answer.body.find("\"Running\":true") != std::string::npos) {
    if (!main) return true;
    // Without a stream there is nothing to relay, but the end will be told.
    const Answer waited = Request(address_, "POST", At("/wait"), "", told ? kCallMs : 1 << 30);
    return waited.status == 200 && AskForEnd(told, end);
  }
  end->oom = answer.body.find("\"OOMKilled\":true") != std::string::npos;
  const int code = NumberIn(answer.body, "\"ExitCode\":");
  if (told || code < 0) return true;
  // The inside was killed: by the engine, for somebody, or for want of memory.
  end->signal = code > 128 && code <= 192 ? code - 128 : 0;
  end->code = end->signal != 0 ? 0 : code;
  end->stopped = end->signal != 0 && !end->oom;
  // What an engine says of a container that ended while it was away itself.
  if (code == 255 && end->reason == 0) end->reason = kNobodySaw;
  return true;
}

}  // namespace berth::relay
