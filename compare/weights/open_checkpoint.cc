// The choice of a reader by a file's first bytes.
#include "compare/weights/open_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/gguf.h"
#include "compare/weights/npy.h"
#include "compare/weights/safetensors.h"
#include "compare/weights/sharded.h"
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

constexpr std::array<Reader, 3> kReaders = {{
    {"PK\x03\x04"sv, OpenZip},
    {"\x93NUMPY"sv, OpenNpy},
    {"GGUF"sv, OpenGguf},
}};

// A format that is named and refused.
struct ForeignFormat {
  std::string_view first_bytes;
  std::string_view name;
};

constexpr std::array<ForeignFormat, 8> kForeignFormats = {{
    {"PK\x05\x06"sv, "an empty zip archive"},
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9"sv,
     "a PyTorch file in the old format, a Python pickle without a zip archive"},
    {"\x80\x02"sv, "a Python pickle"},
    {"\x80\x03"sv, "a Python pickle"},
    {"\x80\x04"sv, "a Python pickle"},
    {"\x80\x05"sv, "a Python pickle"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file, such as Keras weights"},
    {"\x1f\x8b"sv, "a gzip file"},
}};

// The first bytes of a header length below 2^32 may happen to be those of another format; what
// follows them then decides.
bool LooksLikeSafetensors(std::string_view head) {
  return head.size() > 8 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv;
}

// A JSON text as opposed to a header length that begins with the same byte.
bool LooksLikeJson(std::string_view head) {
  const std::size_t second = head.find_first_not_of(" \t\r\n", 1);
  return head.starts_with('{') && !LooksLikeSafetensors(head) &&
         (second == std::string_view::npos || head[second] == '"' || head[second] == '}');
}

// The first bytes, fewer where the file has fewer.
Result<std::string> HeadOf(const InputFile& file) {
  std::string head(std::min<std::uint64_t>(16, file.size_bytes()), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  return head;
}

template <class Row, std::size_t kRows>
const Row* RowFor(const std::array<Row, kRows>& rows, std::string_view head) {
  const auto row = std::ranges::find_if(
      rows, [&](const Row& candidate) { return head.starts_with(candidate.first_bytes); });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenCheckpointFile(InputFile file) {
  ASSIGN_OR_RETURN(const std::string head, HeadOf(file));
  if (LooksLikeSafetensors(head)) return OpenSafetensors(std::move(file));
  if (const Reader* reader = RowFor(kReaders, head)) return reader->open(std::move(file));
  if (LooksLikeJson(head)) {
    return Unsupported("is a JSON file; expected one that holds tensors itself", file.name());
  }
  if (const ForeignFormat* format = RowFor(kForeignFormats, head)) {
    return Unsupported(
        fmt::format("is {}; expected a safetensors, PyTorch, GGUF, .npz or .npy file",
                    format->name),
        file.name());
  }
  return OpenSafetensors(std::move(file));
}

Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return OpenCheckpointFolder(path);
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  ASSIGN_OR_RETURN(const std::string head, HeadOf(file));
  if (LooksLikeJson(head)) return OpenShardIndex(std::move(file));
  return OpenCheckpointFile(std::move(file));
}

}  // namespace rharness
