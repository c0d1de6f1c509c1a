// The choice of a reader by a file's first bytes.
#include "compare/weights/open_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/flax_msgpack.h"
#include "compare/weights/foreign_formats.h"
#include "compare/weights/gguf.h"
#include "compare/weights/joblib.h"
#include "compare/weights/keras.h"
#include "compare/weights/lightgbm_model.h"
#include "compare/weights/names.h"
#include "compare/weights/npy.h"
#include "compare/weights/onnx.h"
#include "compare/weights/orbax.h"
#include "compare/weights/safetensors.h"
#include "compare/weights/sharded.h"
#include "compare/weights/sklearn_model.h"
#include "compare/weights/tf_checkpoint.h"
#include "compare/weights/torch_distributed.h"
#include "compare/weights/torch_export.h"
#include "compare/weights/torch_legacy.h"
#include "compare/weights/torch_tar.h"
#include "compare/weights/torch_zip.h"
#include "compare/weights/xgboost_model.h"
#include "compare/weights/zip_archive.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

Result<std::unique_ptr<Checkpoint>> OpenZip(InputFile file) {
  ASSIGN_OR_RETURN(const ZipDirectory directory, ReadZipDirectory(file));
  if (IsTorchZip(directory)) return OpenTorchZip(std::move(file), directory);
  if (IsNpz(directory)) return OpenNpz(std::move(file), directory);
  if (IsKeras(directory)) return OpenKeras(std::move(file), directory);
  if (IsTorchExport(directory)) return OpenTorchExport(std::move(file), directory);
  return Unsupported(
      "is a zip archive without data.pkl or .npy members; expected an archive with data.pkl "
      "(PyTorch) or .npy members (numpy)",
      file.name());
}

// A readable format. Safetensors has no mark of its own and accepts what no other row accepts.
struct Reader {
  std::string_view first_bytes;
  Result<std::unique_ptr<Checkpoint>> (*open)(InputFile file);
};

constexpr std::array<Reader, 5> kReaders = {{
    {"PK\x03\x04"sv, OpenZip},
    {kTorchLegacyMagic, OpenTorchLegacy},
    {"\x93NUMPY"sv, OpenNpy},
    {"GGUF"sv, OpenGguf},
    {"\x89HDF\r\n\x1a\n"sv, OpenHdf5},
}};

// The first bytes of a header length below 2^32 may look like another format; the bytes after them
// decide.
bool LooksLikeSafetensors(std::string_view head) {
  return head.size() > 8 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv;
}

// A JSON text as opposed to a header length that begins with the same byte.
bool LooksLikeJson(std::string_view head) {
  const std::size_t second = head.find_first_not_of(" \t\r\n", 1);
  return head.starts_with('{') && !LooksLikeSafetensors(head) &&
         (second == std::string_view::npos || head[second] == '"' || head[second] == '}');
}

// The first bytes, fewer if the file has fewer.
Result<std::string> HeadOf(const InputFile& file) {
  std::string head(std::min<std::uint64_t>(16, file.size_bytes()), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  return head;
}

constexpr std::string_view kExpected =
    "a safetensors, PyTorch (.pt, .pth, .bin), GGUF, Keras (.keras, .h5), flax (.msgpack), "
    "TensorFlow (.index), ONNX, .npz, .npy, joblib, XGBoost or LightGBM file";

// What a file is that begins like none of the formats.
std::string Describe(std::string_view head) {
  if (head.empty()) return "the file is empty";
  if (IsText(head)) {
    return fmt::format("text that begins with {}, and no checkpoint",
                       Quoted(head.substr(0, head.find_first_of("\r\n"))));
  }
  std::string bytes;
  for (const char c : head.substr(0, 8)) {
    bytes += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  }
  return fmt::format("a file that begins with the bytes{}, and no known kind of checkpoint", bytes);
}

// By the length of its header, the only mark of the format: other files have one beyond the file's
// end. A name of the format gets its error message instead.
bool MayBeSafetensors(std::string_view head, const InputFile& file) {
  if (file.name().ends_with(".safetensors")) return true;
  constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
  if (head.size() < kLengthBytes) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), kLengthBytes);
  return length <= file.size_bytes() - kLengthBytes;
}

// By its content, or by its name: another writer may put its fields in another order.
bool IsOnnx(std::string_view head, const InputFile& file) {
  return LooksLikeOnnx(head) || (file.name().ends_with(".onnx") && !IsText(head));
}

}  // namespace

bool IsText(std::string_view head) {
  return std::ranges::all_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t' || byte == '\r' || byte == '\n';
  });
}

bool IsTextCheckpoint(std::string_view head) {
  return LooksLikeXgboost(head) || LooksLikeLightgbm(head);
}

Result<std::unique_ptr<Checkpoint>> OpenCheckpointFile(InputFile file) {
  ASSIGN_OR_RETURN(const std::string head, HeadOf(file));
  if (LooksLikeSafetensors(head)) return OpenSafetensors(std::move(file));
  const auto reader = std::ranges::find_if(
      kReaders, [&](const Reader& row) { return head.starts_with(row.first_bytes); });
  // A part of a distributed checkpoint may look like the last archive in it.
  const bool part = file.name().ends_with(kDistributedEnding);
  if (reader != kReaders.end() && !part) return reader->open(std::move(file));
  ASSIGN_OR_RETURN(const bool tar, LooksLikeTar(file));
  if (tar) return OpenTorchTar(std::move(file));
  if (LooksLikeXgboost(head)) return OpenXgboost(std::move(file));
  if (LooksLikeLightgbm(head)) return OpenLightgbm(std::move(file));
  if (LooksLikeJson(head)) {
    return Unsupported("is a JSON file; expected one that holds tensors itself", file.name());
  }
  if (LooksLikeMsgpack(head)) return OpenFlaxMsgpack(std::move(file));
  if (IsOnnx(head, file)) return OpenOnnx(std::move(file));
  ASSIGN_OR_RETURN(const bool dump, LooksLikeDump(file));
  if (dump && !part) return OpenPickledModel(std::move(file));
  ASSIGN_OR_RETURN(std::string_view format, ForeignFormatOf(file, head));
  if (format.empty()) format = ForeignFormatByName(file.name());
  if (!format.empty()) {
    return Unsupported(fmt::format("is {}; expected {}", format, kExpected), file.name());
  }
  if (MayBeSafetensors(head, file)) return OpenSafetensors(std::move(file));
  return Unsupported(fmt::format("{}; expected {}", Describe(head), kExpected),
                     file.name() + ": byte 0");
}

Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(const std::filesystem::path& path,
                                                   const std::shared_ptr<const HeldFolder>& below) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return OpenCheckpointFolder(path, below);
  if (path.filename() == kDistributedIndex) return OpenTorchDistributed(path.parent_path(), below);
  if (IsOrbaxIndex(path.filename().string())) return OpenOrbax(path.parent_path(), below);
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path, nullptr, below));
  ASSIGN_OR_RETURN(const std::string head, HeadOf(file));
  if (LooksLikeXgboost(head)) return OpenXgboost(std::move(file));
  if (LooksLikeJson(head)) return OpenShardIndex(std::move(file));
  ASSIGN_OR_RETURN(const bool tensorflow, IsTfIndex(file));
  if (tensorflow) return OpenTfCheckpoint(std::move(file));
  return OpenCheckpointFile(std::move(file));
}

Result<std::vector<std::string>> PartsOfCheckpoint(const std::filesystem::path& path,
                                                   const std::shared_ptr<const HeldFolder>& below) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path, nullptr, below));
  if (path.filename() == kDistributedIndex) {
    ASSIGN_OR_RETURN(DistributedMetadata metadata, ReadDistributedMetadata(file));
    return std::move(metadata.files);
  }
  const std::string name = path.filename().string();
  if (IsOrbaxIndex(name)) return OrbaxFiles(path.parent_path(), name, below);
  ASSIGN_OR_RETURN(const std::string head, HeadOf(file));
  ASSIGN_OR_RETURN(const bool tensorflow, IsTfIndex(file));
  if (tensorflow) return TfDataFiles(file);
  if (!LooksLikeSafetensors(head) && IsOnnx(head, file)) return OnnxDataFiles(file);
  if (!LooksLikeJson(head) || LooksLikeXgboost(head)) return std::vector<std::string>();
  ASSIGN_OR_RETURN(ShardIndex index, ReadShardIndex(file));
  return std::move(index.shards);
}

}  // namespace rharness
