// The header of a numpy .npy file: a Python literal of three members, parsed strictly.
//
// Role: private to this folder; shared by .npy files and the members of .npz archives. Source:
// numpy/lib/format.py (versions 1.0, 2.0 and 3.0).
#ifndef RHARNESS_COMPARE_WEIGHTS_NPY_HEADER_H_
#define RHARNESS_COMPARE_WEIGHTS_NPY_HEADER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/gather.h"

namespace rharness {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
inline constexpr std::uint64_t kMaxNpyHeaderBytes = std::uint64_t{64} << 10;

struct NpyHeader {
  DType dtype = DType::kF32;
  bool swapped = false;  // big-endian numbers
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // from the magic string
};

// Of "f4", kind and bytes an element; empty for what has no counterpart here.
std::optional<DType> DTypeOfNpyFormat(std::string_view format);

// Reads the header of an array that fills `size_bytes` bytes, through `read` in ascending order.
// Also checks that the data have the length of dtype and shape. Errors: those of `read`;
// invalid_input (malformed), unsupported (a dtype without a counterpart here: objects, structures,
// text, dates, long doubles; a limit); their `where` is "WHERE: byte N".
Result<NpyHeader> ReadNpyHeader(const ReadSource& read, std::uint64_t size_bytes,
                                std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_NPY_HEADER_H_
