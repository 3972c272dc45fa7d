#define _GNU_SOURCE
#include "capi/c_test_support.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Thread_local berth_error* last_error = NULL;

static char state_path[256];

/* A test that fails leaves no session behind either. */
static _Noreturn void give_up(void) {
  static atomic_flag once = ATOMIC_FLAG_INIT;
  berth_runtime* runtime = NULL;
  berth_infos* infos = NULL;
  if (atomic_flag_test_and_set(&once)) _exit(1); /* another thread is at it, or this one again */
  if (state_path[0] == '\0') exit(1);
  berth_runtime_new(&runtime, state_path, strlen(state_path), NULL);
  berth_session_list(&infos, runtime, NULL);
  for (size_t i = 0; i < berth_infos_count(infos); ++i) {
    berth_session* session = NULL;
    size_t size = 0;
    const char* handle = berth_infos_text(infos, i, BERTH_INFO_HANDLE, &size);
    berth_session_open(&session, runtime, handle, size, NULL);
    berth_session_destroy(session, 0, NULL);
  }
  exit(1);
}

void fail_check(const char* file, int line, const char* what, const berth_error* error) {
  fprintf(stderr, "%s:%d: does not hold: %s (last error: %s: %s)\n", file, line, what,
          berth_code_name(berth_error_code(error)), berth_error_message(error, NULL));
  give_up();
}

void check_code(const char* file, int line, const char* call, int32_t expected, int32_t actual) {
  if (actual == expected) return;
  fprintf(stderr, "%s:%d: %s\n  gave %s, not %s; last error: %s\n", file, line, call,
          berth_code_name(actual), berth_code_name(expected),
          berth_error_message(last_error, NULL));
  give_up();
}

void check_text(const char* file, int line, const char* expected, const char* actual) {
  if (actual != NULL && strcmp(expected, actual) == 0) return;
  fprintf(stderr, "%s:%d: expected '%s', got '%s'\n", file, line, expected,
          actual == NULL ? "(NULL)" : actual);
  give_up();
}

const char* make_state_dir(void) {
  const char* base = getenv("TEST_TMPDIR");
  snprintf(state_path, sizeof(state_path), "%s/cXXXXXX", base == NULL ? "/tmp" : base);
  CHECK(mkdtemp(state_path) != NULL);
  strncat(state_path, "/state", sizeof(state_path) - strlen(state_path) - 1);
  return state_path;
}

static int remove_one(const char* path, const struct stat* info, int type, struct FTW* ftw) {
  (void)info, (void)type, (void)ftw;
  return remove(path);
}

/* Whether a process has a file below `folder` open, as a session's supervisor has. */
static int has_open(const char* pid, const char* folder) {
  char path[300], target[300];
  snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
  DIR* fds = opendir(path);
  struct dirent* entry;
  int found = 0;
  while (fds != NULL && !found && (entry = readdir(fds)) != NULL) {
    const ssize_t size = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1);
    found =
        size > 0 && (size_t)size >= strlen(folder) && memcmp(target, folder, strlen(folder)) == 0;
  }
  if (fds != NULL) closedir(fds);
  return found;
}

/* Whether the environment of that process has `text` in it. */
static int environment_has(const char* pid, const char* text) {
  char path[300];
  snprintf(path, sizeof(path), "/proc/%s/environ", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  static char buffer[1 << 20];
  const ssize_t size = read(fd, buffer, sizeof(buffer));
  close(fd);
  return size > 0 && memmem(buffer, (size_t)size, text, strlen(text)) != NULL;
}

void check_nothing_left(const char* state_dir, int killed_owners) {
  static const char* const folders[] = {"sessions", "names", "owners", "run"};
  struct dirent* entry;
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); ++i) {
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", state_dir, folders[i]);
    DIR* folder = opendir(path);
    if (folder == NULL) continue;
    while ((entry = readdir(folder)) != NULL) {
      if (entry->d_name[0] == '.') continue;
      if (strcmp(folders[i], "owners") == 0 && killed_owners-- > 0) continue;
      fprintf(stderr, "left behind: %s/%s\n", path, entry->d_name);
      give_up();
    }
    closedir(folder);
  }
  DIR* processes = opendir("/proc");
  CHECK(processes != NULL);
  while ((entry = readdir(processes)) != NULL) {
    if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == getpid()) continue;
    if (!environment_has(entry->d_name, state_dir) && !has_open(entry->d_name, state_dir)) continue;
    fprintf(stderr, "left behind: process %s\n", entry->d_name);
    give_up();
  }
  closedir(processes);
  char base[256];
  snprintf(base, sizeof(base), "%s", state_dir);
  *strrchr(base, '/') = '\0';
  CHECK(nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

berth_runtime* new_runtime(const char* state_dir) {
  berth_runtime* runtime = NULL;
  CHECK_OK(berth_runtime_new(&runtime, state_dir, strlen(state_dir), &last_error));
  return runtime;
}

berth_session* new_session(berth_runtime* runtime, const char* name, const char* line,
                           uint16_t rows) {
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  CHECK_OK(berth_session_spec_new(&spec, name, strlen(name), &last_error));
  CHECK_OK(berth_session_spec_set_shell(spec, line, strlen(line)));
  CHECK_OK(berth_session_spec_set_terminal(spec, rows, rows == 0 ? 0 : 80));
  CHECK_OK(berth_session_create(&session, runtime, spec, &last_error));
  berth_session_spec_free(spec);
  return session;
}

berth_process* new_process(berth_runtime* runtime, const char* line) {
  berth_process_spec* spec = NULL;
  berth_process* process = NULL;
  CHECK_OK(berth_process_spec_new(&spec, &last_error));
  CHECK_OK(berth_process_spec_set_shell(spec, line, strlen(line)));
  CHECK_OK(berth_process_spawn(&process, runtime, spec, &last_error));
  berth_process_spec_free(spec);
  return process;
}

char* read_until(int fd, const char* text) {
  size_t size = 0, capacity = 1 << 16;
  char* all = malloc(capacity);
  CHECK(all != NULL);
  all[0] = '\0';
  while (text == NULL || memmem(all, size, text, strlen(text)) == NULL) {
    if (size + 1 == capacity) {
      all = realloc(all, capacity *= 2);
      CHECK(all != NULL);
    }
    struct pollfd wait = {.fd = fd, .events = POLLIN, .revents = 0};
    CHECK(poll(&wait, 1, WAIT_MS) == 1);
    const ssize_t n = read(fd, all + size, capacity - size - 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      CHECK(text == NULL);
      break;
    }
    size += (size_t)n;
    all[size] = '\0';
  }
  return all;
}
