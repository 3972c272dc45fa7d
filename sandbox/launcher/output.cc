#include "sandbox/launcher/output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth::launcher {

uint64_t Output::AddReader(UniqueFd pipe, int64_t from, uint64_t buffer) {
  Settle();
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
    const uint64_t lag = end() - std::min(reader.at, end());
    room = std::min(room, reader.buffer > lag ? reader.buffer - lag : 0);
  }
  return room;
}

size_t Output::Pass(int pipe, size_t most) {
  // With several readers one would soon lag, and need what is aside.
  if (readers_.size() > 1 || (!readers_.empty() && readers_[0].at != end())) return 0;
  const uint64_t before = end();
  Share(pipe, most);
  if (!readers_.empty()) most = readers_[0].at - before;
  if (most == 0) return 0;
  // Whatever nobody will be able to ask for makes room.
  const uint64_t window = std::max(ring_.keep(), mixed_ != nullptr ? mixed_->keep() : 0);
  const uint64_t outside = before + most - std::min(before + most, window);
  if (outside > ring_.end()) ring_.Skip(aside_.Drop(outside - ring_.end()));
  const size_t taken = aside_.Take(pipe, most);
  if (taken < most) Settle();  // its pipe is full: of pages that are not, or of all that is kept
  return taken;
}

void Output::Settle() {
  static char buffer[64 << 10];
  while (const size_t n = aside_.Read(buffer, sizeof(buffer))) Keep({buffer, n});
}

void Output::Share(int pipe, size_t most) {
  for (Reader& reader : readers_) {
    if (reader.at != end()) continue;
    const ssize_t n = tee(pipe, reader.pipe.get(), most, SPLICE_F_NONBLOCK);
    if (n > 0) reader.at += static_cast<size_t>(n);
  }
}

void Output::Keep(std::string_view bytes) {
  // For those who read along the new bytes are there at least once, however few are kept.
  uint64_t needed = ring_.end() + bytes.size();
  for (const Reader& reader : readers_) {
    needed = std::min(needed, reader.buffer != 0 ? reader.at : std::max(reader.at, ring_.end()));
  }
  ring_.Append(bytes, needed);
  if (mixed_ != nullptr) mixed_->Append(bytes, ~uint64_t{0});
}

void Output::Append(std::string_view bytes) {
  Settle();
  Keep(bytes);
  Flush();
}

void Output::Flush() {
  for (size_t i = 0; i < readers_.size();) {
    Reader& reader = readers_[i];
    bool gone = false;
    if (reader.at < end()) Settle();
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
    if (gone || (closed_ && reader.at >= end())) {
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
    fds->push_back({reader.pipe.get(), static_cast<short>(reader.at < end() ? POLLOUT : 0), 0});
  }
}

}  // namespace berth::launcher
