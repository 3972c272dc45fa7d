#include "sandbox/launcher/output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth::launcher {

uint64_t Output::AddReader(UniqueFd pipe, int64_t from, uint64_t buffer) {
  fcntl(pipe.get(), F_SETFL, fcntl(pipe.get(), F_GETFL) | O_NONBLOCK);
  uint64_t at = from < 0 ? ring_.end() : static_cast<uint64_t>(from);
  at = std::clamp(at, ring_.begin(), ring_.end());
  readers_.push_back({std::move(pipe), at, buffer});
  Flush();
  return at;
}

size_t Output::Room(size_t most) const {
  uint64_t room = most;
  for (const Reader& reader : readers_) {
    if (reader.buffer == 0) continue;
    const uint64_t lag = ring_.end() - reader.at;
    room = std::min(room, reader.buffer > lag ? reader.buffer - lag : 0);
  }
  return room;
}

void Output::Append(std::string_view bytes) {
  // For those who read along the new bytes are there at least once, however few are kept.
  uint64_t needed = readers_.empty() ? ring_.end() + bytes.size() : ring_.end();
  for (const Reader& reader : readers_) {
    if (reader.buffer != 0) needed = std::min(needed, reader.at);
  }
  ring_.Append(bytes, needed);
  Flush();
}

void Output::Flush() {
  for (size_t i = 0; i < readers_.size();) {
    Reader& reader = readers_[i];
    bool gone = false;
    reader.at = std::max(reader.at, ring_.begin());
    while (reader.at < ring_.end()) {
      const std::string_view piece = ring_.At(reader.at);
      const ssize_t n = write(reader.pipe.get(), piece.data(), piece.size());
      if (n > 0) {
        reader.at += static_cast<size_t>(n);
      } else if (n < 0 && errno != EINTR) {
        gone = errno != EAGAIN;
        break;
      }
    }
    if (gone || (closed_ && reader.at == ring_.end())) {
      readers_.erase(readers_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void Output::DropGone(const std::vector<pollfd>& fds) {
  for (const pollfd& fd : fds) {
    if ((fd.revents & POLLERR) == 0) continue;
    std::erase_if(readers_, [&fd](const Reader& reader) { return reader.pipe.get() == fd.fd; });
  }
}

void Output::AppendPoll(std::vector<pollfd>* fds) const {
  for (const Reader& reader : readers_) {
    // Without something to write, only the reader's going away is of interest (POLLERR).
    fds->push_back(
        {reader.pipe.get(), static_cast<short>(reader.at < ring_.end() ? POLLOUT : 0), 0});
  }
}

}  // namespace berth::launcher
