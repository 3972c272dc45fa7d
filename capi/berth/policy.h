/* What a session may see, write, call, reach and use up, and what was stopped. Part of berth.h,
 * whose conventions hold. */
#ifndef BERTH_CAPI_BERTH_POLICY_H_
#define BERTH_CAPI_BERTH_POLICY_H_

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable. */
typedef struct berth_policy berth_policy;
/* Nothing is allowed until it is said; the first error is kept and reported by build. */
typedef struct berth_policy_builder berth_policy_builder;

/* How a policy is enforced. Probed, reported, never weakened silently. */
enum berth_tier {
  BERTH_TIER_AUTO = 0,       /* the strongest that this machine can */
  BERTH_TIER_NAMESPACES = 1, /* user, mount, pid, net, ipc, uts and cgroup namespaces */
  BERTH_TIER_POOLED = 2,     /* the same, from a prepared template */
  BERTH_TIER_LANDLOCK = 3    /* no namespaces: Landlock, seccomp and limits */
};
/* "auto", "namespaces", "pooled", "landlock"; "unknown" for what is not listed. */
BERTH_API const char* berth_tier_name(int32_t tier);
BERTH_API int32_t berth_tier_from_name(int32_t* tier, const char* name, size_t name_size,
                                       berth_error** error);

enum berth_network {
  BERTH_NETWORK_NONE = 0,      /* its own loopback and nothing else */
  BERTH_NETWORK_HOST = 1,      /* the host's: dangerous */
  BERTH_NETWORK_ALLOW_LIST = 2 /* the listed domains, through our proxy */
};

enum berth_access {
  BERTH_ACCESS_READ_ONLY = 1,
  BERTH_ACCESS_READ_WRITE = 2,
  BERTH_ACCESS_HIDDEN = 3,       /* seen as empty */
  BERTH_ACCESS_CARVE = 4,        /* below a writable path: read-only, and cannot be made */
  BERTH_ACCESS_COPY_ON_WRITE = 5 /* writable, and the changes are kept apart */
};

enum berth_limit {
  BERTH_LIMIT_MEMORY = 0,    /* bytes, of the whole tree */
  BERTH_LIMIT_SWAP = 1,      /* bytes, besides memory */
  BERTH_LIMIT_PIDS = 2,      /* processes and threads, of the whole tree */
  BERTH_LIMIT_MILLICPUS = 3, /* 1500 is one and a half cores */
  BERTH_LIMIT_WALL_MS = 4,
  BERTH_LIMIT_FILE_SIZE = 5,  /* bytes, of each file that is written */
  BERTH_LIMIT_OPEN_FILES = 6, /* of each process */
  BERTH_LIMIT_TMP_SIZE = 7    /* bytes, of the private /tmp and /dev/shm, each */
};

/* `preset`: "agent" or "build", with a workspace; "strict", without; "" allows nothing. */
BERTH_API int32_t berth_policy_builder_new(berth_policy_builder** builder, const char* preset,
                                           size_t preset_size, const char* workspace,
                                           size_t workspace_size, berth_error** error);
/* Begins as that policy. */
BERTH_API int32_t berth_policy_builder_from(berth_policy_builder** builder,
                                            const berth_policy* policy, berth_error** error);
BERTH_API void berth_policy_builder_free(berth_policy_builder* builder);

/* /usr, /bin, /lib…, /opt and what programs need of /etc, read-only. */
BERTH_API int32_t berth_policy_builder_add_system(berth_policy_builder* builder);
/* An empty, writable home directory of its own. */
BERTH_API int32_t berth_policy_builder_add_private_home(berth_policy_builder* builder);
#define BERTH_PATH_IF_THERE UINT32_C(1) /* left out where it does not exist */
/* Absolute, without `..`; `inside` is where it is seen, "" for the same place. */
BERTH_API int32_t berth_policy_builder_add_path(berth_policy_builder* builder, int32_t access,
                                                const char* path, size_t path_size,
                                                const char* inside, size_t inside_size,
                                                uint32_t flags);
/* A private, empty, writable folder. */
BERTH_API int32_t berth_policy_builder_add_tmpfs(berth_policy_builder* builder, const char* path,
                                                 size_t path_size);
BERTH_API int32_t berth_policy_builder_set_no_network(berth_policy_builder* builder);
/* "github.com", "*.npmjs.org" (names below it), "example.com:8443". */
BERTH_API int32_t berth_policy_builder_set_domains(berth_policy_builder* builder,
                                                   const berth_strings* domains);
/* "unix", "inet", …. */
BERTH_API int32_t berth_policy_builder_set_socket_families(berth_policy_builder* builder,
                                                           const berth_strings* families);
/* Besides those that always are denied. */
BERTH_API int32_t berth_policy_builder_deny_syscalls(berth_policy_builder* builder,
                                                     const berth_strings* names);
/* ptrace and the like, of its own processes. */
BERTH_API int32_t berth_policy_builder_allow_debugging(berth_policy_builder* builder);
/* Files that it is kept from are told as violations (BERTH_VIOLATION_FILE), by their names. Each
 * call that names a file costs more then. */
BERTH_API int32_t berth_policy_builder_report_files(berth_policy_builder* builder);
/* `limit` is enum berth_limit. */
BERTH_API int32_t berth_policy_builder_set_limit(berth_policy_builder* builder, int32_t limit,
                                                 int64_t value);
BERTH_API int32_t berth_policy_builder_set_tier(berth_policy_builder* builder, int32_t tier);
BERTH_API int32_t berth_policy_builder_set_hostname(berth_policy_builder* builder, const char* name,
                                                    size_t name_size);

/* The host's network: all that listens on its loopback, and everything that it can reach. */
BERTH_API int32_t berth_policy_builder_dangerous_host_network(berth_policy_builder* builder);
/* The host's processes are seen, and those of the same user can be signalled. */
BERTH_API int32_t berth_policy_builder_dangerous_host_pid_namespace(berth_policy_builder* builder);
/* BERTH_ENV_INHERIT: whatever secrets the caller's variables hold. */
BERTH_API int32_t
berth_policy_builder_dangerous_inherited_environment(berth_policy_builder* builder);
/* The Docker engine's socket, which is root on the host. */
BERTH_API int32_t berth_policy_builder_dangerous_docker_socket(berth_policy_builder* builder);
/* Every system call of the kernel. */
BERTH_API int32_t berth_policy_builder_dangerous_seccomp_off(berth_policy_builder* builder);
/* Namespaces made inside, with all the kernel code that they open. */
BERTH_API int32_t
berth_policy_builder_dangerous_nested_user_namespaces(berth_policy_builder* builder);

/* The policy, or the first thing that was wrong. The builder may be used again. */
BERTH_API int32_t berth_policy_build(berth_policy** policy, const berth_policy_builder* builder,
                                     berth_error** error);
/* JSON, as `berth run --policy` reads it. BERTH_PERMISSION_DENIED if it asks for something
 * dangerous. */
BERTH_API int32_t berth_policy_from_text(berth_policy** policy, const char* text, size_t text_size,
                                         berth_error** error);
/* Of text whose author may ask for anything: an operator's own file. */
BERTH_API int32_t berth_policy_dangerous_from_text(berth_policy** policy, const char* text,
                                                   size_t text_size, berth_error** error);
BERTH_API void berth_policy_free(berth_policy* policy);

BERTH_API int32_t berth_policy_to_text(berth_string** text, const berth_policy* policy,
                                       berth_error** error);

enum berth_policy_number {
  BERTH_POLICY_TIER = 0,    /* enum berth_tier */
  BERTH_POLICY_NETWORK = 1, /* enum berth_network */
  BERTH_POLICY_SYSTEM = 2,
  BERTH_POLICY_PRIVATE_HOME = 3,
  BERTH_POLICY_DEBUGGING = 4,
  BERTH_POLICY_HOST_PID_NAMESPACE = 5,
  BERTH_POLICY_INHERITED_ENVIRONMENT = 6,
  BERTH_POLICY_DOCKER_SOCKET = 7,
  BERTH_POLICY_SECCOMP_OFF = 8,
  BERTH_POLICY_NESTED_USER_NAMESPACES = 9,
  BERTH_POLICY_REPORT_FILES = 10
};
/* -1 for a field that is not known, and if it is no policy. */
BERTH_API int64_t berth_policy_number(const berth_policy* policy, int32_t field);
/* -1: no limit of ours. */
BERTH_API int64_t berth_policy_limit(const berth_policy* policy, int32_t limit);

enum berth_policy_text {
  BERTH_POLICY_HASH = 0, /* equal for equal policies, and for no others */
  BERTH_POLICY_HOSTNAME = 1
};
BERTH_API const char* berth_policy_text(const berth_policy* policy, int32_t field, size_t* size);

enum berth_policy_list {
  BERTH_POLICY_DOMAINS = 0,
  BERTH_POLICY_TMPFS = 1,
  BERTH_POLICY_SOCKET_FAMILIES = 2,
  BERTH_POLICY_DENIED_SYSCALLS = 3
};
BERTH_API int32_t berth_policy_list(berth_strings** items, const berth_policy* policy,
                                    int32_t field, berth_error** error);

typedef struct berth_policy_path {
  const char* path;
  size_t path_size;
  const char* inside; /* where it is seen */
  size_t inside_size;
  int32_t access; /* enum berth_access */
  int32_t if_there;
} berth_policy_path;
/* BERTH_OUT_OF_RANGE past the end. */
BERTH_API int32_t berth_policy_path_at(berth_policy_path* path, const berth_policy* policy,
                                       size_t index, berth_error** error);

/* The tier that would enforce it here; BERTH_FAILED_PRECONDITION, with the reason and the remedy,
   if none can. `gaps`, which may be NULL: what of it that tier cannot hold, in words. */
BERTH_API int32_t berth_policy_check(int32_t* tier, berth_strings** gaps,
                                     const berth_policy* policy, berth_error** error);

/* ---- What policies have stopped ---- */

typedef struct berth_violations berth_violations;

enum berth_violation_layer {
  BERTH_VIOLATION_SYSCALL = 1,
  BERTH_VIOLATION_FILE = 2,
  BERTH_VIOLATION_NETWORK = 3,
  BERTH_VIOLATION_MEMORY = 4,
  BERTH_VIOLATION_PIDS = 5,
  BERTH_VIOLATION_WALL = 6,
  BERTH_VIOLATION_FILE_SIZE = 7
};

typedef struct berth_violation {
  const char* what; /* what was tried: "connect 1.2.3.4:443" */
  size_t what_size;
  const char* reason; /* the rule that stopped it: "network: none" */
  size_t reason_size;
  const char* text; /* both: "blocked: connect 1.2.3.4:443 (network: none)" */
  size_t text_size;
  int64_t when_unix_ns;
  int64_t number; /* 1, 2, 3, … of its session or process; 0: not told */
  int32_t layer;  /* enum berth_violation_layer */
  int32_t pid;    /* who tried, as this machine's /proc shows it; 0: not known */
} berth_violation;

/* "syscall", "file", "network", …; "unknown" for what is not listed. */
BERTH_API const char* berth_violation_layer_name(int32_t layer);
BERTH_API size_t berth_violations_count(const berth_violations* violations);
/* BERTH_OUT_OF_RANGE past the end. */
BERTH_API int32_t berth_violations_at(berth_violation* violation,
                                      const berth_violations* violations, size_t index,
                                      berth_error** error);
BERTH_API void berth_violations_free(berth_violations* violations);

/* What a policy stops, as it happens. May outlive its session's object. */
typedef struct berth_violation_feed berth_violation_feed;

/* Readable while next has something. */
BERTH_API int32_t berth_violation_feed_fd(int32_t* fd, berth_violation_feed* feed,
                                          berth_error** error);
/* Those that have come since the last call, without waiting. BERTH_OUT_OF_RANGE: nothing of the
   session runs any more, and there will be no others. */
BERTH_API int32_t berth_violation_feed_next(berth_violations** violations,
                                            berth_violation_feed* feed, berth_error** error);
BERTH_API void berth_violation_feed_free(berth_violation_feed* feed);

/* ---- What was written to copy-on-write folders ---- */

typedef struct berth_changes berth_changes;

enum berth_change_kind {
  BERTH_CHANGE_ADDED = 1,
  BERTH_CHANGE_CHANGED = 2,
  BERTH_CHANGE_DELETED = 3
};
enum berth_change_type {
  BERTH_CHANGE_FILE = 1,
  BERTH_CHANGE_FOLDER = 2,
  BERTH_CHANGE_SYMLINK = 3,
  BERTH_CHANGE_OTHER = 4 /* listed, and never made in the real folder */
};
/* "unknown" for a value that is not listed. */
BERTH_API const char* berth_change_kind_name(int32_t kind);
BERTH_API const char* berth_change_type_name(int32_t file_type);

typedef struct berth_change {
  const char* folder; /* the copy-on-write one, on the host */
  size_t folder_size;
  const char* path; /* below it */
  size_t path_size;
  int64_t bytes;     /* of a file that is added or changed */
  int32_t kind;      /* enum berth_change_kind */
  int32_t file_type; /* enum berth_change_type; of a deleted one: of what was there */
} berth_change;

BERTH_API size_t berth_changes_count(const berth_changes* changes);
/* BERTH_OUT_OF_RANGE past the end. */
BERTH_API int32_t berth_changes_at(berth_change* change, const berth_changes* changes, size_t index,
                                   berth_error** error);
BERTH_API void berth_changes_free(berth_changes* changes);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_CAPI_BERTH_POLICY_H_ */
