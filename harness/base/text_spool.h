// Stores texts in order until they are used: in memory up to a limit, beyond it in a nameless file,
// which disappears with the process.
//
// Role: for large input that is checked completely before any of it is used.
#ifndef RHARNESS_HARNESS_BASE_TEXT_SPOOL_H_
#define RHARNESS_HARNESS_BASE_TEXT_SPOOL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

class TextSpool {
 public:
  explicit TextSpool(std::size_t most_in_memory_bytes = std::size_t{8} << 20)
      : most_in_memory_bytes_(most_in_memory_bytes) {}

  std::size_t size() const { return ends_.size(); }
  // Errors: io (the folder for temporary files, TMPDIR, is full or cannot be written).
  Status Append(std::string_view text);
  // The i-th text, i < size(). Errors: io.
  Result<std::string> Read(std::size_t i) const;

 private:
  Status WriteOut();

  std::size_t most_in_memory_bytes_;
  std::vector<std::uint64_t> ends_;  // end of each text, counted over all of them
  std::uint64_t written_ = 0;        // bytes of these in the file
  std::string rest_;                 // and those that are not
  Descriptor file_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_TEXT_SPOOL_H_
