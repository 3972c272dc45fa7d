// What the library asks of the helper, and what it answers. Layout of each body: see the comment at
// its type, fields in the order given; `str` is a string without NUL, `bytes` any bytes, `list` a
// list of str.
#ifndef BERTH_SANDBOX_LAUNCHER_PROTOCOL_H_
#define BERTH_SANDBOX_LAUNCHER_PROTOCOL_H_

#include <stdint.h>

namespace berth::launcher {

// The helper's control socket, whatever the mode.
inline constexpr int kControlFd = 3;

// argv[1] of the helper.
inline constexpr char kLauncherMode[] = "launcher";
inline constexpr char kKeeperMode[] = "keeper";
// argv[3] of a keeper: how it is to hold its tree.
inline constexpr char kCgroupTree[] = "cgroup";
inline constexpr char kSubreaperTree[] = "subreaper";

// A step of a start, for error messages: "change to directory: No such file or directory".
enum class Step : uint8_t {
  kNone = 0,
  kRequest,    // read the request
  kClone,      // make the process
  kSession,    // make a session and take the terminal
  kStdio,      // connect the streams
  kDirectory,  // change to the working directory
  kExec,       // execute the program
  kTerminal,   // open a terminal
  kSocket,     // make the control socket
  kGate,       // wait for the record
  // Of a sandboxed start; the item of an error is the mount or rule of the plan that it is about.
  kPlan,          // read the plan, or carry out what this machine or helper cannot
  kNamespaces,    // make or enter the namespaces
  kIdMap,         // map the user and the group
  kNetwork,       // bring up the network inside
  kRoot,          // make the new root
  kSource,        // open what is to be seen inside
  kTarget,        // make the place where it is seen
  kMount,         // put it there
  kPivot,         // change to the new root
  kHostname,      // set the name of the machine inside
  kLimits,        // set the limits
  kCapabilities,  // give up capabilities
  kLandlock,      // enforce the Landlock rules
  kFilter,        // load the system call filter
  kReport,        // hand over what the sandbox reports with
  kOverlay,       // show a folder copy-on-write
  kProc,          // mount /proc
  kDev,           // make /dev
  // Of none.
  kRecord,  // make the record durable
};

// Flags of kSpawn and kExec.
inline constexpr uint8_t kHasStdio[3] = {1, 2, 4};
inline constexpr uint8_t kTerminal = 8;  // stdin is a terminal and becomes the controlling one

// How a tree of processes is held.
enum class TreeKind : uint8_t { kCgroup = 0, kSubreaper = 1 };

// To and from the launcher, over its control socket. One request, one answer; but a start is
// answered on a socket of its own, so that those who ask for others need not wait.
enum LauncherMessage : uint16_t {
  // From the launcher, once, after kTag: str cgroup path (of its own group, "" if none), u64 pid.
  kHello = 1,
  // u8 kHas… and kTerminal, str cwd ("" = the launcher's), list argv, list env, bytes SandboxPlan
  // ("" = none).
  // Descriptors: those of stdin, stdout and stderr that kHas… names (the others are /dev/null),
  // then the exit socket. Answer: kSpawned, the first message on that.
  kSpawn = 2,
  // u8 Step (kNone: it runs), i32 errno, i32 pid, u64 ns received, u64 ns started, str cgroup leaf,
  // str the path that a failed step is about, u8 whether its sandbox was prepared. Descriptor:
  // pidfd.
  kSpawned = 3,
  // i32 pid, u32 grace in ms. No answer: the exit socket tells.
  kStopProcess = 4,
  // str title. Descriptor: the keeper's control socket.
  kStartKeeper = 5,
  // i32 pid, u64 since. Of a process that this launcher spawned, also for a while after its end.
  kProcessViolations = 6,
  // As kViolations answers; a total of 0 also for a process that is not known.
  kProcessViolationsAre = 7,
  // bytes SandboxPlan, of the tier kPooled: prepares sandboxes now instead of after starts.
  kPrepare = 8,
  // u32 how many wait for a program of that plan now.
  kPrepared = 9,
  // From the launcher, last, once its host has closed the socket: nothing that it made is left.
  kFarewell = 10,
  // u8 Step (kNone: it runs), i32 errno.
  kKeeperStarted = 11,
  // i64 bytes of memory, i64 of swap, i64 pids, i64 thousandths of a core (negative: no limit), u8
  // whether it has namespaces and no network: what is asked for next is such a sandbox. No answer.
  kExpect = 13,
  // To the launcher, first of all: str tag, for the name of its group. No answer but kHello.
  kTag = 12,
};

// On the exit socket of a process that runs. The message stays there to be peeked at; the socket is
// closed once the last process of the tree is gone. If until then its policy has stopped it from
// nothing, kNothingStopped is sent before: who finds both need not ask what it was.
struct ExitNotice {
  int32_t code = 0;
  int32_t signal = 0;
  uint8_t stopped = 0;  // a signal of ours ended it
  uint8_t reason = 0;   // EndReason, if not 0
  uint8_t padding[6] = {};
};

inline constexpr char kNothingStopped[1] = {'n'};

// To and from a keeper. The first connection is the one it was started with (the owner's); others
// are accepted on its socket. Each request has one answer: kOk with the fields given, or kFailed
// {i32 errno, u8 Step, str detail}.
enum KeeperMessage : uint16_t {
  kOk = 100,
  kFailed = 101,
  // Owner, once: see KeeperSetup. Descriptors: session directory, names directory, run directory.
  // Answer: i32 keeper pid, u64 start time, i32 main pid, u64 start time, u8 tree kind, str cgroup
  // path, str tty. The main process waits at its gate.
  kSetup = 102,
  // Owner, once: opens the gate. Answer: empty, once the program runs; kFailed if it could not be
  // executed.
  kGo = 103,
  // u8 whether the keeper's page is wanted (nothing: no). Answer: u8 state (1 running, 2 exited),
  // i32 pid, i32 code, i32 signal, u8 stopped, u8 reason,
  // u8 pty, u16 rows, u16 cols, u32 attached, u64 output bytes, u64 ns since last output (max:
  // none), str title, str log, str name, str cwd, u8 SandboxTier, u64 violations. Descriptor: the
  // page (status_page.h), if it is wanted and there can be one.
  kInfo = 104,
  // bytes text, bytes submit, u8 paste, u8 await, u32 timeout ms. Answer: u8 Delivery.
  kSend = 105,
  // list of key names. Answer: empty once written. kFailed EINVAL names the key that is not known.
  kKeys = 106,
  // i32 lines, u8 colour. Answer: bytes.
  kCapture = 107,
  // u8 stream, i64 from, i64 buffer bytes. Descriptor: the pipe to write to. Answer: i64 where it
  // begins.
  kOutput = 108,
  kCloseStdin = 109,
  kResize = 110,  // u16 rows, u16 cols
  kAttach =
      111,  // Descriptor: a stream socket that gets the screen and the output, and gives input.
  kSetLog = 112,  // str path, i64 cap
  kSetEnv = 113,  // str KEY=value
  // As kSpawn (environment on top of the session's), without a plan: the session's own holds.
  // Answer: i32 pid. Descriptor: pidfd.
  kExec = 114,
  kStopExec = 115,  // i32 pid, u32 grace ms. Answer: empty at once; the exit socket tells.
  kStats = 116,     // Answer: u64 cpu ns, i64 rss, i64 processes, i64 read, i64 written, str source
  kSignal = 117,    // i32
  kStop =
      118,  // u32 grace ms. Answer, once all is gone: i32 code, i32 signal, u8 stopped, u8 reason.
  kWait = 119,    // Answer, once it has ended: as kStop.
  kRename = 120,  // str name
  // u64 since. Answer: u64 total, u64 number of the first that follows, u32 count, then for each:
  // u8 layer (as Violation::Layer), i32 pid, u64 ns since 1970, str what, and of the layer kFile
  // str why; then u8 SandboxNetwork.
  kViolations = 122,
  // As kViolations, but answered only once there are more than `since`, or nothing of the session
  // runs any more. kFailed ENOTSUP of a session without a policy.
  kAwaitViolations = 123,
  // Owner, before kGo: makes the name and the place of the session's folder durable, while the
  // owner does so with what is in it. Answer: empty, once that is done.
  kSync = 124,
  kDestroy = 121,  // u32 grace ms. Answer: empty, then the keeper removes everything and goes.
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_PROTOCOL_H_
