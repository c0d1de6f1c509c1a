// The choice of a reader by a file's first bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/npy.h"
#include "compare/weights/safetensors.h"
#include "compare/weights/torch_zip.h"
#include "compare/weights/zip_archive.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

Result<std::unique_ptr<Checkpoint>> OpenZip(InputFile file) {
  ASSIGN_OR_RETURN(const ZipDirectory directory, ReadZipDirectory(file));
  if (IsTorchZip(directory)) return OpenTorchZip(std::move(file), directory);
  if (IsNpz(directory)) return OpenNpz(std::move(file), directory);
  return Unsupported(
      "is a zip archive without data.pkl (PyTorch) or .npy members (numpy); expected "
      "one of these",
      file.name());
}

// A format that is read. Safetensors has no mark of its own and takes what no other row takes.
struct Reader {
  std::string_view first_bytes;
  Result<std::unique_ptr<Checkpoint>> (*open)(InputFile file);
};

constexpr std::array<Reader, 2> kReaders = {{
    {"PK\x03\x04"sv, OpenZip},
    {"\x93NUMPY"sv, OpenNpy},
}};

// A format that is named and refused.
struct ForeignFormat {
  std::string_view first_bytes;
  std::string_view name;
};

constexpr std::array<ForeignFormat, 11> kForeignFormats = {{
    {"PK\x05\x06"sv, "an empty zip archive"},
    {"GGUF"sv, "a GGUF file"},
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9"sv,
     "a PyTorch file in the old format, a Python pickle without a zip archive"},
    {"\x80\x02"sv, "a Python pickle"},
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

template <class Row, std::size_t kRows>
const Row* RowFor(const std::array<Row, kRows>& rows, std::string_view head) {
  const auto row = std::ranges::find_if(
      rows, [&](const Row& candidate) { return head.starts_with(candidate.first_bytes); });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  std::array<char, 16> buffer;
  const std::size_t size = std::min<std::uint64_t>(buffer.size(), file.size_bytes());
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(buffer).first(size))));
  const std::string_view head(buffer.data(), size);
  if (LooksLikeSafetensors(head)) return OpenSafetensors(std::move(file));
  if (const Reader* reader = RowFor(kReaders, head)) return reader->open(std::move(file));
  if (const ForeignFormat* format = RowFor(kForeignFormats, head)) {
    return Unsupported(
        fmt::format("is {}; expected a safetensors, PyTorch, .npz or .npy file", format->name),
        path.string());
  }
  return OpenSafetensors(std::move(file));
}

}  // namespace rharness
