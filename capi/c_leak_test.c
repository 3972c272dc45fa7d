/* Sessions and processes that are made and freed leave no descriptor and no memory, here and in the
   launcher. 100 of each unless $BERTH_LEAK_COUNT says otherwise: 10000 takes some minutes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

static int count_fds(const char* pid) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
  DIR* folder = opendir(path);
  CHECK(folder != NULL);
  int count = 0;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

/* The parent of what it starts. */
static void find_launcher(berth_runtime* runtime, char pid[16]) {
  berth_process* process = new_process(runtime, "exec sleep 1000");
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/%d/status", (int)berth_process_pid(process));
  FILE* file = fopen(path, "re");
  CHECK(file != NULL);
  int found = 0;
  while (!found && fgets(line, sizeof(line), file) != NULL) found = sscanf(line, "PPid: %15s", pid);
  fclose(file);
  CHECK(found == 1);
  berth_process_free(process);
}

static void one_process(berth_runtime* runtime) {
  berth_process* process = new_process(runtime, "exit 7");
  berth_exit status;
  int32_t fd = -1;
  CHECK_OK(berth_process_take_stdout_fd(&fd, process, &last_error));
  close(fd);
  CHECK_OK(berth_process_exit_fd(&fd, process, &last_error));
  close(fd);
  CHECK_OK(berth_process_wait(&status, process, WAIT_MS, &last_error));
  CHECK(status.code == 7);
  berth_process_free(process);
}

static void one_session(berth_runtime* runtime) {
  berth_session* session = new_session(runtime, "leaky", "echo text; exit 7", 24);
  int32_t fd = -1;
  CHECK_OK(berth_session_output_fd(&fd, NULL, session, BERTH_STDOUT, 0, -1, &last_error));
  free(read_until(fd, "text"));
  close(fd);
  CHECK_OK(berth_session_wait(NULL, session, WAIT_MS, &last_error));
  berth_event* event = NULL;
  CHECK_OK(berth_runtime_next_event(&event, runtime, WAIT_MS, &last_error));
  CHECK(berth_event_kind(event) == BERTH_EVENT_EXITED);
  berth_event_free(event);
  berth_infos* infos = NULL;
  CHECK_OK(berth_session_info(&infos, session, &last_error));
  berth_infos_free(infos);
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_session_rename(session, "", 0, &last_error));
  CHECK_OK(berth_session_destroy(session, 0, &last_error));
  berth_session_free(session);
}

static void check_kind(berth_runtime* runtime, const char* what, int count,
                       void (*one)(berth_runtime*)) {
  char launcher[16] = "";
  for (int i = 0; i < 10; ++i) one(runtime); /* what is made once is there */
  find_launcher(runtime, launcher);
  const int fds = count_fds("self"), launcher_fds = count_fds(launcher);
  const size_t memory = mallinfo2().uordblks;
  for (int i = 0; i < count; ++i) one(runtime);
  const long long grown = (long long)mallinfo2().uordblks - (long long)memory;
  printf("%d %s: %d descriptors and %lld bytes more, %d descriptors more in the launcher\n", count,
         what, count_fds("self") - fds, grown, count_fds(launcher) - launcher_fds);
  CHECK(count_fds("self") == fds);
  /* However many there were: the launcher may not have come to forgetting the last of them yet. */
  CHECK(count_fds(launcher) < launcher_fds + 8);
  CHECK(grown < 64 * 1024);
}

int main(void) {
  const char* wanted = getenv("BERTH_LEAK_COUNT");
  const int count = wanted == NULL ? 100 : atoi(wanted);
  CHECK(count > 0);
  const char* state_dir = make_state_dir();
  berth_runtime* runtime = new_runtime(state_dir);
  check_kind(runtime, "processes", count, one_process);
  check_kind(runtime, "sessions", count, one_session);
  berth_runtime_free(runtime);
  berth_error_free(last_error);
  check_nothing_left(state_dir, 0);
  puts("PASS");
  return 0;
}
