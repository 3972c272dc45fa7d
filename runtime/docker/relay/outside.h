// The end of the streams on this machine: the main process of a session's keeper, or of an exec
// below it. It holds the connection to the engine, so that what a container writes is kept, and the
// end of the container known, whether or not the program that made the session lives.
//
// Signals to it are signals to the container's program; see signals.h.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_OUTSIDE_H_
#define BERTH_RUNTIME_DOCKER_RELAY_OUTSIDE_H_

namespace berth::relay {

// Arguments, in order, behind the mode:
//   address  as Connect takes it
//   version  "/v1.44"
//   container  its id
//   report   a fifo in which the start is told: "R", "E step errno" or "X text"
//   end      (main) a file in which the end is told: "code signal oom stopped reason"
//   cleanup  (main) "remove": at TERM the container is removed too
//   grace    (main) milliseconds between TERM and KILL
//   wall, inactivity  (main) limits in milliseconds from the program's start; -1 is none
//   filter   of system calls, in hexadecimal; "" is none
//   cwd      in the container; "" is where the engine starts it
//   command… may be empty
// The environment is the program's.
int RunMain(int argc, char** argv);
int RunExec(int argc, char** argv);

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_OUTSIDE_H_
