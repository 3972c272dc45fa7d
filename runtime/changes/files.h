// Entries of folders that a hostile program could have made, by their folder's descriptor.
#ifndef BERTH_RUNTIME_CHANGES_FILES_H_
#define BERTH_RUNTIME_CHANGES_FILES_H_

#include <sys/stat.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// An open folder. One that its owner has closed to himself is open to him as long as this is.
class HeldFolder {
 public:
  HeldFolder() = default;
  explicit HeldFolder(UniqueFd fd) : fd_(std::move(fd)) {}
  HeldFolder(HeldFolder&& other) noexcept
      : fd_(std::move(other.fd_)), mode_(std::exchange(other.mode_, kAsItIs)) {}
  HeldFolder& operator=(HeldFolder&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(mode_, other.mode_);
    return *this;
  }
  ~HeldFolder();
  static absl::StatusOr<HeldFolder> Open(int dir_fd, const std::string& name);

  bool ok() const { return fd_.ok(); }
  int get() const { return fd_.get(); }

 private:
  static constexpr mode_t kAsItIs = ~mode_t{0};
  UniqueFd fd_;
  mode_t mode_ = kAsItIs;  // to be given back
};

// A file to be read, and never anything else: does not wait for a fifo, follows no link. Opened
// even if its owner has closed it to himself; its mode stays.
absl::StatusOr<UniqueFd> OpenFileToRead(int dir_fd, const std::string& name);

// Two entries of one name and type: same mode and bytes, same text of a link; of folders, same
// mode. What cannot be read is not the same.
bool SameEntry(int a, const struct stat& a_stat, int b, const struct stat& b_stat,
               const std::string& name);

// Copies a file of that size into an empty one: its data, not its holes, as a clone where both lie
// on a file system that can.
absl::Status CopyBytes(int from, int to, off_t size);

// The text of a link.
absl::StatusOr<std::string> ReadLinkText(int dir_fd, const std::string& name);

}  // namespace berth

#endif  // BERTH_RUNTIME_CHANGES_FILES_H_
