#include "runtime/nix/flake_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/sha256.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 10000;
constexpr uint64_t kMaxBytes = uint64_t{256} << 20;

class Collector {
 public:
  explicit Collector(fs::path root) : root_(std::move(root)) {}

  absl::Status Add(const fs::path& path) {
    const fs::path below = path.lexically_normal().lexically_relative(root_);
    // Outside of its own tree a flake cannot read, unless nix is told to be impure.
    if (below.empty() || absl::StartsWith(below.string(), "..")) return absl::OkStatus();
    std::error_code error;
    if (fs::is_directory(path, error)) return AddFolder(path);
    if (hashes.contains(below.string())) return absl::OkStatus();
    if (hashes.size() >= kMaxFiles) return TooMuch();
    absl::StatusOr<std::string> bytes = Read(path);
    if (absl::IsNotFound(bytes.status())) {
      hashes[below.string()] = "-";
      return absl::OkStatus();
    }
    ABSL_RETURN_IF_ERROR(bytes.status());
    hashes[below.string()] = Sha256Hex(*bytes);
    return path.extension() == ".nix" ? AddNamedIn(path.parent_path(), *bytes) : absl::OkStatus();
  }

  std::map<std::string, std::string> hashes;

 private:
  static absl::Status TooMuch() {
    return absl::OutOfRangeError("the flake names more than 10,000 files or 256 MiB of its tree");
  }

  absl::StatusOr<std::string> Read(const fs::path& path) {
    // Not blocking: a fifo in the tree is no reason to wait.
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("read '", path.string(), "'"));
    struct stat st;
    if (fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return std::string("(not a file)");
    std::string bytes;
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd.get(), buffer, sizeof(buffer))) != 0) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, absl::StrCat("read '", path.string(), "'"));
      bytes.append(buffer, static_cast<size_t>(n));
      total_ += static_cast<uint64_t>(n);
      if (total_ > kMaxBytes) return TooMuch();
    }
    return bytes;
  }

  absl::Status AddFolder(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().filename() == ".git") continue;
      // A symlink is what it says, not where it leads: nix copies it as it is.
      if (it->is_symlink(error)) {
        const fs::path below = it->path().lexically_relative(root_);
        hashes[below.string()] = absl::StrCat("-> ", fs::read_symlink(*it, error).string());
        if (hashes.size() >= kMaxFiles) return TooMuch();
        continue;
      }
      ABSL_RETURN_IF_ERROR(Add(it->path()));
    }
    return absl::OkStatus();
  }

  // Path literals: `./a`, `../a/b.nix`, `./.`. Inside strings and comments too, which costs only a
  // file more.
  absl::Status AddNamedIn(const fs::path& folder, const std::string& code) {
    static const RE2& literal = *new RE2(R"((?:^|[^A-Za-z0-9_./+~-])(\.{1,2}/[A-Za-z0-9._/+-]*))");
    absl::string_view rest = code;
    std::string named;
    while (RE2::FindAndConsume(&rest, literal, &named)) {
      while (named.size() > 2 && (named.back() == '/' || absl::EndsWith(named, "/."))) {
        named.pop_back();
      }
      ABSL_RETURN_IF_ERROR(Add((folder / named).lexically_normal()));
    }
    return absl::OkStatus();
  }

  const fs::path root_;
  uint64_t total_ = 0;
};

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> HashFlakeFiles(const std::string& folder) {
  const fs::path root = fs::path(folder).lexically_normal();
  Collector collector(root);
  ABSL_RETURN_IF_ERROR(collector.Add(root / "flake.nix"));
  if (collector.hashes.at("flake.nix") == "-") {
    return absl::NotFoundError(absl::StrCat("there is no flake.nix in '", folder, "'"));
  }
  ABSL_RETURN_IF_ERROR(collector.Add(root / "flake.lock"));
  return std::move(collector.hashes);
}

std::string DescribeChange(const std::map<std::string, std::string>& before,
                           const std::map<std::string, std::string>& now) {
  for (const auto& [path, hash] : now) {
    const auto old = before.find(path);
    if (old == before.end()) return absl::StrCat(path, " is new");
    if (old->second != hash) return absl::StrCat(path, " has changed");
  }
  for (const auto& [path, hash] : before) {
    if (!now.contains(path)) return absl::StrCat(path, " is not used any more");
  }
  return "";
}

}  // namespace berth
