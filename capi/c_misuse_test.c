/* Wrong use of the C ABI is answered with a code: NULL, freed and foreign handles, values that do
 * not exist, fork. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

/* Invalid, with an error object that says so, and without one. */
#define INVALID(call)                                         \
  do {                                                        \
    berth_error* error = NULL;                                \
    CHECK_CODE(BERTH_INVALID_ARGUMENT, call);                 \
    CHECK(berth_error_code(error) == BERTH_INVALID_ARGUMENT); \
    CHECK(strlen(berth_error_message(error, NULL)) > 0);      \
    berth_error_free(error);                                  \
  } while (0)
#define INVALID_SETTER(call) CHECK_CODE(BERTH_INVALID_ARGUMENT, call)

static berth_runtime* runtime;
static berth_session* session;
static berth_process* process;

static void test_null_texts_and_lists(void) {
  size_t size = 7;
  berth_strings* strings = NULL;
  INVALID(berth_strings_new(NULL, &error));
  CHECK_OK(berth_strings_new(&strings, NULL));
  INVALID_SETTER(berth_strings_add(NULL, "x", 1));
  CHECK(berth_strings_count(NULL) == 0);
  CHECK(berth_strings_at(NULL, 0, &size) == NULL && size == 0);
  CHECK(berth_strings_at(strings, 0, NULL) == NULL);
  INVALID_SETTER(berth_strings_add(strings, NULL, 1));
  INVALID(berth_session_send_keys(session, strings, &error)); /* kept from the setter */
  berth_strings_free(strings);
  CHECK(berth_string_data(NULL, &size) == NULL && size == 0);
  CHECK(berth_string_data(NULL, NULL) == NULL);
  CHECK(berth_error_code(NULL) == BERTH_OK);
  CHECK_TEXT("", berth_error_message(NULL, NULL));
  berth_exit status = {0, 0, 77, 0};
  berth_string* text = NULL;
  INVALID(berth_exit_describe(NULL, &status, &error));
  INVALID(berth_exit_describe(&text, NULL, &error));
  CHECK_OK(berth_exit_describe(&text, &status, NULL)); /* a reason of a later version */
  berth_string_free(text);
  berth_string_free(NULL);
  berth_strings_free(NULL);
  berth_error_free(NULL);
}

static void test_null_specs(void) {
  berth_env* env = NULL;
  berth_session_spec* of_session = NULL;
  berth_process_spec* of_process = NULL;
  INVALID(berth_env_new(NULL, BERTH_ENV_CLEAN, &error));
  INVALID(berth_env_new(&env, 99, &error));
  INVALID(berth_env_new_listed(NULL, NULL, &error));
  INVALID(berth_env_new_listed(&env, NULL, &error));
  CHECK(env == NULL);
  CHECK_OK(berth_env_new(&env, BERTH_ENV_CLEAN, NULL));
  INVALID_SETTER(berth_env_set(NULL, "K", 1, "v", 1));
  INVALID_SETTER(berth_env_set(env, NULL, 1, "v", 1));
  INVALID_SETTER(berth_env_set(env, "K", 1, NULL, 1));
  INVALID_SETTER(berth_env_unset(NULL, "K", 1));
  INVALID_SETTER(berth_env_unset(env, NULL, 1));
  INVALID_SETTER(berth_env_append(NULL, "K", 1, "v", 1, ":", 1));
  INVALID_SETTER(berth_env_append(env, NULL, 1, "v", 1, ":", 1));
  INVALID_SETTER(berth_env_append(env, "K", 1, NULL, 1, ":", 1));
  INVALID_SETTER(berth_env_append(env, "K", 1, "v", 1, NULL, 1));

  INVALID(berth_session_spec_new(NULL, "a", 1, &error));
  INVALID(berth_session_spec_new(&of_session, NULL, 1, &error));
  INVALID(berth_session_spec_new(&of_session, "a", (size_t)-1, &error));
  CHECK(of_session == NULL);
  CHECK_OK(berth_session_spec_new(&of_session, "a", 1, NULL));
  INVALID_SETTER(berth_session_spec_set_backend(NULL, "native", 6));
  INVALID_SETTER(berth_session_spec_set_backend(of_session, NULL, 6));
  INVALID_SETTER(berth_session_spec_add_arg(NULL, "x", 1));
  INVALID_SETTER(berth_session_spec_add_arg(of_session, NULL, 1));
  INVALID_SETTER(berth_session_spec_set_shell(NULL, "x", 1));
  INVALID_SETTER(berth_session_spec_set_shell(of_session, NULL, 1));
  INVALID_SETTER(berth_session_spec_set_env(NULL, env));
  INVALID_SETTER(berth_session_spec_set_env(of_session, NULL));
  INVALID_SETTER(berth_session_spec_set_env(of_session, env)); /* which has an error of its own */
  INVALID_SETTER(berth_session_spec_set_cwd(NULL, "/", 1));
  INVALID_SETTER(berth_session_spec_set_cwd(of_session, NULL, 1));
  INVALID_SETTER(berth_session_spec_set_terminal(NULL, 1, 1));
  INVALID_SETTER(berth_session_spec_set_terminal(of_session, 0, 1));
  INVALID_SETTER(berth_session_spec_set_durable(NULL, 1));
  INVALID_SETTER(berth_session_spec_set_time_limits(NULL, 1, 1, 1));
  INVALID_SETTER(berth_session_spec_set_time_limits(of_session, -2, 1, 1));
  INVALID_SETTER(berth_session_spec_set_time_limits(of_session, 1, 1, -1));
  INVALID_SETTER(berth_session_spec_set_kept(NULL, 1, 1));
  INVALID_SETTER(berth_session_spec_set_log(NULL, "/x", 2, 1));
  INVALID_SETTER(berth_session_spec_set_log(of_session, NULL, 2, 1));
  INVALID_SETTER(berth_session_spec_set_label(NULL, "k", 1, "v", 1));
  INVALID_SETTER(berth_session_spec_set_label(of_session, NULL, 1, "v", 1));
  INVALID_SETTER(berth_session_spec_set_label(of_session, "k", 1, NULL, 1));
  berth_session* made = NULL;
  INVALID(berth_session_create(&made, runtime, of_session, &error)); /* the first error is kept */
  CHECK(made == NULL);

  INVALID(berth_process_spec_new(NULL, &error));
  CHECK_OK(berth_process_spec_new(&of_process, NULL));
  INVALID_SETTER(berth_process_spec_add_arg(NULL, "x", 1));
  INVALID_SETTER(berth_process_spec_add_arg(of_process, NULL, 1));
  INVALID_SETTER(berth_process_spec_set_shell(NULL, "x", 1));
  INVALID_SETTER(berth_process_spec_set_shell(of_process, NULL, 1));
  INVALID_SETTER(berth_process_spec_set_env(NULL, env));
  INVALID_SETTER(berth_process_spec_set_env(of_process, NULL));
  INVALID_SETTER(berth_process_spec_set_cwd(NULL, "/", 1));
  INVALID_SETTER(berth_process_spec_set_cwd(of_process, NULL, 1));
  INVALID_SETTER(berth_process_spec_set_stdio(NULL, BERTH_STDIN, BERTH_STDIO_NULL, 0));
  INVALID_SETTER(berth_process_spec_set_stdio(of_process, 3, BERTH_STDIO_NULL, 0));
  INVALID_SETTER(berth_process_spec_set_stdio(of_process, -1, BERTH_STDIO_NULL, 0));
  INVALID_SETTER(berth_process_spec_set_stdio(of_process, BERTH_STDIN, 9, 0));
  INVALID_SETTER(berth_process_spec_set_terminal(NULL, 1, 1));
  berth_process* spawned = NULL;
  INVALID(berth_process_spawn(&spawned, runtime, of_process, &error));
  CHECK(spawned == NULL);
  berth_env_free(env);
  berth_session_spec_free(of_session);
  berth_process_spec_free(of_process);
  berth_env_free(NULL);
  berth_session_spec_free(NULL);
  berth_process_spec_free(NULL);
}

static void test_null_runtime_calls(void) {
  int32_t fd = -9;
  berth_session* found = NULL;
  berth_process* spawned = NULL;
  berth_event* event = NULL;
  berth_infos* infos = NULL;
  berth_exit status;
  berth_session_spec* of_session = NULL;
  berth_process_spec* of_process = NULL;
  CHECK_OK(berth_session_spec_new(&of_session, "a", 1, NULL));
  CHECK_OK(berth_process_spec_new(&of_process, NULL));
  INVALID(berth_runtime_new(NULL, "/x", 2, &error));
  INVALID(berth_runtime_new(&runtime, NULL, 2, &error));
  INVALID(berth_session_create(NULL, runtime, of_session, &error));
  INVALID(berth_session_create(&found, NULL, of_session, &error));
  INVALID(berth_session_create(&found, runtime, NULL, &error));
  INVALID(berth_session_create(&found, runtime, of_session, &error)); /* no command */
  INVALID(berth_session_open(NULL, runtime, "x", 1, &error));
  INVALID(berth_session_open(&found, NULL, "x", 1, &error));
  INVALID(berth_session_open(&found, runtime, NULL, 1, &error));
  INVALID(berth_session_find(NULL, runtime, "x", 1, &error));
  INVALID(berth_session_find(&found, NULL, "x", 1, &error));
  INVALID(berth_session_find(&found, runtime, NULL, 1, &error));
  INVALID(berth_session_list(NULL, runtime, &error));
  INVALID(berth_session_list(&infos, NULL, &error));
  INVALID(berth_process_spawn(NULL, runtime, of_process, &error));
  INVALID(berth_process_spawn(&spawned, NULL, of_process, &error));
  INVALID(berth_process_spawn(&spawned, runtime, NULL, &error));
  INVALID(berth_process_spawn(&spawned, runtime, of_process, &error)); /* no command */
  INVALID(berth_runtime_event_fd(NULL, runtime, &error));
  INVALID(berth_runtime_event_fd(&fd, NULL, &error));
  INVALID(berth_runtime_next_event(NULL, runtime, 0, &error));
  INVALID(berth_runtime_next_event(&event, NULL, 0, &error));
  INVALID(berth_runtime_next_event(&event, runtime, -2, &error));
  INVALID(berth_event_exit(&status, NULL, &error));
  INVALID(berth_event_exit(NULL, NULL, &error));
  CHECK(berth_event_kind(NULL) == BERTH_EVENT_NONE);
  CHECK(berth_event_handle(NULL, NULL) == NULL && berth_event_name(NULL, NULL) == NULL &&
        berth_event_detail(NULL, NULL) == NULL);
  CHECK(fd == -9 && found == NULL && spawned == NULL && event == NULL && infos == NULL);

  berth_strings* keys = NULL;
  CHECK_OK(berth_session_list(&infos, runtime, NULL));
  CHECK(berth_infos_count(NULL) == 0);
  CHECK(berth_infos_text(NULL, 0, BERTH_INFO_NAME, NULL) == NULL);
  CHECK(berth_infos_text(infos, 0, 999, NULL) == NULL);
  CHECK(berth_infos_number(NULL, 0, BERTH_INFO_PID) == -1);
  CHECK(berth_infos_label(NULL, 0, "x", 1, NULL) == NULL);
  CHECK(berth_infos_label(infos, 0, NULL, 1, NULL) == NULL);
  INVALID(berth_infos_exit(NULL, infos, 0, &error));
  INVALID(berth_infos_exit(&status, NULL, 0, &error));
  CHECK_CODE(BERTH_OUT_OF_RANGE, berth_infos_exit(&status, infos, 99, NULL));
  INVALID(berth_infos_label_keys(NULL, infos, 0, &error));
  INVALID(berth_infos_label_keys(&keys, NULL, 0, &error));
  CHECK_CODE(BERTH_OUT_OF_RANGE, berth_infos_label_keys(&keys, infos, 99, NULL));
  berth_infos_free(infos);
  berth_session_spec_free(of_session);
  berth_process_spec_free(of_process);
  berth_infos_free(NULL);
  berth_event_free(NULL);
  berth_runtime_free(NULL);
}

/* With NULL, or with something else that is no session. */
static void no_session(berth_session* it) {
  int32_t number = -9;
  int64_t begins = -9;
  berth_string* text = NULL;
  berth_strings* keys = NULL;
  berth_infos* infos = NULL;
  berth_process* exec = NULL;
  berth_process_spec* spec = NULL;
  berth_stats stats;
  berth_exit status;
  CHECK_OK(berth_strings_new(&keys, NULL));
  CHECK_OK(berth_process_spec_new(&spec, NULL));
  CHECK(berth_session_handle(it, NULL) == NULL);
  INVALID(berth_session_name(&text, it, &error));
  INVALID(berth_session_info(&infos, it, &error));
  INVALID(berth_session_liveness(&number, &text, it, &error));
  INVALID(berth_session_send(&number, it, "x", 1, NULL, 0, &error));
  INVALID(berth_session_send_keys(it, keys, &error));
  INVALID(berth_session_close_stdin(it, &error));
  INVALID(berth_session_capture(&text, it, 0, 0, &error));
  INVALID(berth_session_output_fd(&number, &begins, it, BERTH_STDOUT, 0, -1, &error));
  INVALID(berth_session_resize(it, 1, 1, &error));
  INVALID(berth_session_attach_fd(&number, it, &error));
  INVALID(berth_session_attach_command(&keys, it, &error));
  INVALID(berth_session_set_log(it, "/x", 2, 1, &error));
  INVALID(berth_session_set_env(it, "K", 1, "v", 1, &error));
  INVALID(berth_session_exec(&exec, it, spec, &error));
  INVALID(berth_session_stats(&stats, it, &error));
  INVALID(berth_session_signal(it, SIGTERM, &error));
  INVALID(berth_session_stop(&status, it, 0, &error));
  INVALID(berth_session_wait(&status, it, -1, &error));
  INVALID(berth_session_exit_fd(&number, it, &error));
  INVALID(berth_session_rename(it, "x", 1, &error));
  INVALID(berth_session_destroy(it, 0, &error));
  CHECK(number == -9 && begins == -9 && text == NULL && infos == NULL && exec == NULL);
  berth_strings_free(keys);
  berth_process_spec_free(spec);
  berth_session_free(it);
}

static void test_wrong_session_arguments(void) {
  int32_t number = -9;
  berth_process* exec = NULL;
  berth_process_spec* spec = NULL;
  berth_send_options* options = NULL;
  CHECK_OK(berth_process_spec_new(&spec, NULL));
  INVALID(berth_send_options_new(NULL, &error));
  CHECK_OK(berth_send_options_new(&options, NULL));
  INVALID_SETTER(berth_send_options_set_submit(NULL, "Enter", 5));
  INVALID_SETTER(berth_send_options_set_paste(NULL, 1));
  INVALID_SETTER(berth_send_options_set_await(NULL, BERTH_WRITTEN));
  INVALID_SETTER(berth_send_options_set_await(options, 4));
  INVALID_SETTER(berth_send_options_set_submit(options, NULL, 5));
  INVALID(berth_session_send(&number, session, "x", 1, options, 0, &error));
  berth_send_options_free(options);
  INVALID(berth_session_send(&number, session, "x", 1, options, 0, &error)); /* freed */
  berth_send_options_free(NULL);
  INVALID(berth_session_name(NULL, session, &error));
  INVALID(berth_session_info(NULL, session, &error));
  INVALID(berth_session_liveness(NULL, NULL, session, &error));
  INVALID(berth_session_send(&number, session, NULL, 1, NULL, 0, &error));
  INVALID(berth_session_send(&number, session, "x", 1, NULL, -5, &error));
  INVALID(berth_session_send_keys(session, NULL, &error));
  INVALID(berth_session_capture(NULL, session, 0, 0, &error));
  berth_string* text = NULL;
  INVALID(berth_session_capture(&text, session, -1, 0, &error));
  INVALID(berth_session_capture(&text, session, 0, 6, &error));
  INVALID(berth_session_output_fd(NULL, NULL, session, BERTH_STDOUT, 0, -1, &error));
  INVALID(berth_session_output_fd(&number, NULL, session, BERTH_STDIN, 0, -1, &error));
  INVALID(berth_session_output_fd(&number, NULL, session, 17, 0, -1, &error));
  INVALID(berth_session_output_fd(&number, NULL, session, BERTH_STDOUT, -2, -1, &error));
  INVALID(berth_session_attach_fd(NULL, session, &error));
  INVALID(berth_session_attach_command(NULL, session, &error));
  INVALID(berth_session_set_log(session, NULL, 1, 1, &error));
  INVALID(berth_session_set_env(session, NULL, 1, "v", 1, &error));
  INVALID(berth_session_set_env(session, "K", 1, NULL, 1, &error));
  INVALID(berth_session_set_env(session, "a=b", 3, "v", 1, &error));
  INVALID(berth_session_exec(NULL, session, spec, &error));
  INVALID(berth_session_exec(&exec, session, NULL, &error));
  INVALID(berth_session_stats(NULL, session, &error));
  INVALID(berth_session_stop(NULL, session, -1, &error));
  INVALID(berth_session_wait(NULL, session, -2, &error));
  INVALID(berth_session_exit_fd(NULL, session, &error));
  INVALID(berth_session_rename(session, NULL, 1, &error));
  INVALID(berth_session_destroy(session, -1, &error));
  CHECK(number == -9 && exec == NULL && text == NULL);
  CHECK_OK(berth_session_liveness(&number, NULL, session, NULL));
  CHECK(number == BERTH_ALIVE);
  berth_process_spec_free(spec);
}

static void no_process(berth_process* it) {
  int32_t fd = -9;
  berth_exit status;
  berth_stats stats;
  berth_start_timing timing;
  CHECK(berth_process_pid(it) == -1 && berth_process_is_pty(it) == -1);
  INVALID(berth_process_timing(&timing, it, &error));
  INVALID(berth_process_take_stdin_fd(&fd, it, &error));
  INVALID(berth_process_take_stdout_fd(&fd, it, &error));
  INVALID(berth_process_take_stderr_fd(&fd, it, &error));
  INVALID(berth_process_resize(it, 1, 1, &error));
  INVALID(berth_process_signal(it, SIGTERM, &error));
  INVALID(berth_process_stop(&status, it, 0, &error));
  INVALID(berth_process_wait(&status, it, -1, &error));
  INVALID(berth_process_exit_fd(&fd, it, &error));
  INVALID(berth_process_stats(&stats, it, &error));
  CHECK(fd == -9);
  berth_process_free(it);
}

static void test_wrong_process_arguments(void) {
  INVALID(berth_process_timing(NULL, process, &error));
  INVALID(berth_process_take_stdin_fd(NULL, process, &error));
  INVALID(berth_process_take_stdout_fd(NULL, process, &error));
  INVALID(berth_process_take_stderr_fd(NULL, process, &error));
  INVALID(berth_process_exit_fd(NULL, process, &error));
  INVALID(berth_process_stats(NULL, process, &error));
  INVALID(berth_process_stop(NULL, process, -1, &error));
  INVALID(berth_process_wait(NULL, process, -3, &error));
  INVALID(berth_process_signal(process, 12345, &error));
  int32_t out = -1;
  CHECK_OK(berth_process_take_stdout_fd(&out, process, NULL)); /* NULL above has not taken it */
  close(out);
}

/* In the child of a fork nothing of the parent's can be used, freed or ended; a runtime of its own
 * can be made. */
static void test_fork(const char* state_dir) {
  const pid_t child = fork();
  if (child == 0) {
    no_session(session);
    no_process(process);
    INVALID(berth_process_spawn(&process, runtime, NULL, &error));
    berth_runtime_free(runtime);
    berth_runtime* own = new_runtime(state_dir);
    berth_process* started = new_process(own, "exit 6");
    berth_exit status;
    CHECK_OK(berth_process_wait(&status, started, WAIT_MS, NULL));
    CHECK(status.code == 6);
    no_process(process);
    berth_runtime_free(own);
    _exit(0);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  CHECK_CODE(BERTH_DEADLINE_EXCEEDED, berth_process_wait(NULL, process, 0, NULL));
}

int main(void) {
  const char* state_dir = make_state_dir();
  int on_stack = 0;
  runtime = new_runtime(state_dir);
  session = new_session(runtime, "misused", "exec cat", 24);
  process = new_process(runtime, "exec sleep 1000");
  test_null_texts_and_lists();
  test_null_specs();
  test_null_runtime_calls();
  test_wrong_session_arguments();
  test_wrong_process_arguments();
  no_session(NULL);
  no_process(NULL);
  no_session((berth_session*)process); /* of another type */
  no_process((berth_process*)session);
  no_session((berth_session*)&on_stack); /* of nobody */
  no_process((berth_process*)(uintptr_t)-1);
  test_fork(state_dir);

  CHECK_OK(berth_session_destroy(session, 0, NULL));
  for (int i = 0; i < 2; ++i) { /* used and freed after being freed */
    berth_session_free(session);
    no_session(session);
    berth_process_free(process);
    no_process(process);
  }
  berth_runtime_free(runtime);
  berth_runtime_free(runtime);
  berth_session* found = NULL;
  INVALID(berth_session_find(&found, runtime, "a", 1, &error));
  /* An error that was freed, and a variable that never held one. */
  berth_error* error = (berth_error*)&on_stack;
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_session_find(NULL, NULL, "a", 1, &error));
  berth_error_free(error);
  berth_error_free(error);
  CHECK(berth_error_code(error) == BERTH_INVALID_ARGUMENT);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_session_find(NULL, NULL, "a", 1, &error));
  berth_error_free(error);
  check_nothing_left(state_dir, 0);
  puts("PASS");
  return 0;
}
