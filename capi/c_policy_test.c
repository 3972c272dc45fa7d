/* Policies as a C program uses them: built, told, enforced; what they stop; what was written apart.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

static berth_policy_builder* new_builder(const char* preset, const char* workspace) {
  berth_policy_builder* builder = NULL;
  CHECK_OK(berth_policy_builder_new(&builder, preset, strlen(preset), workspace, strlen(workspace),
                                    &last_error));
  return builder;
}

static berth_policy* build(berth_policy_builder* builder) {
  berth_policy* policy = NULL;
  CHECK_OK(berth_policy_build(&policy, builder, &last_error));
  berth_policy_builder_free(builder);
  return policy;
}

static berth_strings* strings_of(const char* text) {
  berth_strings* strings = NULL;
  CHECK_OK(berth_strings_new(&strings, &last_error));
  CHECK_OK(berth_strings_add(strings, text, strlen(text)));
  return strings;
}

/* Everything that is set can be read again, from the text too. */
static void test_what_is_built_is_what_is_told(const char* workspace) {
  berth_policy_builder* builder = new_builder("agent", workspace);
  berth_strings* domains = strings_of("*.example.com");
  berth_strings* calls = strings_of("ptrace");
  CHECK_OK(berth_policy_builder_add_path(builder, BERTH_ACCESS_READ_ONLY, "/srv", 4, "/data", 5,
                                         BERTH_PATH_IF_THERE));
  CHECK_OK(berth_policy_builder_add_tmpfs(builder, "/scratch", 8));
  CHECK_OK(berth_policy_builder_set_domains(builder, domains));
  CHECK_OK(berth_policy_builder_deny_syscalls(builder, calls));
  CHECK_OK(berth_policy_builder_set_limit(builder, BERTH_LIMIT_MEMORY, INT64_C(1) << 30));
  CHECK_OK(berth_policy_builder_set_limit(builder, BERTH_LIMIT_MILLICPUS, 1500));
  CHECK_OK(berth_policy_builder_set_limit(builder, BERTH_LIMIT_WALL_MS, 60000));
  CHECK_OK(berth_policy_builder_set_hostname(builder, "berth", 5));
  CHECK_OK(berth_policy_builder_report_files(builder));
  berth_policy* policy = build(builder);
  berth_strings_free(domains);
  berth_strings_free(calls);

  CHECK(berth_policy_number(policy, BERTH_POLICY_NETWORK) == BERTH_NETWORK_ALLOW_LIST);
  CHECK(berth_policy_number(policy, BERTH_POLICY_SYSTEM) == 1);
  CHECK(berth_policy_number(policy, BERTH_POLICY_SECCOMP_OFF) == 0);
  CHECK(berth_policy_number(policy, BERTH_POLICY_REPORT_FILES) == 1);
  CHECK(berth_policy_number(policy, 99) == -1);
  CHECK(berth_policy_limit(policy, BERTH_LIMIT_MEMORY) == INT64_C(1) << 30);
  CHECK(berth_policy_limit(policy, BERTH_LIMIT_MILLICPUS) == 1500);
  CHECK(berth_policy_limit(policy, BERTH_LIMIT_WALL_MS) == 60000);
  CHECK_TEXT("berth", berth_policy_text(policy, BERTH_POLICY_HOSTNAME, NULL));
  berth_strings* told = NULL;
  CHECK_OK(berth_policy_list(&told, policy, BERTH_POLICY_DOMAINS, &last_error));
  CHECK_TEXT("*.example.com", berth_strings_at(told, 0, NULL));
  berth_strings_free(told);
  int found = 0;
  berth_policy_path path;
  for (size_t i = 0; berth_policy_path_at(&path, policy, i, NULL) == BERTH_OK; ++i) {
    if (strcmp(path.path, "/srv") != 0) continue;
    found = strcmp(path.inside, "/data") == 0 && path.access == BERTH_ACCESS_READ_ONLY &&
            path.if_there == 1;
  }
  CHECK(found);

  berth_string* text = NULL;
  berth_policy* again = NULL;
  size_t size = 0;
  CHECK_OK(berth_policy_to_text(&text, policy, &last_error));
  const char* json = berth_string_data(text, &size);
  CHECK_OK(berth_policy_from_text(&again, json, size, &last_error));
  CHECK_TEXT(berth_policy_text(policy, BERTH_POLICY_HASH, NULL),
             berth_policy_text(again, BERTH_POLICY_HASH, NULL));
  berth_string_free(text);
  berth_policy_free(again);
  berth_policy_free(policy);
}

/* A builder keeps its first error; what is dangerous is asked for by name, also in a text. */
static void test_what_is_wrong_or_dangerous_is_told(const char* workspace) {
  berth_policy_builder* builder = new_builder("agent", workspace);
  berth_policy* policy = NULL;
  berth_policy_builder_add_path(builder, BERTH_ACCESS_READ_WRITE, "/a/../b", 7, NULL, 0, 0);
  berth_policy_builder_set_limit(builder, BERTH_LIMIT_PIDS, -7);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_policy_build(&policy, builder, &last_error));
  CHECK(strstr(berth_error_message(last_error, NULL), "..") != NULL);
  berth_policy_builder_free(builder);
  builder = new_builder("strict", "");
  CHECK_CODE(BERTH_INVALID_ARGUMENT,
             berth_policy_builder_add_path(builder, 17, "/a", 2, NULL, 0, 0));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_policy_build(&policy, builder, &last_error));
  berth_policy_builder_free(builder);
  CHECK_CODE(BERTH_INVALID_ARGUMENT,
             berth_policy_builder_new(&builder, "nobody", 6, NULL, 0, &last_error));

  builder = new_builder("agent", workspace);
  CHECK_OK(berth_policy_builder_dangerous_host_network(builder));
  CHECK_OK(berth_policy_builder_dangerous_host_pid_namespace(builder));
  CHECK_OK(berth_policy_builder_dangerous_inherited_environment(builder));
  CHECK_OK(berth_policy_builder_dangerous_seccomp_off(builder));
  CHECK_OK(berth_policy_builder_dangerous_nested_user_namespaces(builder));
  berth_policy* weak = build(builder);
  CHECK(berth_policy_number(weak, BERTH_POLICY_NETWORK) == BERTH_NETWORK_HOST);
  CHECK(berth_policy_number(weak, BERTH_POLICY_SECCOMP_OFF) == 1);
  CHECK(berth_policy_number(weak, BERTH_POLICY_REPORT_FILES) == 0);
  berth_string* text = NULL;
  size_t size = 0;
  CHECK_OK(berth_policy_to_text(&text, weak, &last_error));
  const char* json = berth_string_data(text, &size);
  CHECK_CODE(BERTH_PERMISSION_DENIED, berth_policy_from_text(&policy, json, size, &last_error));
  CHECK(policy == NULL);
  CHECK_OK(berth_policy_dangerous_from_text(&policy, json, size, &last_error));
  berth_string_free(text);
  berth_policy_free(policy);
  berth_policy_free(weak);

  int32_t tier = -1;
  CHECK_OK(berth_tier_from_name(&tier, "landlock", 8, &last_error));
  CHECK(tier == BERTH_TIER_LANDLOCK);
  CHECK_TEXT("landlock", berth_tier_name(tier));
  CHECK_TEXT("unknown", berth_tier_name(77));
}

/* This machine enforces the preset, and says how. */
static void test_the_machine_can_enforce_it(const char* state_dir, const char* workspace) {
  berth_policy* policy = build(new_builder("agent", workspace));
  int32_t tier = -1;
  berth_strings* gaps = NULL;
  CHECK_OK(berth_policy_check(&tier, &gaps, policy, &last_error));
  CHECK(tier != BERTH_TIER_AUTO);
  if (tier != BERTH_TIER_LANDLOCK) CHECK(berth_strings_count(gaps) == 0);
  berth_strings_free(gaps);
  berth_policy_free(policy);
  berth_abilities* abilities = NULL;
  CHECK_OK(berth_doctor(&abilities, state_dir, strlen(state_dir), &last_error));
  CHECK(berth_abilities_count(abilities) > 3);
  for (size_t i = 0; i < berth_abilities_count(abilities); ++i) {
    berth_ability it;
    CHECK_OK(berth_abilities_at(&it, abilities, i, &last_error));
    CHECK(it.area_size > 0 && it.name_size > 0 && strlen(it.name) == it.name_size);
    CHECK(it.state == BERTH_ABILITY_OK || (it.reason_size > 0 && it.remedy_size > 0));
  }
  berth_abilities_free(abilities);
}

/* A process under a policy sees no network, and what was stopped is told. */
static void test_what_a_policy_stops_is_told(berth_runtime* runtime, const char* workspace) {
  berth_policy* policy = build(new_builder("agent", workspace));
  berth_process_spec* spec = NULL;
  berth_process* process = NULL;
  CHECK_OK(berth_process_spec_new(&spec, &last_error));
  static const char line[] = "unshare -U true; touch \"$PWD/made\"; echo end";
  berth_process_spec_set_shell(spec, line, sizeof(line) - 1);
  berth_process_spec_set_cwd(spec, workspace, strlen(workspace));
  CHECK_OK(berth_process_spec_set_policy(spec, policy));
  CHECK_OK(berth_process_spawn(&process, runtime, spec, &last_error));
  berth_exit status;
  CHECK_OK(berth_process_wait(&status, process, WAIT_MS, &last_error));
  CHECK(status.code == 0);
  char made[300];
  snprintf(made, sizeof(made), "%s/made", workspace);
  CHECK(access(made, F_OK) == 0);
  berth_violations* violations = NULL;
  CHECK_OK(berth_process_violations(&violations, process, &last_error));
  CHECK(berth_violations_count(violations) >= 1);
  berth_violation first;
  CHECK_OK(berth_violations_at(&first, violations, 0, &last_error));
  CHECK(first.layer == BERTH_VIOLATION_SYSCALL && strstr(first.what, "unshare") != NULL);
  CHECK(strncmp(first.text, "blocked: ", 9) == 0 && first.when_unix_ns > 0);
  CHECK_TEXT("syscall", berth_violation_layer_name(first.layer));
  CHECK_CODE(BERTH_OUT_OF_RANGE,
             berth_violations_at(&first, violations, berth_violations_count(violations), NULL));
  berth_violations_free(violations);
  berth_process_free(process);
  berth_process_spec_free(spec);
  berth_policy_free(policy);
}

/* A session under a policy: its tier, its violations as events and as a feed. */
static void test_sessions_under_a_policy(const char* state_dir, const char* workspace) {
  berth_runtime* runtime = new_runtime(state_dir);
  berth_policy* policy = build(new_builder("agent", workspace));
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  CHECK_OK(berth_session_spec_new(&spec, "boxed", 5, &last_error));
  static const char line[] = "read x; unshare -U true; read x";
  berth_session_spec_set_shell(spec, line, sizeof(line) - 1);
  berth_session_spec_set_cwd(spec, workspace, strlen(workspace));
  CHECK_OK(berth_session_spec_set_policy(spec, policy));
  CHECK_OK(berth_session_create(&session, runtime, spec, &last_error));
  berth_violation_feed* feed = NULL;
  CHECK_OK(berth_session_watch_violations(&feed, session, 0, &last_error));
  CHECK_OK(berth_session_send(NULL, session, "go", 2, NULL, WAIT_MS, &last_error));
  int32_t fd = -1;
  CHECK_OK(berth_violation_feed_fd(&fd, feed, &last_error));
  struct pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
  CHECK(poll(&ready, 1, WAIT_MS) == 1);
  close(fd);
  berth_violations* violations = NULL;
  CHECK_OK(berth_violation_feed_next(&violations, feed, &last_error));
  berth_violation first;
  CHECK_OK(berth_violations_at(&first, violations, 0, &last_error));
  CHECK(strstr(first.what, "unshare") != NULL);
  berth_violations_free(violations);
  berth_violation_feed_free(feed);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_violation_feed_next(&violations, feed, &last_error));

  berth_event* event = NULL;
  CHECK_OK(berth_runtime_next_event(&event, runtime, WAIT_MS, &last_error));
  CHECK(berth_event_kind(event) == BERTH_EVENT_VIOLATION);
  CHECK_OK(berth_event_violations(&violations, event, &last_error));
  CHECK(berth_violations_count(violations) == 1);
  berth_violations_free(violations);
  berth_event_free(event);
  CHECK_OK(berth_session_violations(&violations, session, &last_error));
  CHECK(berth_violations_count(violations) >= 1);
  berth_violations_free(violations);
  berth_infos* infos = NULL;
  CHECK_OK(berth_session_info(&infos, session, &last_error));
  CHECK(strlen(berth_infos_text(infos, 0, BERTH_INFO_TIER, NULL)) > 0);
  CHECK(berth_infos_number(infos, 0, BERTH_INFO_VIOLATIONS) >= 1);
  berth_infos_free(infos);
  CHECK_OK(berth_session_destroy(session, 0, &last_error));
  berth_session_free(session);
  berth_session_spec_free(spec);
  berth_policy_free(policy);
  berth_runtime_free(runtime);
}

/* What was written to a copy-on-write workspace is kept apart, then made real or thrown away. */
static void test_changes_are_kept_apart_until_they_are_wanted(berth_runtime* runtime,
                                                              const char* workspace) {
  char real[300];
  snprintf(real, sizeof(real), "%s/new", workspace);
  berth_policy_builder* builder = new_builder("agent", workspace);
  CHECK_OK(berth_policy_builder_add_path(builder, BERTH_ACCESS_COPY_ON_WRITE, workspace,
                                         strlen(workspace), NULL, 0, 0));
  berth_policy* policy = build(builder);
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  CHECK_OK(berth_session_spec_new(&spec, "apart", 5, &last_error));
  berth_session_spec_set_shell(spec, "printf abc >new", 15);
  berth_session_spec_set_cwd(spec, workspace, strlen(workspace));
  berth_session_spec_set_policy(spec, policy);
  CHECK_OK(berth_session_create(&session, runtime, spec, &last_error));
  CHECK_OK(berth_session_wait(NULL, session, WAIT_MS, &last_error));
  CHECK(access(real, F_OK) != 0);
  berth_changes* changes = NULL;
  CHECK_OK(berth_session_changes(&changes, session, &last_error));
  CHECK(berth_changes_count(changes) == 1);
  berth_change it;
  CHECK_OK(berth_changes_at(&it, changes, 0, &last_error));
  CHECK_TEXT("new", it.path);
  CHECK(it.kind == BERTH_CHANGE_ADDED && it.file_type == BERTH_CHANGE_FILE && it.bytes == 3);
  CHECK_CODE(BERTH_OUT_OF_RANGE, berth_changes_at(&it, changes, 1, NULL));
  berth_changes_free(changes);
  CHECK_OK(berth_session_keep_changes(session, NULL, &last_error));
  CHECK(access(real, F_OK) == 0);
  CHECK_OK(berth_session_discard_changes(session, &last_error));
  CHECK_OK(berth_session_destroy(session, 0, &last_error));
  berth_session_free(session);
  berth_session_spec_free(spec);
  berth_policy_free(policy);
  CHECK(unlink(real) == 0);
}

int main(void) {
  const char* state_dir = make_state_dir();
  char workspace[300];
  snprintf(workspace, sizeof(workspace), "%.200s-work", state_dir);
  CHECK(mkdir(workspace, 0700) == 0);
  berth_runtime* runtime = new_runtime(state_dir);
  test_what_is_built_is_what_is_told(workspace);
  test_what_is_wrong_or_dangerous_is_told(workspace);
  test_the_machine_can_enforce_it(state_dir, workspace);
  test_what_a_policy_stops_is_told(runtime, workspace);
  test_sessions_under_a_policy(state_dir, workspace);
  test_changes_are_kept_apart_until_they_are_wanted(runtime, workspace);
  berth_runtime_free(runtime);
  berth_error_free(last_error);
  check_nothing_left(state_dir, 0);
  puts("PASS");
  return 0;
}
