// A checkpoint as named tensors, whatever its file format; loads nothing before a read.
//
// Role: the one interface between formats (one reader each) and all users of weights.
#ifndef RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

enum class DType {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
  kC128,    // not of safetensors, which ends at C64
  kBlocks,  // blocks of a quantised format, named by TensorInfo::block_format
};
std::string_view DTypeName(DType dtype);  // the safetensors spelling: "F32", "BF16", "F8_E4M3"
Result<DType> ParseDType(std::string_view name);  // kBlocks has no such spelling
// Of one element: 4, 6, 8, 16, 32, 64 or 128. Of kBlocks: 8, since its statistics count bytes.
int BitsOf(DType dtype);

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;  // [] is a scalar; zero-sized dimensions are legal
  std::uint64_t elements = 1;        // product of shape
  std::uint64_t size_bytes = 0;      // elements * bits / 8; of kBlocks: the bytes of its blocks
  std::string block_format;          // of kBlocks: "Q4_K"; empty otherwise
};
// The format of the element bytes: the block format of kBlocks, DTypeName otherwise.
std::string_view FormatName(const TensorInfo& info);

class InputFile;

// What a part that is not read decides.
enum class PartKind {
  kPart,       // of the checkpoint: unequal never passes, and no digest covers it
  kModel,      // loaded with the tensors, such as a config.json: unequal never passes
  kSecondSet,  // weights of the same names with other values: as kPart, reported if equal
  kAside,      // not loaded, by its name, such as a log: reported, and never decides
};

// A part of a checkpoint beside its tensors that this version does not read as tensors.
struct UnreadPart {
  std::string name;                       // key to find it on the other side
  std::string why;                        // one clause: "is an HDF5 file; expected ..."
  std::shared_ptr<const InputFile> file;  // where its bytes lie; null: in `content`
  std::uint64_t begin = 0;
  std::uint64_t size_bytes = 0;
  std::string content;  // of a part without a file; empty: there are no bytes
  PartKind kind = PartKind::kPart;
};

// Whether a digest of the tensors would cover less than the checkpoint.
inline bool LimitsDigest(const UnreadPart& part) {
  return part.kind == PartKind::kPart || part.kind == PartKind::kSecondSet;
}

// An open checkpoint. Safe to read from several threads.
//
// Bytes are copied into the caller's buffer (pread) rather than mapped: another process may cut the
// file short at any time, which would kill a reader of a mapping with SIGBUS and is an error here.
// With blocks that stay in the CPU's cache (kReadBlockBytes) copying also costs less than the page
// faults of a mapping, and memory is bounded by the buffers.
class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // Sorted by name bytes; names are unique.
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  // Fills `out` with the tensor's bytes from `offset` on: elements little-endian, in C order,
  // contiguous. Aborts when the range is not within the tensor.
  // Errors: io; integrity when the file has become shorter since it was opened.
  virtual Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const = 0;
  // integrity when the file's size or modification time changed since it was opened: the data read
  // may then mix two states. Called once after the last Read.
  virtual Status CheckUnchanged() const = 0;
  // integrity when the stored bytes of a tensor do not match the checksum that its file states;
  // success if it states none. Reads all of the bytes around them, once. Reads do not check this:
  // another program may have written the file without checksums.
  virtual Status CheckStored(std::size_t index) const;
  // Metadata that is not part of the weights: a timestamp, a framework version.
  virtual const std::vector<std::pair<std::string, std::string>>& metadata() const = 0;
  // Sorted by name. Equal tensors show nothing about these. No default: a wrapper that forgot to
  // pass them on would let them count as compared.
  virtual const std::vector<UnreadPart>& unread() const = 0;
};

// The answer to unread() of a checkpoint whose format is read completely.
const std::vector<UnreadPart>& NothingUnread();

// Whether two parts have the same bytes, read block by block; false if one has none, or only one
// lies in a file. Errors: io, integrity (a file that changed).
Result<bool> SameBytes(const UnreadPart& a, const UnreadPart& b);

// A good size for Read: a whole number of elements of every dtype (a multiple of 16 and of 3), and
// two blocks fit a core's L2 cache.
inline constexpr std::size_t kReadBlockBytes = std::size_t{192} << 10;

// Opens a checkpoint file by its content, including the files that an index or a .metadata lists.
// Errors: not_found, io, invalid_input (malformed, with the byte offset), unsupported (a format
// this version does not read, named). With `below`, which contains `path`, no symbolic link is
// followed to it or to any file that it names (integrity): for files of an untrusted program.
Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(
    const std::filesystem::path& path, const std::shared_ptr<const HeldFolder>& below = nullptr);

// The names of the other files, below the folder of the file at `path`, that its checkpoint
// consists of, sorted: the shards that an index lists, the files that a distributed checkpoint's
// .metadata lists, those of a folder of Orbax; none for a file that holds its tensors itself. Opens
// none of them. Errors: those of OpenCheckpoint.
Result<std::vector<std::string>> PartsOfCheckpoint(
    const std::filesystem::path& path, const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_H_
