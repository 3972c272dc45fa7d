// What a sandbox's own /dev and /proc have: for who makes them, and for who judges by names.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_OWN_NAMES_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_OWN_NAMES_H_

namespace berth::launcher {

struct Device {
  const char* name;
  unsigned major, minor;
};
inline constexpr Device kDevices[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
                                      {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};

// Terminals, and a private folder.
inline constexpr char kTerminals[] = "pts", kSharedMemory[] = "shm";

struct DeviceLink {
  const char *text, *name;
};
inline constexpr DeviceLink kDeviceLinks[] = {{"pts/ptmx", "ptmx"},
                                              {"/proc/self/fd", "fd"},
                                              {"/proc/self/fd/0", "stdin"},
                                              {"/proc/self/fd/1", "stdout"},
                                              {"/proc/self/fd/2", "stderr"}};

// What in /proc is not about processes and open to be written by anybody: read-only.
inline constexpr const char* kAnybodys[] = {"sys", "pressure"};
// What in it a process with the host's uid 0 may write to, though it has no capability: read-only
// for that one.
inline constexpr const char* kRootsOwn[] = {
    "sysrq-trigger", "irq", "bus", "fs", "mtrr", "acpi", "scsi", "driver", "dynamic_debug"};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_OWN_NAMES_H_
