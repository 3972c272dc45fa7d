/* A mini orchestrator: three agents side by side, each in a sandbox of its own; send, stream, kill,
   sweep.

     orchestrator STATE_DIR WORKSPACE

   One thread: the descriptors of all three go into one poll. */
#include <berth.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static berth_error* error = NULL;

/* Ends the program if a call failed. */
static void must(int32_t code) {
  if (code == BERTH_OK) return;
  fprintf(stderr, "%s: %s\n", berth_code_name(code), berth_error_message(error, NULL));
  exit(1);
}

static berth_session* start(berth_runtime* runtime, const char* name, const char* workspace,
                            const berth_policy* policy) {
  /* An agent is any program that talks on its terminal; here a line reader stands for one. */
  static const char* const line = "while read -r task; do echo \"$0 did $task\"; done";
  berth_session_spec* spec = NULL;
  berth_session* session = NULL;
  must(berth_session_spec_new(&spec, name, strlen(name), &error));
  const char* const argv[] = {"/bin/sh", "-c", line, name};
  for (int i = 0; i < 4; ++i) berth_session_spec_add_arg(spec, argv[i], strlen(argv[i]));
  berth_session_spec_set_cwd(spec, workspace, strlen(workspace));
  berth_session_spec_set_policy(spec, policy);
  must(berth_session_create(&session, runtime, spec, &error));
  berth_session_spec_free(spec);
  return session;
}

int main(int argc, char** argv) {
  enum { kAgents = 3 };
  static const char* const names[kAgents] = {"ada", "grace", "linus"};
  if (argc != 3) return fprintf(stderr, "usage: %s STATE_DIR WORKSPACE\n", argv[0]), 2;
  const char *state = argv[1], *workspace = argv[2];
  berth_runtime* runtime = NULL;
  berth_policy_builder* builder = NULL;
  berth_policy* policy = NULL;
  must(berth_runtime_new(&runtime, state, strlen(state), &error));
  must(berth_policy_builder_new(&builder, "agent", 5, workspace, strlen(workspace), &error));
  berth_policy_builder_set_limit(builder, BERTH_LIMIT_MEMORY, INT64_C(1) << 30);
  berth_policy_builder_set_limit(builder, BERTH_LIMIT_PIDS, 64);
  must(berth_policy_build(&policy, builder, &error));
  berth_policy_builder_free(builder);

  berth_session* agents[kAgents];
  struct pollfd streams[kAgents];
  static char said[kAgents][8192];
  for (int i = 0; i < kAgents; ++i) {
    agents[i] = start(runtime, names[i], workspace, policy);
    int32_t fd = -1;
    must(berth_session_output_fd(&fd, NULL, agents[i], BERTH_STDOUT, 0, -1, &error));
    streams[i] = (struct pollfd){.fd = fd, .events = POLLIN, .revents = 0};
    must(berth_session_send(NULL, agents[i], "the tests", 9, NULL, 30000, &error));
  }
  for (int left = kAgents; left > 0;) {
    if (poll(streams, kAgents, 30000) <= 0) return fputs("nobody says anything\n", stderr), 1;
    for (int i = 0; i < kAgents; ++i) {
      if (streams[i].fd < 0 || streams[i].revents == 0) continue;
      const size_t have = strlen(said[i]);
      const ssize_t n = read(streams[i].fd, said[i] + have, sizeof(said[i]) - 1 - have);
      if (n <= 0) return fprintf(stderr, "%s is gone\n", names[i]), 1;
      if (strstr(said[i], " did the tests") == NULL) continue;
      printf("%s: said so\n", names[i]);
      close(streams[i].fd);
      streams[i].fd = -1;
      --left;
    }
  }

  /* One is stopped, all are destroyed; then nothing may be left to sweep. */
  berth_exit status;
  berth_string* words = NULL;
  must(berth_session_stop(&status, agents[0], 1000, &error));
  must(berth_exit_describe(&words, &status, &error));
  printf("%s: %s\n", names[0], berth_string_data(words, NULL));
  berth_string_free(words);
  for (int i = 0; i < kAgents; ++i) {
    must(berth_session_destroy(agents[i], 1000, &error));
    berth_session_free(agents[i]);
  }
  berth_sweep_report* report = NULL;
  must(berth_sweep(&report, state, strlen(state), NULL, &error));
  printf("swept: %d done, %d failed\n", (int)berth_sweep_report_number(report, BERTH_SWEEP_DONE),
         (int)berth_sweep_report_number(report, BERTH_SWEEP_FAILED));
  berth_sweep_report_free(report);
  berth_policy_free(policy);
  berth_runtime_free(runtime);
  return 0;
}
