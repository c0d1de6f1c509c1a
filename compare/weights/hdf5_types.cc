// The fields of a number's type; see hdf5_types.h.
#include "compare/weights/hdf5_types.h"

#include "compare/weights/hdf5_file.h"

namespace rharness {
namespace {

std::optional<DType> FloatOf(std::uint64_t size, unsigned exponent_bits) {
  if (size == 2 && exponent_bits == 5) return DType::kF16;
  if (size == 2 && exponent_bits == 8) return DType::kBF16;
  if (size == 4 && exponent_bits == 8) return DType::kF32;
  if (size == 8 && exponent_bits == 11) return DType::kF64;
  return std::nullopt;
}

std::optional<DType> IntegerOf(std::uint64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? DType::kI8 : DType::kU8;
    case 2:
      return is_signed ? DType::kI16 : DType::kU16;
    case 4:
      return is_signed ? DType::kI32 : DType::kU32;
    case 8:
      return is_signed ? DType::kI64 : DType::kU64;
    default:
      return std::nullopt;
  }
}

}  // namespace

Hdf5Class Hdf5ClassOf(std::string_view type) {
  return static_cast<Hdf5Class>(Hdf5Number(type, 0, 1) & 15U);
}

// Class and version, bits, size, properties.
std::optional<Hdf5NumberType> Hdf5NumberTypeOf(std::string_view type) {
  if (type.size() < 8) return std::nullopt;
  const Hdf5Class kind = Hdf5ClassOf(type);
  const std::uint64_t bits = Hdf5Number(type, 1, 3), size = Hdf5Number(type, 4, 4);
  if (kind == Hdf5Class::kEnumeration && size == 1) return Hdf5NumberType{DType::kBool, false};
  const bool is_float = kind == Hdf5Class::kFloat;
  if (type.size() < (is_float ? 14U : 12U) || (kind != Hdf5Class::kInteger && !is_float)) {
    return std::nullopt;
  }
  // All bits of a number count, from the first on; the order of the VAX is none that is read.
  if (Hdf5Number(type, 8, 2) != 0 || Hdf5Number(type, 10, 2) != 8 * size) return std::nullopt;
  if (is_float && (bits & 0x40U) != 0) return std::nullopt;
  const auto dtype = is_float ? FloatOf(size, static_cast<unsigned char>(type[13]))
                              : IntegerOf(size, (bits & 8U) != 0);
  if (!dtype) return std::nullopt;
  return Hdf5NumberType{*dtype, (bits & 1U) != 0};
}

}  // namespace rharness
