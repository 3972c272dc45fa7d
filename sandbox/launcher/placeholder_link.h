// What a placeholder (enter/placeholder.h) is, for all who come across one: a symlink that leads
// nowhere.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_PLACEHOLDER_LINK_H_
#define BERTH_SANDBOX_LAUNCHER_PLACEHOLDER_LINK_H_

#include <sys/types.h>
#include <unistd.h>

#include <string_view>

namespace berth::launcher {

// On the host. There is no process 0, and nobody can make something in /proc: whoever writes to it
// makes nothing, and whoever reads it finds nothing.
inline constexpr char kPlaceholderText[] = "/proc/0/kept-free-by-a-berth-sandbox";
// Inside, where it is mounted over the other. The root is read-only there, and so it is said to be.
inline constexpr char kPlaceholderInside[] = "/kept-free-by-a-berth-sandbox";

// Whether `name` in `folder` is one. With "", `folder` itself (O_PATH).
inline bool IsPlaceholderLink(int folder, const char* name) {
  char text[sizeof(kPlaceholderText)];
  const ssize_t n = readlinkat(folder, name, text, sizeof(text));
  if (n < 0) return false;
  const std::string_view leads(text, static_cast<size_t>(n));
  return leads == kPlaceholderText || leads == kPlaceholderInside;
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_PLACEHOLDER_LINK_H_
