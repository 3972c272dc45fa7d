/* The reaper in C: sweeps, once and whenever something happens. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

extern char** environ;

/* The program that is killed: a durable session, and one that ends with it. */
static int make_and_wait(const char* state_dir) {
  berth_runtime* runtime = new_runtime(state_dir);
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  CHECK_OK(berth_session_spec_new(&spec, "orphan", 6, &last_error));
  static const char line[] = "setsid sleep 1000 & (setsid sleep 1000 &) ; exec sleep 1000";
  berth_session_spec_set_shell(spec, line, sizeof(line) - 1);
  berth_session_spec_set_durable(spec, 0);
  CHECK_OK(berth_session_create(&session, runtime, spec, &last_error));
  CHECK(write(STDOUT_FILENO, "made\n", 5) == 5);
  pause();
  return 0;
}

/* Starts that program; it has made its session. */
static pid_t start_owner(const char* state_dir, char* self) {
  int out[2];
  CHECK(pipe2(out, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  CHECK(posix_spawn_file_actions_init(&actions) == 0);
  CHECK(posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO) == 0);
  char* argv[] = {self, "make", (char*)state_dir, NULL};
  pid_t owner = 0;
  CHECK(posix_spawn(&owner, self, &actions, NULL, argv, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  free(read_until(out[0], "made\n"));
  close(out[0]);
  return owner;
}

/* It is this program's child, and so not reaped before the wait: no other has its pid. */
static void kill_owner(pid_t owner) {
  CHECK(kill(owner, SIGKILL) == 0 && waitpid(owner, NULL, 0) == owner);
}

static int64_t sweep(const char* state_dir, uint32_t flags, int32_t number) {
  berth_sweep_options* options = NULL;
  berth_sweep_report* report = NULL;
  CHECK_OK(berth_sweep_options_new(&options, &last_error));
  CHECK_OK(berth_sweep_options_set_flags(options, flags));
  CHECK_OK(berth_sweep_options_set_time(options, BERTH_SWEEP_GRACE, 1000));
  CHECK_OK(berth_sweep(&report, state_dir, strlen(state_dir), options, &last_error));
  const int64_t found = berth_sweep_report_number(report, number);
  CHECK(berth_sweep_report_number(report, BERTH_SWEEP_FAILED) == 0);
  for (int64_t i = 0; i < berth_sweep_report_number(report, BERTH_SWEEP_ITEMS); ++i) {
    berth_sweep_item item;
    berth_strings* because = NULL;
    CHECK_OK(berth_sweep_report_at(&item, report, (size_t)i, &last_error));
    CHECK(item.kind_size > 0 && item.error_size == 0);
    CHECK_OK(berth_sweep_report_because(&because, NULL, report, (size_t)i, &last_error));
    CHECK(berth_strings_count(because) > 0);
    berth_strings_free(because);
  }
  for (int32_t format = BERTH_SWEEP_TEXT; format <= BERTH_SWEEP_METRICS; ++format) {
    berth_string* text = NULL;
    CHECK_OK(berth_sweep_report_format(&text, report, format, &last_error));
    CHECK(strlen(berth_string_data(text, NULL)) > 0);
    berth_string_free(text);
  }
  berth_sweep_report_free(report);
  berth_sweep_options_free(options);
  return found;
}

/* An owner is killed: after one sweep nothing of it is left; what has a living owner stays. */
static void test_orphans_are_swept(berth_runtime* runtime, const char* state_dir, char* self) {
  berth_session* mine = new_session(runtime, "mine", "exec cat", 24);
  kill_owner(start_owner(state_dir, self));
  sweep(state_dir, BERTH_SWEEP_DRY_RUN | BERTH_SWEEP_SHOW_KEPT, BERTH_SWEEP_ITEMS);
  sweep(state_dir, 0, BERTH_SWEEP_DONE);
  berth_session* gone = NULL;
  CHECK_CODE(BERTH_NOT_FOUND, berth_session_find(&gone, runtime, "orphan", 6, &last_error));
  int32_t liveness = -1;
  CHECK_OK(berth_session_liveness(&liveness, NULL, mine, &last_error));
  CHECK(liveness == BERTH_ALIVE);
  berth_sweep_report* why = NULL;
  CHECK_OK(berth_sweep_explain(&why, state_dir, strlen(state_dir), "mine", 4, NULL, &last_error));
  berth_sweep_item item;
  CHECK_OK(berth_sweep_report_at(&item, why, 0, &last_error));
  CHECK(item.verdict == BERTH_VERDICT_KEEP);
  berth_sweep_report_free(why);
  CHECK_CODE(BERTH_NOT_FOUND, berth_sweep_explain(&why, state_dir, strlen(state_dir), "nobody", 6,
                                                  NULL, &last_error));
  CHECK_OK(berth_session_destroy(mine, 0, &last_error));
  berth_session_free(mine);
}

static void test_sweep_options_that_are_wrong(void) {
  berth_sweep_options* options = NULL;
  berth_sweep_report* report = NULL;
  berth_strings* only = NULL;
  CHECK_OK(berth_sweep_options_new(&options, &last_error));
  CHECK_OK(berth_strings_new(&only, &last_error));
  berth_strings_add(only, "(", 1);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_sweep_options_set_filter(options, only, NULL));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_sweep_options_set_time(options, 50, 1));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_sweep(&report, "/x", 2, options, &last_error));
  berth_strings_free(only);
  berth_sweep_options_free(options);
}

static berth_sweep_watch* new_watch(const char* state_dir) {
  berth_sweep_watch* watch = NULL;
  berth_sweep_options* options = NULL;
  CHECK_OK(berth_sweep_options_new(&options, &last_error));
  CHECK_OK(berth_sweep_options_set_time(options, BERTH_SWEEP_SETTLE, 10));
  CHECK_OK(berth_sweep_options_set_time(options, BERTH_SWEEP_EVERY, -1));
  CHECK_OK(berth_sweep_watch_new(&watch, state_dir, strlen(state_dir), options, &last_error));
  berth_sweep_options_free(options);
  return watch;
}

static int is_readable(int fd, int timeout_ms) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  return poll(&ready, 1, timeout_ms) == 1;
}

/* The lease of a killed owner, which nobody but a sweep removes. */
static int removed_a_lease(const berth_sweep_report* report) {
  berth_sweep_item item;
  for (size_t i = 0; berth_sweep_report_at(&item, report, i, &last_error) == BERTH_OK; ++i) {
    if (strcmp(item.kind, "lease") == 0 && item.result == BERTH_SWEPT_DONE) return 1;
  }
  return 0;
}

/* A watch sweeps at once and then when an owner ends; between, it neither waits nor is readable. */
static void test_a_watch_sweeps_when_an_owner_ends(const char* state_dir, char* self) {
  berth_sweep_watch* watch = new_watch(state_dir);
  berth_sweep_report* report = NULL;
  int32_t fd = -1;
  CHECK_OK(berth_sweep_watch_fd(&fd, watch, &last_error));
  CHECK(is_readable(fd, WAIT_MS));
  CHECK_OK(berth_sweep_watch_next(&report, watch, 0, &last_error));
  CHECK(report != NULL && berth_sweep_report_number(report, BERTH_SWEEP_FAILED) == 0);
  berth_sweep_report_free(report);
  CHECK(!is_readable(fd, 0));
  CHECK_OK(berth_sweep_watch_next(&report, watch, 0, &last_error));
  CHECK(report == NULL);

  const pid_t owner = start_owner(state_dir, self);
  do { /* of the new owner, before it is killed */
    CHECK(is_readable(fd, WAIT_MS));
    CHECK_OK(berth_sweep_watch_next(&report, watch, 0, &last_error));
  } while (report == NULL);
  CHECK(!removed_a_lease(report));
  berth_sweep_report_free(report);
  kill_owner(owner);
  for (int removed = 0; !removed;) {
    CHECK_OK(berth_sweep_watch_next(&report, watch, WAIT_MS, &last_error));
    CHECK(report != NULL);
    removed = removed_a_lease(report);
    berth_sweep_report_free(report);
  }
  close(fd);
  berth_sweep_watch_free(watch);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_sweep_watch_next(&report, watch, 0, &last_error));
}

struct watcher {
  berth_sweep_watch* watch;
  int32_t end;
};

/* Sweeps until it is told not to. */
static void* watch_on(void* arg) {
  struct watcher* watcher = arg;
  berth_sweep_report* report = NULL;
  while ((watcher->end = berth_sweep_watch_next(&report, watcher->watch, -1, &last_error)) ==
         BERTH_OK) {
    berth_sweep_report_free(report);
  }
  berth_error_free(last_error);
  return NULL;
}

static void test_a_watch_is_stopped_from_another_thread(const char* state_dir) {
  for (int by_free = 0; by_free < 2; ++by_free) {
    berth_sweep_watch* watch = new_watch(state_dir);
    berth_sweep_report* report = NULL;
    struct watcher watcher = {.watch = watch};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, watch_on, &watcher) == 0);
    /* That one waits without limit; this one no longer than it wants. */
    CHECK_OK(berth_sweep_watch_next(&report, watch, 1, &last_error));
    berth_sweep_report_free(report);
    if (by_free) {
      berth_sweep_watch_free(watch);
    } else {
      CHECK_OK(berth_sweep_watch_stop(watch, &last_error));
    }
    CHECK(pthread_join(thread, NULL) == 0);
    /* One that was between two calls comes with what is no handle any more. */
    CHECK(watcher.end == BERTH_CANCELLED || (by_free && watcher.end == BERTH_INVALID_ARGUMENT));
    if (by_free) continue;
    CHECK_CODE(BERTH_CANCELLED, berth_sweep_watch_next(&report, watch, -1, &last_error));
    berth_sweep_watch_free(watch);
  }
}

static void test_a_report_goes_from_process_to_process(const char* state_dir) {
  berth_sweep_report *report = NULL, *read = NULL;
  berth_string *json = NULL, *again = NULL;
  CHECK_OK(berth_sweep(&report, state_dir, strlen(state_dir), NULL, &last_error));
  CHECK_OK(berth_sweep_report_format(&json, report, BERTH_SWEEP_JSON, &last_error));
  size_t size = 0;
  const char* text = berth_string_data(json, &size);
  CHECK_OK(berth_sweep_report_from_json(&read, text, size, &last_error));
  CHECK_OK(berth_sweep_report_format(&again, read, BERTH_SWEEP_JSON, &last_error));
  CHECK_TEXT(text, berth_string_data(again, NULL));
  CHECK_CODE(BERTH_INVALID_ARGUMENT,
             berth_sweep_report_from_json(&read, text, size / 2, &last_error));
  berth_string_free(json);
  berth_string_free(again);
  berth_sweep_report_free(report);
  berth_sweep_report_free(read);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "make") == 0) return make_and_wait(argv[2]);
  const char* state_dir = make_state_dir();
  berth_runtime* runtime = new_runtime(state_dir);
  test_orphans_are_swept(runtime, state_dir, argv[0]);
  test_sweep_options_that_are_wrong();
  berth_runtime_free(runtime);
  test_a_watch_sweeps_when_an_owner_ends(state_dir, argv[0]);
  test_a_watch_is_stopped_from_another_thread(state_dir);
  test_a_report_goes_from_process_to_process(state_dir);
  berth_error_free(last_error);
  check_nothing_left(state_dir, 0);
  puts("PASS");
  return 0;
}
