// Texts in the attributes of an HDF5 object.
//
// Role: private to this folder; under hdf5. Source: "HDF5 File Format Specification Version 3.0",
// sections IV.A.2.m (attributes), IV.A.2.d (types) and III.E (global heap).
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_ATTRIBUTES_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_ATTRIBUTES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMaxHdf5TextBytes = std::size_t{64} << 20;  // of an attribute
inline constexpr std::size_t kMaxHdf5Texts = 1'000'000;                  // of an attribute

// The values by the attribute's name: one of a scalar, several of a list.
using Hdf5Texts = std::map<std::string, std::vector<std::string>, std::less<>>;

// Bytes [at, at + size) of the HDF5 file. Errors: invalid_input beyond its end, io, integrity.
using TakeBytes = std::function<Result<std::string>(std::uint64_t at, std::uint64_t size)>;

struct Hdf5Attribute {
  std::string name;
  std::vector<std::string> values;
};

// The content of an attribute's message; none for one that holds no text, or whose type is stored
// elsewhere. Errors: a clause for a malformed one, as invalid_input without `where`; those of
// `take`.
Result<std::optional<Hdf5Attribute>> ReadHdf5Attribute(std::string_view content,
                                                       const TakeBytes& take);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_ATTRIBUTES_H_
