// The content of one zip member from its first byte on, checked at its last.
//
// Role: private to this folder; zip_archive reads whole members with it, and npz deflated arrays.
// Memory: about 100 KB.
#ifndef RHARNESS_COMPARE_WEIGHTS_ZIP_STREAM_H_
#define RHARNESS_COMPARE_WEIGHTS_ZIP_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "compare/weights/zip_archive.h"

namespace rharness {

// Not thread-safe. `file` and `member` must outlive it. Spent after an error.
class ZipStream {
 public:
  ZipStream(const InputFile& file, const ZipMember& member);
  ~ZipStream();
  ZipStream(ZipStream&&) noexcept;
  ZipStream& operator=(ZipStream&&) noexcept;

  std::uint64_t position() const;  // of the next byte of content
  // Fills `out` (aborts when the member ends before). Once the last byte has been read: integrity
  // when the CRC-32 or the end of the deflated bytes do not match the directory, else invalid_input
  // for malformed deflated bytes, io.
  Status Read(std::span<std::byte> out);
  Status Skip(std::uint64_t count);  // Read into nothing

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ZIP_STREAM_H_
