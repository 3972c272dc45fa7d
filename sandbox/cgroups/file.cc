#include "sandbox/cgroups/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "sandbox/base/unique_fd.h"

namespace berth::cgroups {

int ReadAgain(int fd, std::string* out) {
  out->clear();
  char buffer[4096];
  while (true) {
    const ssize_t n = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(out->size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return 0;
    out->append(buffer, static_cast<size_t>(n));
  }
}

int ReadFileAt(int dir, const char* name, std::string* out) {
  const UniqueFd file(openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.ok() ? ReadAgain(file.get(), out) : errno;
}

int WriteFileAt(int dir, const char* name, std::string_view text) {
  const UniqueFd file(openat(dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.ok()) return errno;
  ssize_t n;
  while ((n = write(file.get(), text.data(), text.size())) < 0 && errno == EINTR) {
  }
  if (n < 0) return errno;
  return static_cast<size_t>(n) == text.size() ? 0 : EIO;
}

int64_t NumberIn(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
    if (line.substr(0, key.size()) != key) continue;
    std::string_view number = line.substr(key.size());
    if (!key.empty()) {
      if (number.empty() || number[0] != ' ') continue;
      number.remove_prefix(1);
    }
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < number.size() && number[digits] >= '0' && number[digits] <= '9'; ++digits) {
      if (value > (INT64_MAX - 9) / 10) return INT64_MAX;
      value = value * 10 + (number[digits] - '0');
    }
    return digits > 0 ? value : -1;
  }
  return -1;
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find_first_of(" \n", at);
    const size_t size = (end == std::string_view::npos ? text.size() : end) - at;
    if (text.substr(at, size) == word) return true;
    at += size + 1;
  }
  return false;
}

}  // namespace berth::cgroups
