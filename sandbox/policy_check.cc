#include "sandbox/policy_check.h"

#include <limits.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace berth {
namespace {

absl::Status Wrong(absl::string_view what, absl::string_view which, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(what, " ", Quoted(which), ": ", why));
}

bool IsLabel(absl::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') {
    return false;
  }
  return std::all_of(label.begin(), label.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  });
}

absl::Status CheckCount(size_t count, size_t most, absl::string_view what) {
  if (count <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(count, " ", what, ": at most ", most, " can be listed"));
}

absl::StatusOr<std::vector<std::string>> SortedOnce(std::vector<std::string> names,
                                                    absl::string_view what) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return Wrong(what, *twice, "it is listed twice");
  return names;
}

}  // namespace

std::string Quoted(absl::string_view text) {
  constexpr size_t kMost = 256;
  const std::string shown = absl::CHexEscape(text.substr(0, kMost));
  return absl::StrCat("'", shown, text.size() > kMost ? "…'" : "'");
}

bool IsBelow(absl::string_view path, absl::string_view root) {
  if (root == "/") return true;
  return absl::StartsWith(path, root) && (path.size() == root.size() || path[root.size()] == '/');
}

bool IsEngineSocket(absl::string_view path) {
  for (const absl::string_view name :
       {"/docker.sock", "/containerd.sock", "/podman.sock", "/crio.sock", "/buildkitd.sock"}) {
    if (absl::EndsWith(path, name)) return true;
  }
  return false;
}

absl::StatusOr<std::string> CheckPolicyPath(absl::string_view path) {
  if (path.empty()) return absl::InvalidArgumentError("path '': it is empty");
  if (path.size() >= PATH_MAX) {
    return Wrong("path", path,
                 absl::StrCat("its ", path.size(), " bytes are more than ", PATH_MAX - 1));
  }
  if (absl::StrContains(path, '\0')) return Wrong("path", path, "it has a NUL byte");
  if (path[0] != '/') return Wrong("path", path, "it is not absolute");
  std::string clean;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return Wrong("path", path, "it has '..'");
    if (part.size() > NAME_MAX) return Wrong("path", path, "a name in it is longer than 255 bytes");
    absl::StrAppend(&clean, "/", part);
  }
  if (clean.empty()) return Wrong("path", path, "list folders of the root, not the root itself");
  return clean;
}

absl::StatusOr<std::string> CheckDomain(absl::string_view domain) {
  if (domain.size() > 260) return Wrong("domain", domain, "it is too long");
  const std::string lower = absl::AsciiStrToLower(domain);
  absl::string_view name = lower;
  if (const size_t colon = name.find(':'); colon != name.npos) {
    int port;
    const absl::string_view digits = name.substr(colon + 1);
    // Exactly as a number is written, so that equal entries are equal text.
    if (!absl::SimpleAtoi(digits, &port) || port < 1 || port > 65535 ||
        absl::StrCat(port) != digits) {
      return Wrong("domain", domain, "its port is not between 1 and 65535");
    }
    name = name.substr(0, colon);
  }
  const bool wild = absl::ConsumePrefix(&name, "*.");
  if (name.empty() || name.size() > 253) {
    return Wrong("domain", domain, "it has no name, or one of more than 253 bytes");
  }
  const std::vector<absl::string_view> labels = absl::StrSplit(name, '.');
  for (const absl::string_view label : labels) {
    if (!IsLabel(label)) {
      return Wrong("domain", domain,
                   "write a name as in DNS (letters, digits, '-'; others in their xn-- form), "
                   "'*.' at the front only, no dot at the end");
    }
  }
  if (wild && labels.size() < 2) {
    return Wrong("domain", domain, "all names of a top-level domain are too many");
  }
  int number;
  if (absl::SimpleAtoi(labels.back(), &number)) {
    return Wrong("domain", domain, "it is an address; list names");
  }
  return lower;
}

absl::Status CheckHostname(absl::string_view name) {
  // Of the kernel's 64 bytes.
  if (name.size() <= 64 && !name.empty()) {
    const std::vector<absl::string_view> labels = absl::StrSplit(name, '.');
    if (std::all_of(labels.begin(), labels.end(), IsLabel)) return absl::OkStatus();
  }
  return Wrong("hostname", name, "write 1 to 64 lower-case letters, digits, '-' and '.' as in DNS");
}

absl::StatusOr<std::vector<std::string>> CheckFamilies(std::vector<std::string> families) {
  if (absl::Status count = CheckCount(families.size(), 64, "socket families"); !count.ok()) {
    return count;
  }
  for (const std::string& family : families) {
    if (family == "unix" || family == "inet" || family == "inet6" || family == "netlink") continue;
    return Wrong("socket family", family, "it is none of unix, inet, inet6, netlink");
  }
  return SortedOnce(std::move(families), "socket family");
}

absl::StatusOr<std::vector<std::string>> CheckSyscallNames(std::vector<std::string> names) {
  if (absl::Status count = CheckCount(names.size(), 1024, "system calls"); !count.ok()) {
    return count;
  }
  for (const std::string& name : names) {
    const bool plain = !name.empty() && name.size() <= 64 &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
                       });
    if (!plain) return Wrong("system call", name, "that is no system call's name");
  }
  return SortedOnce(std::move(names), "system call");
}

}  // namespace berth
