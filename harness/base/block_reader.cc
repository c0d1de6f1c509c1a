// The reader thread and its two slots.
#include "harness/base/block_reader.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rharness {

BlockReader::~BlockReader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BlockReader::Start() {
  for (Slot& slot : slots_) slot.bytes = std::make_unique_for_overwrite<std::byte[]>(kBlockBytes);
  try {
    thread_ = std::thread([this] { ReadAll(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

std::span<const std::byte> BlockReader::Next() {
  std::unique_lock lock(mutex_);
  if (holding_) {
    slots_[next_].full = false;
    next_ = (next_ + 1) % slots_.size();
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return slots_[next_].full; });
  holding_ = slots_[next_].size > 0;
  return {slots_[next_].bytes.get(), slots_[next_].size};
}

int BlockReader::error_number() {
  const std::lock_guard lock(mutex_);
  return error_number_;
}

void BlockReader::ReadAll() {
  for (std::size_t at = 0;; at = (at + 1) % slots_.size()) {
    Slot& slot = slots_[at];
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || !slot.full; });
      if (stopped_) return;
    }
    // The slot is this thread's alone until it is marked full.
    const bool good = Fill(slot);
    const int failure = good ? 0 : errno;
    const std::lock_guard lock(mutex_);
    if (!good) {
      error_number_ = failure;
      slot.size = 0;
    }
    slot.full = true;
    changed_.notify_all();
    if (slot.size == 0) return;  // an empty block is the last; it stays full
  }
}

bool BlockReader::Fill(Slot& slot) {
  slot.size = 0;
  while (slot.size < kBlockBytes) {
    const ssize_t count = ::read(fd_, slot.bytes.get() + slot.size, kBlockBytes - slot.size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) return true;
    slot.size += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace rharness
