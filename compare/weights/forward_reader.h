// Little-endian numbers and strings read forward from a file, each within its end.
//
// Role: the bounds of the GGUF header, which does not state its length. Not here: what the values
// mean.
#ifndef RHARNESS_COMPARE_WEIGHTS_FORWARD_READER_H_
#define RHARNESS_COMPARE_WEIGHTS_FORWARD_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Fills `out` with a file's bytes from an offset on; the range is within the file.
using ReadBytes = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;

// `what` names the thing read in errors ("the version"). Errors: invalid_input when the file ends
// before the thing does, with `where` "FILE: byte N"; those of `read`.
class ForwardReader {
 public:
  // `read` and `file` must outlive this object.
  ForwardReader(const ReadBytes& read, std::uint64_t file_bytes, std::string_view file)
      : read_(read), file_bytes_(file_bytes), file_(file) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::string At(std::uint64_t offset) const;  // "FILE: byte N"
  std::string Here() const { return At(position_); }

  // An unsigned number of 1, 2, 4 or 8 bytes.
  Result<std::uint64_t> Number(std::size_t size_bytes, std::string_view what);
  Result<std::uint32_t> U32(std::string_view what);
  Result<std::uint64_t> U64(std::string_view what) { return Number(8, what); }
  // `size_bytes` bytes, as they are. The caller bounds the size.
  Result<std::string> Text(std::uint64_t size_bytes, std::string_view what);
  // Passes over bytes without reading them.
  Status Skip(std::uint64_t size_bytes, std::string_view what);

 private:
  Status Require(std::uint64_t size_bytes, std::string_view what) const;
  Status Fill(std::span<std::byte> out, std::string_view what);

  const ReadBytes& read_;
  std::uint64_t file_bytes_;
  std::string_view file_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{64} << 10);
  std::uint64_t buffer_begin_ = 0;
  std::size_t buffered_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_FORWARD_READER_H_
