// Keeper mode: the supervisor of one session. Holds its terminal or pipes, its output, its log and
// a control socket, so that a session outlives the program that made it and can be opened again by
// its handle.
//
// Life: set up by its owner over the control descriptor (kSetup, kGo), it then serves any number of
// connections of the same user. It ends at kDestroy; for an ephemeral session also when the owner's
// connection closes; and when the owner dies before the gate was opened. At its end the whole tree
// is gone, then the name, the socket and the record.
#ifndef BERTH_SANDBOX_LAUNCHER_KEEPER_H_
#define BERTH_SANDBOX_LAUNCHER_KEEPER_H_

namespace berth::launcher {

// `cgroups`: whether it may hold its tree by one.
int RunKeeper(bool cgroups);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_KEEPER_H_
