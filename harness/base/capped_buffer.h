// Keeps the first half and the last half of a stream in bounded memory, and counts all of it.
#ifndef RHARNESS_HARNESS_BASE_CAPPED_BUFFER_H_
#define RHARNESS_HARNESS_BASE_CAPPED_BUFFER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace rharness {

class CappedBuffer {
 public:
  explicit CappedBuffer(std::uint64_t capacity_bytes);
  void Append(std::string_view bytes);
  std::uint64_t total_bytes() const { return total_; }
  // Everything, if it fits the capacity; else the first capacity/2 and the last capacity -
  // capacity/2 bytes, joined.
  std::string Text() const;

 private:
  std::uint64_t head_capacity_;
  std::uint64_t tail_capacity_;
  std::uint64_t total_ = 0;
  std::string head_;
  std::string tail_;            // a ring once it is full
  std::size_t tail_begin_ = 0;  // its oldest byte
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CAPPED_BUFFER_H_
