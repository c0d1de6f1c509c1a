// The dtypes, and the choice of a reader by a file's first bytes.
#include "compare/weights/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compare/weights/input_file.h"
#include "compare/weights/safetensors.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
};

constexpr std::array<DTypeRow, 23> kDTypes = {{
    {DType::kBool, "BOOL", 8},
    {DType::kF4, "F4", 4},
    {DType::kF6E2M3, "F6_E2M3", 6},
    {DType::kF6E3M2, "F6_E3M2", 6},
    {DType::kU8, "U8", 8},
    {DType::kI8, "I8", 8},
    {DType::kF8E5M2, "F8_E5M2", 8},
    {DType::kF8E4M3, "F8_E4M3", 8},
    {DType::kF8E8M0, "F8_E8M0", 8},
    {DType::kF8E4M3Fnuz, "F8_E4M3FNUZ", 8},
    {DType::kF8E5M2Fnuz, "F8_E5M2FNUZ", 8},
    {DType::kI16, "I16", 16},
    {DType::kU16, "U16", 16},
    {DType::kF16, "F16", 16},
    {DType::kBF16, "BF16", 16},
    {DType::kI32, "I32", 32},
    {DType::kU32, "U32", 32},
    {DType::kF32, "F32", 32},
    {DType::kC64, "C64", 64},
    {DType::kF64, "F64", 64},
    {DType::kI64, "I64", 64},
    {DType::kU64, "U64", 64},
    {DType::kBlocks, "BLOCKS", 8},
}};

const DTypeRow& RowOf(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row;
  }
  Abort("unknown DType");
}

struct ForeignFormat {
  std::string_view first_bytes;
  std::string_view name;
};

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

constexpr std::array<ForeignFormat, 12> kForeignFormats = {{
    {"PK\x03\x04"sv, "a zip archive, such as a PyTorch .pt file or a numpy .npz file"},
    {"PK\x05\x06"sv, "an empty zip archive"},
    {"\x93NUMPY"sv, "a numpy .npy file"},
    {"GGUF"sv, "a GGUF file"},
    {"\x80\x02"sv, "a Python pickle, such as an old PyTorch file"},
    {"\x80\x03"sv, "a Python pickle"},
    {"\x80\x04"sv, "a Python pickle"},
    {"\x80\x05"sv, "a Python pickle"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file, such as Keras weights"},
    {"\x1f\x8b"sv, "a gzip file"},
    {"{\""sv, "a JSON file, such as the index of a sharded checkpoint"},
    {"{\n"sv, "a JSON file, such as the index of a sharded checkpoint"},
}};

// The first bytes of a header length below 2^32 may happen to be those of another format; what
// follows them then decides.
bool LooksLikeSafetensors(std::string_view head) {
  return head.size() > 8 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv;
}

std::optional<std::string_view> ForeignFormatOf(std::string_view head) {
  for (const ForeignFormat& format : kForeignFormats) {
    if (head.starts_with(format.first_bytes)) return format.name;
  }
  return std::nullopt;
}

}  // namespace

std::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

Result<DType> ParseDType(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name && row.dtype != DType::kBlocks) return row.dtype;
  }
  return InvalidInput(
      fmt::format("unknown dtype '{}'; expected a safetensors dtype such as F32 or "
                  "BF16",
                  TerminalSafe(name.substr(0, 40))));
}

int BitsOf(DType dtype) { return RowOf(dtype).bits; }

std::string_view FormatName(const TensorInfo& info) {
  return info.dtype == DType::kBlocks ? info.block_format : DTypeName(info.dtype);
}

Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  std::array<char, 16> buffer;
  const std::size_t size = std::min<std::uint64_t>(buffer.size(), file.size_bytes());
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(buffer).first(size))));
  const std::string_view head(buffer.data(), size);
  if (!LooksLikeSafetensors(head)) {
    if (const auto name = ForeignFormatOf(head)) {
      return Unsupported(fmt::format("is {}; expected a safetensors file", *name), path.string());
    }
  }
  return OpenSafetensors(std::move(file));
}

}  // namespace rharness
