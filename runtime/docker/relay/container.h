// What a relay asks of the engine: the container's streams, its start, its end.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_CONTAINER_H_
#define BERTH_RUNTIME_DOCKER_RELAY_CONTAINER_H_

#include <string>
#include <utility>

#include "runtime/docker/relay/http.h"
#include "sandbox/base/unique_fd.h"

namespace berth::relay {

struct End {
  int code = 0, signal = 0;
  bool oom = false, stopped = false;
  int reason = 0;  // EndReason of runtime/types.h, for a limit that was reached; or kNobodySaw
};
// A code that nobody vouches for.
inline constexpr int kNobodySaw = -1;

class Container {
 public:
  // `address` as Connect takes it, `version` as "/v1.44".
  Container(std::string address, std::string version, std::string id)
      : address_(std::move(address)), version_(std::move(version)), id_(std::move(id)) {}

  // The streams of its main process, before or after its start. An answer that is no stream says
  // why in its body; what came early is there otherwise.
  Answer Attach(UniqueFd* stream);
  // 204, or 304 if it runs already.
  Answer Start();
  // One more process of its own: the inside, for an exec. As Attach.
  Answer Exec(UniqueFd* stream);
  void Kill(const char* signal);
  void Remove();

  // Waits until it, or the exec, has ended, and completes *end, of which the inside has told all
  // but want of memory if `told`. False if the engine does not answer, which says nothing of it.
  bool AskForEnd(bool told, End* end);

 private:
  std::string At(const std::string& rest) const { return version_ + "/containers/" + id_ + rest; }

  const std::string address_, version_, id_;
  std::string exec_;  // "": this is about the main process
};

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_CONTAINER_H_
