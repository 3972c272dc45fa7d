// The relay: one static program with two ends. The library carries it; the one end runs below a
// session's keeper, the other is put into the container. It also stands beside each ssh.

#include <string.h>
#include <sys/prctl.h>

#include "runtime/docker/relay/inside.h"
#include "runtime/docker/relay/outside.h"
#include "runtime/docker/relay/ssh_tunnel.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  prctl(PR_SET_NAME, "berth-relay");
  if (strcmp(argv[1], "first") == 0) return berth::relay::RunInside(true);
  if (strcmp(argv[1], "exec") == 0) return berth::relay::RunInside(false);
  if (strcmp(argv[1], "relay-main") == 0) return berth::relay::RunMain(argc - 2, argv + 2);
  if (strcmp(argv[1], "relay-exec") == 0) return berth::relay::RunExec(argc - 2, argv + 2);
  if (strcmp(argv[1], "ssh") == 0) return berth::relay::RunSsh(argv + 2), 0;
  return 2;
}
