// CRC-32C, the checksum of TensorFlow's and TensorStore's files.
//
// Role: under the readers of event files, TensorFlow checkpoints and OCDBT databases. Pure.
// Source: RFC 3720, appendix B.4 (Castagnoli); masks: "Data integrity" of
// https://www.tensorflow.org/tutorials/load_data/tfrecord.
#ifndef RHARNESS_HARNESS_BASE_CRC32C_H_
#define RHARNESS_HARNESS_BASE_CRC32C_H_

#include <bit>
#include <cstdint>
#include <string_view>

namespace rharness {

// Of the bytes, continued from `crc`, the result for the bytes before them.
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t crc = 0);

// As TFRecord and tables store it: a checksum over data that hold checksums is weak.
constexpr std::uint32_t MaskCrc32c(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

constexpr std::uint32_t UnmaskCrc32c(std::uint32_t masked) {
  return std::rotl(masked - 0xa282ead8u, 15);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CRC32C_H_
