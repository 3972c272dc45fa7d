// The proxy of one session: the only way out of a network namespace that has none, to the hosts
// that are on its list. A process of its own beside the session, single-threaded; its parts never
// block.
//
// HTTP CONNECT, plain HTTP (where a rule names port 80), and SOCKS5. Names are looked up here and
// nowhere else: the session needs no DNS and has none. What is denied is told to the owner over the
// control socket (see proxy_config.h); when that closes, the proxy ends, and the session has no
// network.
//
// Bounds: connections by the configuration, about 32 KB of buffers for each, a time for each state.
// It holds no capability and can open no file once it serves.
#ifndef BERTH_SANDBOX_NETWORK_PROXY_H_
#define BERTH_SANDBOX_NETWORK_PROXY_H_

namespace berth::network {

// Serves until the other end of `control` is closed. Returns the exit code.
int RunProxy(int control);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_PROXY_H_
