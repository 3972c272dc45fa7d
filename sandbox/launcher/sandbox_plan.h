// SandboxPlan: a policy as the helper carries it out, worked out ahead by the library: what to
// mount, which filter to load, which rules to enforce, in that order and with nothing left to
// decide. The helper checks what it opens (types, no symlinks out of place) but knows no policy.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_SANDBOX_PLAN_H_
#define BERTH_SANDBOX_LAUNCHER_SANDBOX_PLAN_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "sandbox/launcher/wire.h"

namespace berth::launcher {

enum class SandboxTier : uint8_t {
  kNone = 0,
  kNamespaces = 1,  // namespaces made at each start
  kPooled = 2,      // the same, made ahead where it can be; each used once
  kLandlock = 3,    // no namespaces: Landlock, seccomp, limits
};

enum class SandboxNetwork : uint8_t {
  kNone = 0,   // an empty network namespace with its own loopback (landlock tier: no sockets)
  kHost = 1,   // the host's
  kProxy = 2,  // as kNone, and a way to the proxy's socket: see proxy_socket
};

// One step in building the new root. Targets are absolute paths inside it; parents are made in the
// root's own tmpfs as needed, never in a mounted file system.
struct SandboxMount {
  enum class Kind : uint8_t {
    kBind = 1,     // source -> target, recursive; the type (directory or not) is taken from source
    kTmpfs = 2,    // private; `size` bytes
    kProc = 3,     // a fresh /proc of the pid namespace
    kDev = 4,      // a small /dev: null zero full random urandom tty pts ptmx shm fd stdin stdout
    kSymlink = 5,  // target is a link to source
    kMask = 6,     // an empty, read-only directory or file over what target is
    kCarve = 7,  // target becomes read-only; if it does not exist it is kept from being made; with
                 // a source it is a symlink to that, and stays one
    kOverlay = 8,  // lower = source, `upper`, `work`: copy-on-write
    kText = 9,     // a file of our own; source is what it says
  };
  Kind kind = Kind::kBind;
  bool read_only = false;
  bool no_exec = false;
  bool optional = false;  // fine if the source is not there
  std::string source = {}, target = {};
  std::string upper = {}, work = {};
  uint64_t size = 0;
};

// Landlock: what may be done below a path. Of the tier kLandlock; in the others on top, where set.
struct LandlockRule {
  std::string path = {};
  uint64_t access =
      0;  // LANDLOCK_ACCESS_FS_*; bits that this kernel lacks are dropped by the helper
  bool optional = false;
};

// A name of the host's that leads elsewhere.
struct SandboxLink {
  std::string path = {}, text = {};
};

struct SandboxRlimit {
  int32_t resource = 0;
  uint64_t value = 0;
};

struct SandboxPlan {
  SandboxTier tier = SandboxTier::kNone;
  SandboxNetwork network = SandboxNetwork::kNone;
  std::vector<SandboxMount> mounts;
  uint64_t landlock_fs = 0, landlock_net = 0, landlock_scope = 0;  // handled access rights
  std::vector<LandlockRule> landlock;
  std::string filter;     // an array of sock_filter; "" loads none
  bool notifies = false;  // the filter has SECCOMP_RET_USER_NOTIF: to be served and reported
  // Calls that the filter notifies only to have them told: each goes on, and if it names what the
  // plan does not give, that is noted. Empty: files are not told.
  std::vector<int32_t> told_calls;
  // With told_calls, of the tier kLandlock: links of the host's that lead to what the rules name.
  std::vector<SandboxLink> links;
  // With told_calls, of the others: folders that are not there and that a carve-out is in, so that
  // they become read-only as a whole.
  std::vector<std::string> missing;
  // With told_calls: what would be shown if the host had it.
  std::vector<std::string> absent;
  bool keeps_caps = false;  // otherwise every capability set is emptied
  // The filter allows what the helper does between loading it and the program: it can be loaded
  // ahead (ready_child.h).
  bool ready_child = false;
  std::vector<SandboxRlimit> rlimits;
  std::string hostname;
  std::string proxy_socket;  // kProxy: the host's unix socket of the proxy, made reachable inside
  uint16_t proxy_port = 0;   // kProxy: the port on the inner loopback that leads to it
  // kProxy, in a tier with namespaces: the helper starts a proxy for it (sandbox/network), with
  // what is on its list, what clients have to show, and the name servers ("" are the host's).
  std::vector<std::string> proxy_rules, proxy_resolvers;
  std::string proxy_token;
  // Of the whole tree, by cgroup; negative is none.
  int64_t memory_bytes = -1, swap_bytes = -1, pids = -1, cpu_millis = -1;

  // As a field of another message: one `bytes`.
  std::string Encode() const;
  bool Decode(std::string_view bytes);
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_SANDBOX_PLAN_H_
