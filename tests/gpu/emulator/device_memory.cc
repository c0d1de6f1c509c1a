// Allocations of the emulated device.
#include "tests/gpu/emulator/device_memory.h"

#include <algorithm>

namespace rharness {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kGap = 4096;  // an index that is off by a little hits nothing else

}  // namespace

std::uint64_t DeviceMemory::Allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > total_ - used_) return 0;
  Allocation one;
  one.begin = next_;
  one.bytes = bytes;
  // What nobody writes is neither zero nor the same twice; a pattern is enough to be seen, and
  // pages of it would cost more than the check that finds such reads.
  one.own.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
  one.data = one.own.get();
  one.written.reset(static_cast<unsigned char*>(std::calloc(bytes, 1)));
  if (one.data == nullptr || one.written == nullptr) return 0;
  next_ += (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  used_ += bytes;
  const std::uint64_t address = one.begin;
  allocations_.emplace(address, std::move(one));
  return address;
}

void DeviceMemory::Adopt(std::byte* data, std::uint64_t bytes) {
  Allocation one;
  one.begin = reinterpret_cast<std::uintptr_t>(data);
  one.bytes = bytes;
  one.data = data;
  one.written.reset(static_cast<unsigned char*>(std::malloc(bytes)));
  std::fill_n(one.written.get(), bytes, std::uint8_t{1});
  const std::uint64_t address = one.begin;
  allocations_.insert_or_assign(address, std::move(one));
  last_ = nullptr;
}

bool DeviceMemory::Free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  used_ -= found->second.bytes;
  last_ = nullptr;
  allocations_.erase(found);
  return true;
}

MemoryView DeviceMemory::Find(std::uint64_t address, std::uint64_t bytes) {
  if (last_ == nullptr || address < last_->begin || address - last_->begin >= last_->bytes) {
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return {};
    last_ = &(--after)->second;
  }
  const std::uint64_t offset = address - last_->begin;
  if (offset > last_->bytes || bytes > last_->bytes - offset) return {};
  return {last_->data + offset, last_->written.get() + offset};
}

}  // namespace rharness
