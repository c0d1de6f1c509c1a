// Fuzzes the safetensors header parser: no crash, no undefined behaviour, and what it accepts
// obeys the rules that the rest of the code relies on.
//
// The first four bytes of an input are the number of data bytes, the rest is the header.
// Run: rharness-safetensors-fuzz -max_total_time=60 -dict=safetensors.dict CORPUS safetensors_seeds
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "compare/weights/safetensors.h"

namespace rharness {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckAccepted(const SafetensorsHeader& header, std::uint64_t data_bytes) {
  Require(header.tensors.size() == header.offsets.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    const TensorInfo& info = header.tensors[i];
    Require(i == 0 || header.tensors[i - 1].name < info.name);
    Require(header.offsets[i] <= data_bytes);
    Require(info.size_bytes <= data_bytes - header.offsets[i]);
    Require(info.size_bytes * 8 == info.elements * static_cast<std::uint64_t>(BitsOf(info.dtype)));
    total += info.size_bytes;
  }
  Require(total == data_bytes);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint32_t data_bytes = 0;
  if (size < sizeof(data_bytes)) return 0;
  std::memcpy(&data_bytes, data, sizeof(data_bytes));
  const std::string_view header(reinterpret_cast<const char*>(data) + sizeof(data_bytes),
                                size - sizeof(data_bytes));
  const auto parsed = rharness::ParseSafetensorsHeader(header, data_bytes, "fuzz");
  if (parsed.ok()) {
    rharness::CheckAccepted(*parsed, data_bytes);
  } else {
    const rharness::Error& error = parsed.error();
    rharness::Require(error.where.starts_with("fuzz: byte ") && !error.message.empty());
  }
  return 0;
}
