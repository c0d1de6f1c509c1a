// Fuzzes the GGUF header parser: no crash, no undefined behaviour, and what it accepts obeys the
// rules that the rest of the code relies on.
//
// An input is a whole file. Run: rharness-gguf-fuzz -max_total_time=60 CORPUS gguf_seeds
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "compare/weights/gguf.h"

namespace rharness {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckAccepted(const GgufHeader& header, std::uint64_t file_bytes) {
  Require(header.tensors.size() == header.offsets.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    const TensorInfo& info = header.tensors[i];
    Require(i == 0 || header.tensors[i - 1].name < info.name);
    Require(info.block_format.empty() == (info.dtype != DType::kBlocks));
    if (info.size_bytes > 0) Require(header.offsets[i] <= file_bytes);
    if (info.size_bytes > 0) Require(info.size_bytes <= file_bytes - header.offsets[i]);
    total += info.size_bytes;
  }
  Require(total <= file_bytes);  // none overlap
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const rharness::ReadBytes read = [&](std::uint64_t offset,
                                       std::span<std::byte> out) -> rharness::Status {
    rharness::Require(offset <= size && out.size() <= size - offset);
    if (!out.empty()) std::memcpy(out.data(), data + offset, out.size());
    return {};
  };
  const auto parsed = rharness::ParseGguf(read, size, "fuzz");
  if (parsed.ok()) {
    rharness::CheckAccepted(*parsed, size);
  } else {
    const rharness::Error& error = parsed.error();
    rharness::Require(error.where.starts_with("fuzz: byte ") && !error.message.empty());
  }
  return 0;
}
