#include "sandbox/network/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::network {
namespace {

struct Block {
  uint8_t bytes[16];
  int bits;
};

bool IsIn(const uint8_t* address, const Block& block) {
  const int whole = block.bits / 8, rest = block.bits % 8;
  if (memcmp(address, block.bytes, static_cast<size_t>(whole)) != 0) return false;
  if (rest == 0) return true;
  return (address[whole] ^ block.bytes[whole]) >> (8 - rest) == 0;
}

// IANA's registries of special-purpose addresses: what is not globally reachable.
constexpr Block kSpecialV4[] = {
    {{0}, 8},
    {{10}, 8},
    {{100, 64}, 10},
    {{127}, 8},
    {{169, 254}, 16},
    {{172, 16}, 12},
    {{192, 0, 0}, 24},
    {{192, 0, 2}, 24},
    {{192, 88, 99}, 24},
    {{192, 168}, 16},
    {{198, 18}, 15},
    {{198, 51, 100}, 24},
    {{203, 0, 113}, 24},
    {{224}, 4},
    {{240}, 4},
};
// Only 2000::/3 is given out at all; these are the exceptions in it.
constexpr Block kGlobalV6 = {{0x20}, 3};
constexpr Block kSpecialV6[] = {
    {{0x20, 0x01}, 23},              // protocol assignments, Teredo among them
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x3f, 0xff}, 20},              // documentation
};
// Where an IPv4 address lies inside, from this byte on.
struct Embedding {
  Block block;
  int at;
};
constexpr Embedding kEmbeddings[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12},  // mapped
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},                    // NAT64
    {{{0x20, 0x02}, 16}, 2},                                 // 6to4
};

bool IsPublicV4(const uint8_t* bytes) {
  return std::none_of(std::begin(kSpecialV4), std::end(kSpecialV4),
                      [bytes](const Block& block) { return IsIn(bytes, block); });
}

}  // namespace

bool ParseAddress(std::string_view text, Address* address) {
  char copy[INET6_ADDRSTRLEN];
  if (text.empty() || text.size() >= sizeof(copy)) return false;
  memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  if (strlen(copy) != text.size()) return false;
  Address parsed;
  parsed.v6 = text.find(':') != std::string_view::npos;
  if (inet_pton(parsed.v6 ? AF_INET6 : AF_INET, copy, parsed.bytes.data()) != 1) return false;
  *address = parsed;
  return true;
}

std::string ToString(const Address& address) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), text, sizeof(text));
  return text;
}

bool IsPublic(const Address& address) {
  const uint8_t* bytes = address.bytes.data();
  if (!address.v6) return IsPublicV4(bytes);
  for (const Embedding& embedding : kEmbeddings) {
    if (IsIn(bytes, embedding.block)) return IsPublicV4(bytes + embedding.at);
  }
  if (!IsIn(bytes, kGlobalV6)) return false;
  return std::none_of(std::begin(kSpecialV6), std::end(kSpecialV6),
                      [bytes](const Block& block) { return IsIn(bytes, block); });
}

socklen_t ToSockaddr(const Address& address, uint16_t port, sockaddr_storage* out) {
  memset(out, 0, sizeof(*out));
  if (address.v6) {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(out);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    memcpy(&in6->sin6_addr, address.bytes.data(), 16);
    return sizeof(*in6);
  }
  auto* in = reinterpret_cast<sockaddr_in*>(out);
  in->sin_family = AF_INET;
  in->sin_port = htons(port);
  memcpy(&in->sin_addr, address.bytes.data(), 4);
  return sizeof(*in);
}

}  // namespace berth::network
