// ApiEndpoint: where a model is asked, and as whom. Plain data.
#ifndef BERTH_RUNTIME_AGENT_API_ENDPOINT_H_
#define BERTH_RUNTIME_AGENT_API_ENDPOINT_H_

#include <string>

namespace berth {

struct ApiEndpoint {
  std::string url = {};  // "http://127.0.0.1:11434/v1", "https://gateway/v1beta"
  std::string model = {};
  std::string key = {};     // a secret: in no log
  std::string system = {};  // instructions that stand above the prompt
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_API_ENDPOINT_H_
