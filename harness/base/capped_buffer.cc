// A prefix that stops growing, and a ring for the newest bytes after it.
#include "harness/base/capped_buffer.h"

#include <algorithm>

namespace rharness {

CappedBuffer::CappedBuffer(std::uint64_t capacity_bytes)
    : head_capacity_(capacity_bytes / 2), tail_capacity_(capacity_bytes - capacity_bytes / 2) {}

void CappedBuffer::Append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t to_head = std::min<std::uint64_t>(bytes.size(), head_capacity_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() >= tail_capacity_) {
    tail_.assign(bytes.substr(bytes.size() - tail_capacity_));
    tail_begin_ = 0;
    return;
  }
  const std::size_t to_grow = std::min<std::uint64_t>(bytes.size(), tail_capacity_ - tail_.size());
  tail_.append(bytes.substr(0, to_grow));
  bytes.remove_prefix(to_grow);
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), tail_.size() - tail_begin_);
    bytes.copy(tail_.data() + tail_begin_, count);
    bytes.remove_prefix(count);
    tail_begin_ = (tail_begin_ + count) % tail_.size();
  }
}

std::string CappedBuffer::Text() const {
  std::string text = head_;
  text.append(tail_, tail_begin_);
  text.append(tail_, 0, tail_begin_);
  return text;
}

}  // namespace rharness
