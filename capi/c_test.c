/* The C ABI as a C program uses it: the life of a session, its environment, ends, survival, events,
 * many threads. */
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

static int32_t liveness_of(berth_session* session) {
  int32_t liveness = -1;
  berth_string* reason = NULL;
  CHECK_OK(berth_session_liveness(&liveness, &reason, session, &last_error));
  CHECK(strlen(berth_string_data(reason, NULL)) > 0);
  berth_string_free(reason);
  return liveness;
}

static void destroy(berth_session* session) {
  CHECK_OK(berth_session_destroy(session, 5000, &last_error));
  berth_session_free(session);
}

static void test_versions(void) {
  CHECK(berth_abi_version() == BERTH_ABI_VERSION);
  CHECK((berth_features() & BERTH_FEATURE_NATIVE) != 0);
  CHECK_TEXT("NOT_FOUND", berth_code_name(BERTH_NOT_FOUND));
  CHECK_TEXT("UNKNOWN", berth_code_name(12345));
}

static void test_names(void) {
  CHECK_TEXT("unknown", berth_liveness_name(BERTH_LIVENESS_UNKNOWN));
  CHECK_TEXT("alive", berth_liveness_name(BERTH_ALIVE));
  CHECK_TEXT("dead", berth_liveness_name(BERTH_DEAD));
  CHECK_TEXT("unknown", berth_session_state_name(BERTH_STATE_UNKNOWN));
  CHECK_TEXT("starting", berth_session_state_name(BERTH_STATE_STARTING));
  CHECK_TEXT("running", berth_session_state_name(BERTH_STATE_RUNNING));
  CHECK_TEXT("exited", berth_session_state_name(BERTH_STATE_EXITED));
  CHECK_TEXT("queued", berth_delivery_name(BERTH_QUEUED));
  CHECK_TEXT("confirmed", berth_delivery_name(BERTH_CONFIRMED));
  CHECK_TEXT("added", berth_change_kind_name(BERTH_CHANGE_ADDED));
  CHECK_TEXT("symlink", berth_change_type_name(BERTH_CHANGE_SYMLINK));
  CHECK_TEXT("weaker", berth_ability_state_name(BERTH_ABILITY_WEAKER));
  CHECK_TEXT("doubt", berth_verdict_name(BERTH_VERDICT_DOUBT));
  CHECK_TEXT("done", berth_sweep_result_name(BERTH_SWEPT_DONE));
  const char* (*const names[])(int32_t) = {berth_liveness_name,    berth_session_state_name,
                                           berth_delivery_name,    berth_change_kind_name,
                                           berth_change_type_name, berth_ability_state_name,
                                           berth_verdict_name,     berth_sweep_result_name};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    CHECK_TEXT("unknown", names[i](-1));
    CHECK_TEXT("unknown", names[i](12345));
  }
}

/* Not with a sanitizer, whose runtime is not made for it. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void* wait_for_ever(void* process) {
  berth_process_wait(NULL, process, -1, NULL);
  return NULL;
}

/* A thread that is cancelled in a call ends there, and lets go of what it held. */
static void test_cancelled_thread(berth_runtime* runtime) {
  berth_process* process = new_process(runtime, "exec sleep 1000");
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_for_ever, process) == 0);
  CHECK(pthread_cancel(thread) == 0);
  void* result = NULL;
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  berth_exit status;
  CHECK_OK(berth_process_stop(&status, process, 5000, &last_error));
  CHECK(status.reason == BERTH_END_STOPPED);
  berth_process_free(process);
}
#else
static void test_cancelled_thread(berth_runtime* runtime) { (void)runtime; }
#endif

/* Create, alive, send, capture, destroy, dead, destroy again; then it is not found. */
static void test_lifecycle(berth_runtime* runtime) {
  berth_session* session = new_session(runtime, "one", "exec cat", 24);
  size_t size = 0;
  const char* handle = berth_session_handle(session, &size);
  CHECK(size == strlen(handle) && strncmp(handle, "native:", 7) == 0);
  CHECK(liveness_of(session) == BERTH_ALIVE);

  int32_t out = -1, delivery = -1;
  int64_t begins = -1;
  CHECK_OK(berth_session_output_fd(&out, &begins, session, BERTH_STDOUT, 0, -1, &last_error));
  CHECK(begins == 0 && (fcntl(out, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK_OK(berth_session_send(&delivery, session, "hello there", 11, NULL, WAIT_MS, &last_error));
  CHECK(delivery == BERTH_SUBMITTED);
  free(read_until(out, "hello there\r\nhello there\r\n"));
  close(out);
  berth_string* screen = NULL;
  CHECK_OK(berth_session_capture(&screen, session, 0, 0, &last_error));
  CHECK_TEXT("hello there\nhello there\n", berth_string_data(screen, NULL));
  berth_string_free(screen);

  CHECK_OK(berth_session_destroy(session, 5000, &last_error));
  CHECK(liveness_of(session) == BERTH_DEAD);
  CHECK_OK(berth_session_destroy(session, 5000, &last_error));
  CHECK_CODE(BERTH_NOT_FOUND, berth_session_send(NULL, session, "x", 1, NULL, 0, &last_error));
  CHECK(berth_error_code(last_error) == BERTH_NOT_FOUND);
  berth_session* again = NULL;
  CHECK_CODE(BERTH_NOT_FOUND, berth_session_open(&again, runtime, handle, size, &last_error));
  CHECK_CODE(BERTH_NOT_FOUND, berth_session_open(&again, runtime, "native:no", 9, &last_error));
  CHECK_CODE(BERTH_NOT_FOUND, berth_session_find(&again, runtime, "one", 3, &last_error));
  CHECK(again == NULL);
  berth_session_free(session);
}

/* What the views of a running session say and do. */
static void test_session_calls(berth_runtime* runtime, const char* state_dir) {
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  CHECK_OK(berth_session_spec_new(&spec, "calls", 5, &last_error));
  berth_session_spec_add_arg(spec, "cat", 3);
  berth_session_spec_set_cwd(spec, "/", 1);
  berth_session_spec_set_label(spec, "team", 4, "blue", 4);
  berth_session_spec_set_time_limits(spec, 600000, -1, 1000);
  berth_session_spec_set_kept(spec, 100, 1 << 16);
  CHECK_OK(berth_session_create(&session, runtime, spec, &last_error));
  berth_session* twice = NULL;
  CHECK_CODE(BERTH_ALREADY_EXISTS, berth_session_create(&twice, runtime, spec, &last_error));
  berth_session_spec_free(spec);

  CHECK_OK(berth_session_rename(session, "renamed", 7, &last_error));
  CHECK_OK(berth_session_resize(session, 30, 100, &last_error));
  berth_infos* infos = NULL;
  CHECK_OK(berth_session_list(&infos, runtime, &last_error));
  CHECK(berth_infos_count(infos) == 1);
  CHECK_TEXT("renamed", berth_infos_text(infos, 0, BERTH_INFO_NAME, NULL));
  CHECK_TEXT("/", berth_infos_text(infos, 0, BERTH_INFO_CWD, NULL));
  CHECK_TEXT("blue", berth_infos_label(infos, 0, "team", 4, NULL));
  CHECK(berth_infos_label(infos, 0, "tea", 3, NULL) == NULL);
  CHECK(berth_infos_number(infos, 0, BERTH_INFO_STATE) == BERTH_STATE_RUNNING);
  CHECK(berth_infos_number(infos, 0, BERTH_INFO_ROWS) == 30);
  CHECK(berth_infos_number(infos, 0, BERTH_INFO_DURABLE) == 1);
  CHECK(berth_infos_number(infos, 1, BERTH_INFO_STATE) == -1);
  CHECK(berth_infos_number(infos, 0, 999) == -1);
  berth_infos_free(infos);

  char log[300];
  snprintf(log, sizeof(log), "%s-log", state_dir);
  CHECK_OK(berth_session_set_log(session, log, strlen(log), 1 << 20, &last_error));
  int32_t viewer = -1, exit_fd = -1;
  CHECK_OK(berth_session_attach_fd(&viewer, session, &last_error));
  berth_strings* keys = NULL;
  CHECK_OK(berth_strings_new(&keys, &last_error));
  berth_strings_add(keys, "a", 1);
  berth_strings_add(keys, "b", 1);
  berth_strings_add(keys, "Enter", 5);
  CHECK_OK(berth_session_send_keys(session, keys, &last_error));
  berth_strings_free(keys);
  free(read_until(viewer, "ab\r\nab\r\n"));
  close(viewer);
  CHECK(access(log, R_OK) == 0);
  CHECK_OK(berth_session_set_log(session, NULL, 0, 0, &last_error));
  unlink(log);

  berth_stats stats;
  CHECK_OK(berth_session_stats(&stats, session, &last_error));
  CHECK(stats.processes >= 1 && stats.source[0] != '\0');
  CHECK_OK(berth_session_set_env(session, "WHO", 3, "me & you", 8, &last_error));
  berth_process_spec* exec_spec = NULL;
  berth_process* exec = NULL;
  CHECK_OK(berth_process_spec_new(&exec_spec, &last_error));
  static const char line[] = "printf '%s %s' \"$WHO\" \"$PWD\"";
  berth_process_spec_set_shell(exec_spec, line, strlen(line));
  CHECK_OK(berth_session_exec(&exec, session, exec_spec, &last_error));
  berth_process_spec_free(exec_spec);
  int32_t out = -1;
  CHECK_OK(berth_process_take_stdout_fd(&out, exec, &last_error));
  char* text = read_until(out, NULL);
  CHECK_TEXT("me & you /", text);
  free(text);
  close(out);
  berth_process_free(exec);

  CHECK_OK(berth_session_exit_fd(&exit_fd, session, &last_error));
  CHECK_OK(berth_session_signal(session, SIGKILL, &last_error));
  struct pollfd ended = {.fd = exit_fd, .events = POLLIN, .revents = 0};
  CHECK(poll(&ended, 1, WAIT_MS) == 1);
  close(exit_fd);
  berth_exit status;
  CHECK_OK(berth_session_wait(&status, session, 0, &last_error));
  CHECK(status.signal == SIGKILL && status.reason == BERTH_END_STOPPED);
  CHECK(berth_exit_shell_code(&status) == 128 + SIGKILL && berth_exit_success(&status) == 0);
  const berth_exit well = {.code = 0, .reason = BERTH_END_EXITED};
  CHECK(berth_exit_shell_code(&well) == 0 && berth_exit_success(&well) == 1);
  CHECK(berth_exit_shell_code(NULL) == -1 && berth_exit_success(NULL) == 0);
  destroy(session);
}

/* Values arrive byte for byte, and nothing else does. */
static void test_environment(berth_runtime* runtime) {
  static const char value[] = "a b\t\"$HOME\" 'q' \\ \n=\xff;`id`";
  setenv("BERTH_TEST_HOST", "leaked", 1);
  berth_env* env = NULL;
  CHECK_OK(berth_env_new(&env, BERTH_ENV_CLEAN, &last_error));
  berth_env_set(env, "VALUE", 5, value, sizeof(value) - 1);
  berth_env_set(env, "EMPTY", 5, NULL, 0);
  berth_env_set(env, "GONE", 4, "x", 1);
  berth_env_unset(env, "GONE", 4);
  berth_env_append(env, "LIST", 4, "one", 3, ":", 1);
  berth_env_append(env, "LIST", 4, "two", 3, ":", 1);
  berth_process_spec* spec = NULL;
  berth_process* process = NULL;
  CHECK_OK(berth_process_spec_new(&spec, &last_error));
  berth_process_spec_add_arg(spec, "/usr/bin/env", 12);
  berth_process_spec_add_arg(spec, "-0", 2);
  CHECK_OK(berth_process_spec_set_env(spec, env));
  berth_env_free(env);
  CHECK_OK(berth_process_spawn(&process, runtime, spec, &last_error));
  berth_process_spec_free(spec);
  int32_t out = -1;
  CHECK_OK(berth_process_take_stdout_fd(&out, process, &last_error));
  char* text = read_until(out, NULL);
  CHECK_TEXT("VALUE=a b\t\"$HOME\" 'q' \\ \n=\xff;`id`", text);
  const char* next = text + strlen(text) + 1;
  CHECK_TEXT("EMPTY=", next);
  CHECK_TEXT("LIST=one:two", next + 7);
  CHECK_TEXT("", next + 7 + 13);
  free(text);
  close(out);
  berth_process_free(process);
}

/* Nothing of the output is lost, and the code is told, however fast it ends. */
static void test_fast_exit(berth_runtime* runtime) {
  for (int i = 0; i < 20; ++i) {
    berth_process* process = new_process(runtime, "echo out; echo err >&2; exit 3");
    int32_t out = -1, err = -1;
    CHECK_OK(berth_process_take_stdout_fd(&out, process, &last_error));
    CHECK_OK(berth_process_take_stderr_fd(&err, process, &last_error));
    berth_exit status;
    CHECK_OK(berth_process_wait(&status, process, WAIT_MS, &last_error));
    CHECK(status.code == 3 && status.signal == 0 && status.reason == BERTH_END_EXITED);
    char* text = read_until(out, NULL);
    CHECK_TEXT("out\n", text);
    free(text);
    text = read_until(err, NULL);
    CHECK_TEXT("err\n", text);
    free(text);
    close(out);
    close(err);
    CHECK_CODE(BERTH_FAILED_PRECONDITION, berth_process_take_stdout_fd(&out, process, &last_error));
    berth_process_free(process);
  }
}

/* A wait that times out says so and changes nothing; then a kill is told as a signal, to every
 * caller. */
static void test_wait_then_kill(berth_runtime* runtime) {
  berth_process* process = new_process(runtime, "trap '' TERM; while :; do sleep 1000; done");
  berth_exit status = {-7, -7, -7, -7};
  CHECK_CODE(BERTH_DEADLINE_EXCEEDED, berth_process_wait(&status, process, 50, &last_error));
  CHECK(status.code == -7 && status.reason == -7);
  CHECK_CODE(BERTH_DEADLINE_EXCEEDED, berth_process_wait(NULL, process, 0, &last_error));
  CHECK_OK(berth_process_stop(&status, process, 50, &last_error));
  CHECK(status.signal == SIGKILL && status.reason == BERTH_END_STOPPED);
  for (int i = 0; i < 3; ++i) {
    berth_exit same;
    CHECK_OK(berth_process_wait(&same, process, -1, &last_error));
    CHECK(memcmp(&same, &status, sizeof(same)) == 0);
  }
  berth_string* words = NULL;
  CHECK_OK(berth_exit_describe(&words, &status, &last_error));
  CHECK(strlen(berth_string_data(words, NULL)) > 0);
  berth_string_free(words);
  berth_process_free(process);
}

/* The end of a session comes through the runtime's descriptor. */
static void test_events(const char* state_dir) {
  berth_runtime* runtime = new_runtime(state_dir);
  int32_t fd = -1;
  berth_event* event = NULL;
  CHECK_OK(berth_runtime_event_fd(&fd, runtime, &last_error));
  CHECK_OK(berth_runtime_next_event(&event, runtime, 0, &last_error));
  CHECK(event == NULL);
  berth_session* session = new_session(runtime, "event", "exit 4", 0);
  struct pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
  CHECK(poll(&ready, 1, WAIT_MS) == 1);
  CHECK_OK(berth_runtime_next_event(&event, runtime, WAIT_MS, &last_error));
  CHECK(berth_event_kind(event) == BERTH_EVENT_EXITED);
  CHECK_TEXT("event", berth_event_name(event, NULL));
  CHECK_TEXT(berth_session_handle(session, NULL), berth_event_handle(event, NULL));
  berth_exit status;
  CHECK_OK(berth_event_exit(&status, event, &last_error));
  CHECK(status.code == 4 && status.reason == BERTH_END_EXITED);
  berth_event_free(event);
  close(fd);
  destroy(session);
  berth_runtime_free(runtime);
}

/* The other process of test_survival: makes a session, tells its handle, and is gone without a
 * farewell. */
static int make_and_die(const char* state_dir) {
  berth_runtime* runtime = new_runtime(state_dir);
  berth_session* session = new_session(runtime, "survivor", "exec cat", 24);
  printf("%s\n", berth_session_handle(session, NULL));
  fflush(stdout);
  return raise(SIGKILL);
}

static void test_survival(berth_runtime* runtime, const char* state_dir) {
  int pipe_fds[2], status = 0;
  CHECK(pipe2(pipe_fds, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
  char make[] = "make", dir[300];
  snprintf(dir, sizeof(dir), "%s", state_dir);
  char self[] = "/proc/self/exe";
  char* argv[] = {self, make, dir, NULL};
  pid_t child = 0;
  CHECK(posix_spawn(&child, self, &actions, NULL, argv, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  char* handle = read_until(pipe_fds[0], NULL);
  close(pipe_fds[0]);
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
  CHECK(strchr(handle, '\n') != NULL);
  *strchr(handle, '\n') = '\0';

  berth_session* session = NULL;
  CHECK_OK(berth_session_open(&session, runtime, handle, strlen(handle), &last_error));
  CHECK(liveness_of(session) == BERTH_ALIVE);
  int32_t out = -1;
  CHECK_OK(berth_session_output_fd(&out, NULL, session, BERTH_STDOUT, 0, -1, &last_error));
  CHECK_OK(berth_session_send(NULL, session, "still here", 10, NULL, WAIT_MS, &last_error));
  free(read_until(out, "still here\r\nstill here\r\n"));
  close(out);
  free(handle);
  destroy(session);
}

struct shared {
  berth_runtime* runtime;
  berth_session* session;
  berth_process* victim;
  pthread_barrier_t start;
};

static void* one_of_many(void* argument) {
  struct shared* shared = argument;
  pthread_barrier_wait(&shared->start);
  for (int i = 0; i < 3; ++i) {
    berth_process* process = new_process(shared->runtime, "exit 5");
    berth_exit status;
    CHECK_OK(berth_process_wait(&status, process, -1, &last_error));
    CHECK(status.code == 5);
    berth_process_free(process);
    CHECK_OK(berth_session_send(NULL, shared->session, "x", 1, NULL, -1, &last_error));
    CHECK(liveness_of(shared->session) == BERTH_ALIVE);
    CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_process_wait(&status, process, 0, &last_error));
  }
  /* All of them free the same object, some while others use it. */
  const int32_t code = berth_process_signal(shared->victim, 0, NULL);
  CHECK(code == BERTH_OK || code == BERTH_INVALID_ARGUMENT || code == BERTH_FAILED_PRECONDITION);
  berth_process_free(shared->victim);
  berth_error_free(last_error);
  return NULL;
}

static void test_64_threads(berth_runtime* runtime) {
  enum { kThreads = 64 };
  struct shared shared = {.runtime = runtime, .session = NULL, .victim = NULL};
  shared.session = new_session(runtime, "shared", "exec cat >/dev/null", 24);
  shared.victim = new_process(runtime, "exec sleep 1000");
  CHECK(pthread_barrier_init(&shared.start, NULL, kThreads) == 0);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    CHECK(pthread_create(&threads[i], NULL, one_of_many, &shared) == 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  pthread_barrier_destroy(&shared.start);
  CHECK(berth_process_pid(shared.victim) == -1);
  destroy(shared.session);
}

/* What the runtime made ends with it, and its handles with it. */
static void test_end_of_runtime(const char* state_dir) {
  berth_runtime* runtime = new_runtime(state_dir);
  berth_process* process = new_process(runtime, "exec sleep 1000");
  const pid_t pid = berth_process_pid(process);
  CHECK(pid > 0 && kill(pid, 0) == 0);
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  CHECK_OK(berth_session_spec_new(&spec, "ephemeral", 9, &last_error));
  berth_session_spec_set_shell(spec, "exec sleep 1000", 15);
  berth_session_spec_set_durable(spec, 0);
  CHECK_OK(berth_session_create(&session, runtime, spec, &last_error));
  berth_session_spec_free(spec);
  int32_t keeper = -1;
  CHECK_OK(berth_session_exit_fd(&keeper, session, &last_error));
  berth_runtime_free(runtime);
  CHECK(kill(pid, 0) != 0);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_process_wait(NULL, process, -1, &last_error));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_session_wait(NULL, session, -1, &last_error));
  berth_process_free(process);
  berth_session_free(session);
  berth_runtime_free(runtime);
  /* The last that the session has is its keeper, which may still be removing the record. */
  struct pollfd gone = {.fd = keeper, .events = POLLRDHUP, .revents = 0};
  CHECK(poll(&gone, 1, WAIT_MS) == 1);
  close(keeper);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "make") == 0) return make_and_die(argv[2]);
  const char* state_dir = make_state_dir();
  berth_runtime* runtime = new_runtime(state_dir);
  test_versions();
  test_names();
  test_cancelled_thread(runtime);
  test_lifecycle(runtime);
  test_session_calls(runtime, state_dir);
  test_environment(runtime);
  test_fast_exit(runtime);
  test_wait_then_kill(runtime);
  test_events(state_dir);
  test_survival(runtime, state_dir);
  test_64_threads(runtime);
  test_end_of_runtime(state_dir);
  berth_runtime_free(runtime);
  berth_error_free(last_error);
  check_nothing_left(state_dir, 1);
  puts("PASS");
  return 0;
}
