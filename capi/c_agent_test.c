/* Agents as a C program runs them: a stand-in for Claude Code that prints what that would. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

#define INIT \
  "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\"}'\n"
#define MESSAGE                                                                            \
  "echo '{\"type\":\"assistant\",\"session_id\":\"s-1\",\"message\":{\"id\":\"msg_1\","    \
  "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"}],\"usage\":" \
  "{\"input_tokens\":3,\"output_tokens\":4}}}'\n"
#define RESULT                                                                               \
  "echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\"," \
  "\"session_id\":\"s-1\",\"num_turns\":1,\"total_cost_usd\":0.25,\"usage\":"                \
  "{\"input_tokens\":3,\"output_tokens\":4}}'\n"

static char program[300];

static void write_program(const char* text) {
  FILE* file = fopen(program, "we");
  CHECK(file != NULL);
  CHECK(fputs("#!/bin/sh\n", file) >= 0 && fputs(text, file) >= 0 && fclose(file) == 0);
  CHECK(chmod(program, 0700) == 0);
}

static berth_agent_run* start(berth_runtime* runtime, const char* state_dir, const char* resume) {
  berth_agent_context* context = NULL;
  berth_agent_run* run = NULL;
  CHECK_OK(berth_agent_context_new(&context, "claude", 6, &last_error));
  berth_agent_context_set_text(context, BERTH_AGENT_PROMPT, "do it", 5);
  berth_agent_context_set_text(context, BERTH_AGENT_COMMAND, program, strlen(program));
  berth_agent_context_set_text(context, BERTH_AGENT_RESUME, resume, strlen(resume));
  berth_agent_context_set_text(context, BERTH_AGENT_STORY_ID, "story-9", 7);
  berth_agent_context_set_text(context, BERTH_AGENT_STATE_DIR, state_dir, strlen(state_dir));
  berth_agent_context_set_budget(context, 100, 10.0, 60000);
  berth_agent_context_set_time(context, BERTH_AGENT_STOP_GRACE, 1000);
  CHECK_OK(berth_agent_start(&run, runtime, context, &last_error));
  berth_agent_context_free(context);
  return run;
}

static int64_t result_of(berth_agent_run* run, int32_t field) {
  berth_agent_result* result = NULL;
  CHECK_OK(berth_agent_run_result(&result, run, &last_error));
  const int64_t number = berth_agent_result_number(result, field);
  berth_agent_result_free(result);
  return number;
}

/* Waits as an event loop does: on the descriptor, then takes what there is. */
static berth_agent_event* next_event(berth_agent_run* run) {
  berth_agent_event* event = NULL;
  int32_t fd = -1;
  CHECK_OK(berth_agent_run_fd(&fd, run, &last_error));
  while (event == NULL && berth_agent_run_finished(run) == 0) {
    struct pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
    CHECK(poll(&ready, 1, WAIT_MS) == 1);
    CHECK_OK(berth_agent_run_next(&event, run, 0, &last_error));
  }
  close(fd);
  return event;
}

static void test_events_usage_and_result(berth_runtime* runtime, const char* state_dir) {
  write_program("cat >/dev/null\n" INIT MESSAGE MESSAGE RESULT);
  berth_agent_run* run = start(runtime, state_dir, "");
  berth_agent_subscription* other = NULL;
  CHECK_OK(berth_agent_run_subscribe(&other, run, 1, &last_error));
  int seen[16] = {0};
  int count = 0;
  for (berth_agent_event* event; (event = next_event(run)) != NULL; ++count) {
    const int64_t kind = berth_agent_event_number(event, BERTH_AGENT_EVENT_KIND);
    CHECK(kind >= 0 && kind < 16);
    seen[kind] = 1;
    CHECK(berth_agent_event_number(event, BERTH_AGENT_EVENT_SEQUENCE) == count + 1);
    if (kind == BERTH_AGENT_STARTED) {
      CHECK_TEXT("s-1", berth_agent_event_text(event, BERTH_AGENT_EVENT_SESSION_ID, NULL));
    }
    if (kind == BERTH_AGENT_TEXT) {
      CHECK_TEXT("hello", berth_agent_event_text(event, BERTH_AGENT_EVENT_TEXT, NULL));
    }
    berth_string* json = NULL;
    CHECK_OK(berth_agent_event_json(&json, event, &last_error));
    CHECK(strstr(berth_string_data(json, NULL), berth_agent_event_name((int32_t)kind)) != NULL);
    berth_string_free(json);
    berth_agent_event_free(event);
  }
  CHECK(seen[BERTH_AGENT_STARTED] && seen[BERTH_AGENT_TEXT] && seen[BERTH_AGENT_RESULT]);

  berth_agent_result* result = NULL;
  CHECK_OK(berth_agent_run_drive(&result, run, WAIT_MS, &last_error));
  CHECK(berth_agent_result_number(result, BERTH_AGENT_RESULT_STATUS) == BERTH_AGENT_COMPLETED);
  CHECK(berth_agent_result_number(result, BERTH_AGENT_RESULT_REASON) == BERTH_AGENT_END_SUCCESS);
  CHECK_TEXT("completed", berth_agent_status_name(BERTH_AGENT_COMPLETED));
  CHECK_TEXT("success", berth_agent_end_name(BERTH_AGENT_END_SUCCESS));
  CHECK_TEXT("ok", berth_agent_result_text(result, BERTH_AGENT_RESULT_TEXT, NULL));
  CHECK_TEXT("s-1", berth_agent_result_text(result, BERTH_AGENT_RESULT_SESSION_ID, NULL));
  berth_usage usage, tallied;
  CHECK_OK(berth_agent_result_usage(&usage, &tallied, result, &last_error));
  CHECK(usage.input == 3 && usage.output == 4 && usage.cost_usd == 0.25);
  CHECK(tallied.input == 3 && tallied.output == 4); /* the repeated message once */
  berth_exit status;
  CHECK_OK(berth_agent_result_exit(&status, result, &last_error));
  CHECK(status.code == 0);
  berth_agent_result_free(result);

  int others = 0;
  int64_t missed = -1;
  for (berth_agent_event* event = NULL;; ++others) {
    CHECK_OK(berth_agent_subscription_next(&event, &missed, other, &last_error));
    CHECK(missed == 0);
    if (event == NULL) break;
    berth_agent_event_free(event);
  }
  CHECK(others == count && berth_agent_subscription_ended(other) == 1);
  CHECK(berth_agent_subscription_position(other) == count + 1);
  berth_agent_subscription_free(other);

  /* The same from the log, as another process reads it. */
  size_t id_size = 0;
  const char* id = berth_agent_run_id(run, &id_size);
  berth_agent_log* log = NULL;
  CHECK_OK(berth_agent_log_open(&log, state_dir, strlen(state_dir), id, id_size, &last_error));
  CHECK_TEXT("story-9", berth_agent_log_text(log, BERTH_AGENT_LOG_STORY_ID, NULL));
  CHECK_TEXT("claude", berth_agent_log_text(log, BERTH_AGENT_LOG_AGENT, NULL));
  CHECK(berth_agent_log_number(log, BERTH_AGENT_LOG_STARTED_UNIX_NS) > 0);
  CHECK(berth_agent_log_number(log, BERTH_AGENT_LOG_UNREADABLE) == 0);
  CHECK(berth_agent_log_number(log, 50) == -1 && berth_agent_log_number(NULL, 0) == -1);
  int logged = 0;
  for (berth_agent_event* event = NULL;; ++logged) {
    CHECK_OK(berth_agent_log_next(&event, log, &last_error));
    if (event == NULL) break;
    berth_agent_event_free(event);
  }
  CHECK(logged == count);
  CHECK_OK(berth_agent_log_end(&result, log, &last_error));
  CHECK_TEXT("ok", berth_agent_result_text(result, BERTH_AGENT_RESULT_TEXT, NULL));
  berth_agent_result_free(result);
  berth_agent_log_free(log);
  berth_strings* runs = NULL;
  CHECK_OK(berth_agent_log_list(&runs, state_dir, strlen(state_dir), &last_error));
  CHECK(berth_strings_count(runs) == 1);
  berth_strings_free(runs);
  berth_agent_run_free(run);
}

static void test_resume_gives_the_agent_its_session(berth_runtime* runtime, const char* state_dir) {
  write_program("cat >/dev/null\n" INIT "case \"$*\" in *s-0*) ;; *) exit 3 ;; esac\n" RESULT);
  berth_agent_run* run = start(runtime, state_dir, "s-0");
  berth_agent_result* result = NULL;
  CHECK_OK(berth_agent_run_drive(&result, run, WAIT_MS, &last_error));
  CHECK(berth_agent_result_number(result, BERTH_AGENT_RESULT_REASON) == BERTH_AGENT_END_SUCCESS);
  berth_agent_result_free(result);
  berth_agent_run_free(run);
}

static void test_stop_ends_it(berth_runtime* runtime, const char* state_dir) {
  write_program("cat >/dev/null\n" INIT "exec sleep 1000\n");
  berth_agent_run* run = start(runtime, state_dir, "");
  berth_agent_event* event = next_event(run);
  CHECK(berth_agent_event_number(event, BERTH_AGENT_EVENT_KIND) == BERTH_AGENT_STARTED);
  berth_agent_event_free(event);
  CHECK(result_of(run, BERTH_AGENT_RESULT_STATUS) == BERTH_AGENT_RUNNING);
  CHECK_OK(berth_agent_run_stop(run, &last_error));
  berth_agent_result* result = NULL;
  CHECK_OK(berth_agent_run_drive(&result, run, WAIT_MS, &last_error));
  CHECK(berth_agent_result_number(result, BERTH_AGENT_RESULT_REASON) == BERTH_AGENT_END_STOPPED);
  berth_agent_result_free(result);
  berth_agent_run_free(run);

  /* Freeing a run ends it too. */
  run = start(runtime, state_dir, "");
  event = next_event(run);
  berth_agent_event_free(event);
  berth_agent_run_free(run);
  CHECK(berth_agent_run_finished(run) == -1);
}

static void test_what_is_wrong_is_told(berth_runtime* runtime) {
  berth_agent_context* context = NULL;
  berth_agent_run* run = NULL;
  CHECK_OK(berth_agent_context_new(&context, "nobody", 6, &last_error));
  berth_agent_context_set_text(context, BERTH_AGENT_PROMPT, "x", 1);
  CHECK(berth_agent_start(&run, runtime, context, &last_error) != BERTH_OK);
  CHECK(strstr(berth_error_message(last_error, NULL), "nobody") != NULL);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_agent_context_set_text(context, 99, "x", 1));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_agent_context_set_budget(context, -1, 0, -1));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_agent_context_set_flags(context, 1 << 20));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_agent_start(&run, runtime, context, &last_error));
  berth_agent_context_free(context);
  CHECK(run == NULL);
}

int main(void) {
  const char* state_dir = make_state_dir();
  snprintf(program, sizeof(program), "%.200s-agent", state_dir);
  berth_runtime* runtime = new_runtime(state_dir);
  test_events_usage_and_result(runtime, state_dir);
  test_resume_gives_the_agent_its_session(runtime, state_dir);
  test_stop_ends_it(runtime, state_dir);
  test_what_is_wrong_is_told(runtime);
  berth_runtime_free(runtime);
  berth_error_free(last_error);
  check_nothing_left(state_dir, 0);
  puts("PASS");
  return 0;
}
