// What clients and name servers send, to each parser; a host that is found is in its one form.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <string>
#include <string_view>

#include "sandbox/network/allow_list.h"
#include "sandbox/network/dns.h"
#include "sandbox/network/host_name.h"
#include "sandbox/network/http_request.h"
#include "sandbox/network/lookup.h"
#include "sandbox/network/socks.h"

namespace berth::network {
namespace {

void CheckHost(const Host& host) {
  if (host.kind == Host::Kind::kInvalid) return;
  if (!(ParseHost(host.ToString()) == host)) abort();
}

void CheckHttp(std::string_view bytes) {
  const HttpRequest request = ReadHttpRequest(bytes);
  CheckHost(request.host);
  if (request.head_bytes > bytes.size()) abort();
  if (request.state != HttpRequest::State::kComplete || request.forward.empty()) return;
  // What the server gets has one head, and no line that we did not mean.
  if (request.forward.find("\r\n\r\n") != request.forward.size() - 4) abort();
  for (size_t i = 0; i < request.forward.size(); ++i) {
    if (request.forward[i] == '\n' && (i == 0 || request.forward[i - 1] != '\r')) abort();
  }
}

}  // namespace
}  // namespace berth::network

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth::network;  // NOLINT: the whole of it is under test
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckHost(ParseHost(bytes));
  AllowList list;
  list.Add(bytes);
  CheckHttp(bytes);
  if (ReadSocksGreeting(bytes).bytes > size || ReadSocksLogin(bytes).bytes > size) abort();
  const SocksRequest socks = ReadSocksRequest(bytes);
  CheckHost(socks.host);
  if (socks.bytes > size) abort();
  ReadResolvConf(bytes);
  const std::string question = DnsQuestion(0x6262, "a.example", false);
  ReadDnsAnswer(bytes, question);
  if (size > 2) {
    // As if it had come for the question that was asked.
    std::string answer = question.substr(0, question.size() - 11);
    answer[2] = '\x81';
    answer[7] = static_cast<char>(data[0]);
    ReadDnsAnswer(answer + std::string(bytes), question);
  }
  return 0;
}
