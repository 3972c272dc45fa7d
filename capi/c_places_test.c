/* What a C program has besides sessions: ports, environments, single processes, images. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capi/berth.h"
#include "capi/c_test_support.h"

static void test_ports(const char* state_dir) {
  uint16_t port = 0;
  CHECK_OK(berth_port_find_free(&port, &last_error));
  CHECK(port != 0 && berth_port_is_free(port) == 1 && berth_port_is_bound(port) == 0);
  berth_port_lease *lease = NULL, *second = NULL;
  const size_t size = strlen(state_dir);
  CHECK_OK(berth_port_lease_new(&lease, state_dir, size, 0, &last_error));
  const uint16_t leased = berth_port_lease_port(lease);
  CHECK(berth_port_is_free(leased) == 0 && berth_port_is_bound(leased) == 1);
  CHECK_CODE(BERTH_ALREADY_EXISTS,
             berth_port_lease_new(&second, state_dir, size, leased, &last_error));
  CHECK_CODE(BERTH_DEADLINE_EXCEEDED, berth_port_wait_unbound(leased, 10, &last_error));
  int32_t fd = -1;
  CHECK_OK(berth_port_lease_take_fd(&fd, lease, &last_error));
  CHECK_CODE(BERTH_FAILED_PRECONDITION, berth_port_lease_take_fd(&fd, lease, &last_error));
  CHECK(listen(fd, 1) == 0);
  struct sockaddr_in address;
  socklen_t length = sizeof(address);
  CHECK(getsockname(fd, (struct sockaddr*)&address, &length) == 0);
  CHECK(ntohs(address.sin_port) == leased);
  close(fd);
  CHECK_OK(berth_port_lease_release_socket(lease, &last_error));
  CHECK_OK(berth_port_wait_unbound(leased, WAIT_MS, &last_error));
  CHECK_OK(berth_port_lease_release(lease, &last_error));
  CHECK_OK(berth_port_lease_release(lease, &last_error));
  CHECK(berth_port_lease_port(lease) == leased);
  berth_port_lease_free(lease);
  CHECK(berth_port_lease_port(lease) == 0);
}

static void test_environments(berth_runtime* runtime) {
  berth_session_spec* spec = NULL;
  berth_environment* environment = NULL;
  CHECK_OK(berth_session_spec_new(&spec, "tools", 5, &last_error));
  berth_session_spec_set_backend(spec, "native", 6);
  CHECK_OK(berth_environment_new(&environment, runtime, spec, &last_error));
  berth_string *backend = NULL, *reason = NULL;
  CHECK_OK(berth_session_choose(&backend, &reason, runtime, spec, &last_error));
  CHECK_TEXT("native", berth_string_data(backend, NULL));
  CHECK(strlen(berth_string_data(reason, NULL)) > 0);
  berth_string_free(backend);
  berth_string_free(reason);

  berth_process_spec* command = NULL;
  berth_process *first = NULL, *second = NULL;
  berth_exit status;
  CHECK_OK(berth_process_spec_new(&command, &last_error));
  berth_process_spec_set_shell(command, "exit 3", 6);
  CHECK_CODE(BERTH_FAILED_PRECONDITION,
             berth_environment_run(&status, environment, command, NULL, WAIT_MS, &last_error));
  CHECK_OK(berth_environment_init(environment, &last_error));
  CHECK_OK(berth_environment_run(&status, environment, command, NULL, WAIT_MS, &last_error));
  CHECK(status.code == 3);
  CHECK_OK(berth_environment_check_binary(environment, "sh", 2, &last_error));
  CHECK_CODE(BERTH_NOT_FOUND,
             berth_environment_check_binary(environment, "no-such-thing", 13, &last_error));
  uint16_t port = 0;
  CHECK_OK(berth_environment_host_port(&port, environment, 8080, &last_error));
  CHECK(port == 8080);

  berth_process_place *install = NULL, *serve = NULL;
  CHECK_OK(berth_process_place_new(&install, "install", 7, &last_error));
  CHECK_OK(berth_process_place_new(&serve, "", 0, &last_error));
  CHECK_OK(berth_process_place_add_wait_on(serve, "install", 7));
  CHECK_OK(berth_process_place_set_timeout(serve, WAIT_MS));
  CHECK_OK(berth_environment_start(&first, environment, command, install, &last_error));
  CHECK_OK(berth_environment_start(&second, environment, command, serve, &last_error));
  CHECK_OK(berth_process_wait(&status, first, 0, &last_error)); /* it had ended */
  CHECK_OK(berth_process_wait(&status, second, WAIT_MS, &last_error));
  berth_process_free(first);
  berth_process_free(second);
  berth_session* session = NULL;
  CHECK_OK(berth_environment_session(&session, environment, &last_error));
  berth_session_free(session);
  CHECK_OK(berth_environment_stop(environment, 0, &last_error));
  CHECK_OK(berth_environment_shutdown(environment, 0, &last_error));
  CHECK_OK(berth_environment_shutdown(environment, 0, &last_error));
  CHECK_CODE(BERTH_NOT_FOUND, berth_environment_session(&session, environment, &last_error));
  berth_process_place_free(install);
  berth_process_place_free(serve);
  berth_process_spec_free(command);
  berth_environment_free(environment);
  berth_session_spec_free(spec);
}

/* One process by identity: another one with its pid is not taken for it. */
static void test_tracked(berth_runtime* runtime) {
  berth_process* process = new_process(runtime, "exec sleep 1000");
  berth_identity identity;
  berth_tracked tracked;
  int32_t liveness = -1, pidfd = -1;
  CHECK_OK(berth_identify(&identity, berth_process_pid(process), &last_error));
  CHECK(identity.pid == berth_process_pid(process) && strlen(identity.boot_id) == 36);
  CHECK_OK(berth_identity_liveness(&liveness, &identity, &last_error));
  CHECK(liveness == BERTH_ALIVE);
  CHECK_OK(berth_track(&tracked, &identity, &last_error));
  CHECK(tracked.memory_bytes >= 0 && tracked.state > BERTH_PROCESS_NOT_FOUND);
  CHECK_OK(berth_identity_open(&pidfd, &identity, &last_error));
  close(pidfd);
  berth_identity other = identity;
  ++other.start_time;
  other.pidfs_inode = 0;
  CHECK_OK(berth_track(&tracked, &other, &last_error));
  CHECK(tracked.state == BERTH_PROCESS_NOT_FOUND);
  berth_process_free(process);
  CHECK_OK(berth_identity_liveness(&liveness, &identity, &last_error));
  CHECK(liveness == BERTH_DEAD);
  CHECK_CODE(BERTH_NOT_FOUND, berth_identity_open(&pidfd, &identity, &last_error));
  CHECK_TEXT("zombie", berth_process_state_name(BERTH_PROCESS_ZOMBIE));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_track(&tracked, NULL, &last_error));
  memset(other.boot_id, 'x', sizeof(other.boot_id));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_track(&tracked, &other, &last_error));
}

static int32_t give_up_pull(void* context, const berth_pull_progress* progress) {
  (void)progress;
  ++*(int*)context;
  return 1;
}

/* Without an engine: nothing is known, and said so. (With one: tests/docker.) */
static void test_images_without_an_engine(void) {
  static const char nowhere[] = "unix:///nonexistent/docker.sock";
  const size_t size = sizeof(nowhere) - 1;
  berth_image* image = NULL;
  int calls = 0;
  CHECK_CODE(BERTH_UNAVAILABLE,
             berth_image_inspect(&image, nowhere, size, "alpine", 6, &last_error));
  CHECK_CODE(BERTH_UNAVAILABLE, berth_image_pull(&image, nowhere, size, "alpine", 6, give_up_pull,
                                                 &calls, WAIT_MS, &last_error));
  CHECK_CODE(BERTH_UNAVAILABLE, berth_image_load(nowhere, size, "x", 1, &last_error));
  CHECK_CODE(BERTH_UNAVAILABLE,
             berth_image_import(&image, nowhere, size, "x", 1, "a:b", 3, NULL, &last_error));
  CHECK_CODE(BERTH_INVALID_ARGUMENT,
             berth_image_inspect(&image, nowhere, size, "a b", 3, &last_error));
  CHECK_CODE(BERTH_INVALID_ARGUMENT, berth_image_inspect(&image, "x:y", 3, "a", 1, &last_error));
  CHECK(image == NULL && calls == 0 && berth_image_text(image, BERTH_IMAGE_ID, NULL) == NULL);
}

int main(void) {
  const char* state_dir = make_state_dir();
  berth_runtime* runtime = new_runtime(state_dir);
  test_ports(state_dir);
  test_environments(runtime);
  test_tracked(runtime);
  test_images_without_an_engine();
  berth_runtime_free(runtime);
  berth_error_free(last_error);
  check_nothing_left(state_dir, 0);
  puts("PASS");
  return 0;
}
