#include "sandbox/launcher/status_page.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1
#endif

namespace berth::launcher {
namespace {

using Word = std::atomic<uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

constexpr uint64_t kPageMagic = 0x3147504854524542;  // "BERTHPG1"
// Room for a title and three paths; what is not used takes no memory.
constexpr size_t kPageBytes = 16 << 10;
constexpr int kMaxTries = 100;

}  // namespace

// A seqlock: `sequence` is odd while the rest is being written.
struct StatusLayout {
  static constexpr size_t kWords = kPageBytes / sizeof(Word) - 5;

  Word magic, sequence, output_bytes, last_output_ns;
  Word size;  // of what is shown, in bytes; 0: nothing is
  Word words[kWords];
};
static_assert(sizeof(StatusLayout) == kPageBytes);

StatusPage::~StatusPage() {
  if (page_ != nullptr) munmap(page_, kPageBytes);
}

bool StatusPage::Make() {
  UniqueFd fd(memfd_create("berth-status", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok() || ftruncate(fd.get(), kPageBytes) != 0) return false;
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (page == MAP_FAILED) return false;
  // After the one mapping that is for writing.
  if (fcntl(fd.get(), F_ADD_SEALS,
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    munmap(page, kPageBytes);
    return false;
  }
  fd_ = std::move(fd);
  page_ = static_cast<StatusLayout*>(page);
  page_->magic.store(kPageMagic, std::memory_order_release);
  return true;
}

void StatusPage::Show(std::string_view info, uint64_t output_bytes, uint64_t last_output_ns) {
  if (page_ == nullptr) return;
  // Each store releases: who sees one of them sees that the sequence is odd, too.
  constexpr auto kRelease = std::memory_order_release;
  const uint64_t sequence = page_->sequence.load(std::memory_order_relaxed);
  page_->sequence.store(sequence + 1, std::memory_order_relaxed);
  page_->output_bytes.store(output_bytes, kRelease);
  page_->last_output_ns.store(last_output_ns, kRelease);
  if (info != shown_) {
    shown_ = info;
    const bool fits = info.size() <= sizeof(page_->words);
    page_->size.store(fits ? info.size() : 0, kRelease);
    for (size_t i = 0; fits && i * sizeof(Word) < info.size(); ++i) {
      uint64_t word = 0;
      info.copy(reinterpret_cast<char*>(&word), sizeof(word), i * sizeof(word));
      page_->words[i].store(word, kRelease);
    }
  }
  page_->sequence.store(sequence + 2, kRelease);
}

StatusView::StatusView(int fd) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(fd, F_GET_SEALS);
  struct stat st;
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(fd, &st) != 0 ||
      st.st_size != static_cast<off_t>(kPageBytes)) {
    return;
  }
  void* const page = mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return;
  page_ = static_cast<const StatusLayout*>(page);
  if (page_->magic.load(std::memory_order_acquire) == kPageMagic) return;
  munmap(page, kPageBytes);
  page_ = nullptr;
}

StatusView::~StatusView() {
  if (page_ != nullptr) munmap(const_cast<StatusLayout*>(page_), kPageBytes);
}

bool StatusView::Read(Status* status) const {
  // Each load acquires: the sequence that is compared at the end is loaded after all of them.
  constexpr auto kAcquire = std::memory_order_acquire;
  for (int tries = 0; page_ != nullptr && tries < kMaxTries; ++tries) {
    const uint64_t sequence = page_->sequence.load(kAcquire);
    if (sequence % 2 != 0) continue;
    const uint64_t size = page_->size.load(kAcquire);
    if (size == 0 || size > sizeof(page_->words)) return false;
    status->output_bytes = page_->output_bytes.load(kAcquire);
    status->last_output_ns = page_->last_output_ns.load(kAcquire);
    status->info.resize(size);
    for (size_t at = 0; at < size; at += sizeof(Word)) {
      const uint64_t word = page_->words[at / sizeof(Word)].load(kAcquire);
      memcpy(status->info.data() + at, &word, std::min(sizeof(word), size - at));
    }
    if (page_->sequence.load(std::memory_order_relaxed) == sequence) return true;
  }
  return false;
}

}  // namespace berth::launcher
