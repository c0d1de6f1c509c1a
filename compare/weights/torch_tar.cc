// TarMembers of the archive, then storages, tensors and the tree.
#include "compare/weights/torch_tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/weights/names.h"
#include "compare/weights/pickle_sequence.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/torch_tensor.h"
#include "compare/weights/torch_tree.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kMagicAt = 257;
constexpr std::string_view kMagic = "ustar";
constexpr std::size_t kMostMembers = 1000;

struct TarMember {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
using TarMembers = std::map<std::string, TarMember, std::less<>>;

// Octal digits behind spaces, or, with the first bit set, a big-endian number (GNU).
std::optional<std::uint64_t> SizeOf(std::string_view field) {
  std::uint64_t size = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (const char c : field.substr(4)) size = size << 8 | static_cast<unsigned char>(c);
    return size;
  }
  for (const char c : field) {
    if (c == ' ' || c == '\0') continue;
    if (c < '0' || c > '7') return std::nullopt;
    size = size << 3 | static_cast<std::uint64_t>(c - '0');
  }
  return size;
}

// The members by name; others than regular files are passed over.
Result<TarMembers> ReadMembers(const InputFile& file) {
  TarMembers members;
  std::string block(kTarBlock, '\0');
  std::uint64_t at = 0;
  for (std::size_t count = 0; at + kTarBlock <= file.size_bytes(); ++count) {
    const auto refuse = [&](std::string_view message) {
      return InvalidInput(std::string(message), fmt::format("{}: byte {}", file.name(), at));
    };
    RETURN_IF_ERROR(file.ReadAt(at, std::as_writable_bytes(std::span(block))));
    if (std::ranges::all_of(block, [](char c) { return c == '\0'; })) break;
    if (count == kMostMembers) return refuse("more than 1000 members; expected four");
    if (block.compare(kMagicAt, kMagic.size(), kMagic) != 0) {
      return refuse("expected the header of a member of a tar archive");
    }
    const auto size = SizeOf(std::string_view(block).substr(124, 12));
    at += kTarBlock;
    if (!size || *size > file.size_bytes() - at) {
      return refuse("a member that ends beyond the file; expected one within");
    }
    const char type = block[156];
    std::string name = block.substr(0, std::min<std::size_t>(100, block.find('\0')));
    if (name.starts_with("./")) name.erase(0, 2);
    if (type == '0' || type == '\0') members[name] = {at, at + *size};
    at += std::min((*size + kTarBlock - 1) / kTarBlock * kTarBlock, file.size_bytes() - at);
  }
  return members;
}

class TarReader {
 public:
  TarReader(const InputFile& file, const TarMembers& members) : file_(file), members_(members) {}

  Result<ViewCheckpointParts> Read() {
    RETURN_IF_ERROR(CheckSystem());
    RETURN_IF_ERROR(ReadStorages());
    RETURN_IF_ERROR(ReadTensors());
    PickleSequence tree = SequenceOf("pickle");
    std::string where = fmt::format("{}: pickle from byte {}", file_.name(), tree.position());
    ASSIGN_OR_RETURN(const Pickle pickle, tree.Next());
    const auto storage = [&](std::string_view key) -> std::optional<ViewSource> {
      const auto found = storages_.find(key);
      if (found == storages_.end()) return std::nullopt;
      return found->second.source;
    };
    return FlattenTorchTree(pickle, storage, std::move(where), &tensors_);
  }

 private:
  struct Storage {
    ViewSource source;
    DType dtype = DType::kF32;
    std::uint64_t ItemBytes() const { return static_cast<std::uint64_t>(BitsOf(dtype)) / 8; }
  };

  PickleSequence SequenceOf(std::string_view member) const {
    const TarMember& place = members_.find(member)->second;
    return {file_, place.begin, place.end};
  }
  Status CheckSystem() const;
  Status ReadStorages();
  Status ReadStorage(PickleSequence* sequence);
  Status ReadViews(PickleSequence* sequence);
  Status ReadTensors();
  Status ReadTensor(PickleSequence* sequence);

  const InputFile& file_;
  const TarMembers& members_;
  std::map<std::string, Storage, std::less<>> storages_;  // by key
  TorchOutsideTensors tensors_;
};

Status TarReader::CheckSystem() const {
  PickleSequence sequence = SequenceOf("sys_info");
  ASSIGN_OR_RETURN(const Pickle system, sequence.Next());
  const auto little = system.Find(system.root(), "little_endian");
  if (little && system.kind(*little) == PickleKind::kBool && system.Bool(*little)) return {};
  return Unsupported("does not say that it is little-endian; expected a little-endian file",
                     fmt::format("{}: sys_info", file_.name()));
}

// A key is the former address of the object; in the tree it is text.
std::optional<std::string> KeyOf(const Pickle& pickle, PickleId id) {
  if (pickle.kind(id) == PickleKind::kString) return std::string(pickle.Text(id));
  if (pickle.kind(id) == PickleKind::kInt) return fmt::to_string(pickle.Int(id));
  return std::nullopt;
}

Result<std::int64_t> ReadCount(PickleSequence* sequence) {
  ASSIGN_OR_RETURN(const Pickle count, sequence->Next());
  if (count.kind(count.root()) == PickleKind::kInt && count.Int(count.root()) >= 0) {
    return count.Int(count.root());
  }
  return sequence->Refuse("expected a pickled number of what follows");
}

Status TarReader::ReadStorages() {
  PickleSequence sequence = SequenceOf("storages");
  ASSIGN_OR_RETURN(const std::int64_t count, ReadCount(&sequence));
  for (std::int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(ReadStorage(&sequence));
  return ReadViews(&sequence);
}

Status TarReader::ReadStorage(PickleSequence* sequence) {
  ASSIGN_OR_RETURN(const Pickle row, sequence->Next());
  const auto items = row.Items(row.root());
  const auto key = items.size() == 3 ? KeyOf(row, items[0]) : std::nullopt;
  if (!key || row.kind(items[2]) != PickleKind::kGlobal) {
    return sequence->Refuse("expected a storage as (key, location, class)");
  }
  const TorchGlobal& type = TorchGlobalAt(row.Global(items[2]));
  if (type.kind != TorchGlobalKind::kStorage) {
    return Unsupported(fmt::format("storage {} is of class {}; expected a class that is read",
                                   Quoted(*key), Quoted(row.GlobalName(items[2]))),
                       file_.name());
  }
  std::uint64_t elements = 0, size = 0;
  RETURN_IF_ERROR(
      sequence->Read(std::as_writable_bytes(std::span(&elements, 1)), "the size of a storage"));
  Storage storage{.source = {}, .dtype = type.dtype};
  if (__builtin_mul_overflow(elements, storage.ItemBytes(), &size) || size > sequence->left()) {
    return sequence->Refuse(fmt::format("storage {} of {} elements; expected one within the member",
                                        Quoted(*key), elements));
  }
  storage.source = {.begin = sequence->position(), .size_bytes = size};
  sequence->Skip(size);
  storages_.emplace(*key, storage);
  return {};
}

// Storages that are a part of a different storage.
Status TarReader::ReadViews(PickleSequence* sequence) {
  ASSIGN_OR_RETURN(const Pickle list, sequence->Next());
  for (const PickleId row : list.Items(list.root())) {
    const auto items = list.Items(row);
    const bool whole = items.size() == 4 && list.kind(items[2]) == PickleKind::kInt &&
                       list.kind(items[3]) == PickleKind::kInt && list.Int(items[2]) >= 0 &&
                       list.Int(items[3]) >= 0;
    const auto key = whole ? KeyOf(list, items[0]) : std::nullopt;
    const auto root_key = whole ? KeyOf(list, items[1]) : std::nullopt;
    const auto root = root_key ? storages_.find(*root_key) : storages_.end();
    if (!key || root == storages_.end()) {
      return sequence->Refuse("expected a view as (key, key of its storage, offset, size)");
    }
    Storage view = root->second;
    std::uint64_t offset = 0, size = 0;
    if (__builtin_mul_overflow(list.Int(items[2]), view.ItemBytes(), &offset) ||
        __builtin_mul_overflow(list.Int(items[3]), view.ItemBytes(), &size) ||
        offset > view.source.size_bytes || size > view.source.size_bytes - offset) {
      return sequence->Refuse(fmt::format("view {} ends beyond its storage", Quoted(*key)));
    }
    view.source.begin += offset;
    view.source.size_bytes = size;
    storages_.insert_or_assign(*key, view);
  }
  return {};
}

Status TarReader::ReadTensors() {
  PickleSequence sequence = SequenceOf("tensors");
  ASSIGN_OR_RETURN(const std::int64_t count, ReadCount(&sequence));
  for (std::int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(ReadTensor(&sequence));
  return {};
}

Status TarReader::ReadTensor(PickleSequence* sequence) {
  ASSIGN_OR_RETURN(const Pickle row, sequence->Next());
  const auto items = row.Items(row.root());
  const auto key = items.size() == 3 ? KeyOf(row, items[0]) : std::nullopt;
  if (!key) return sequence->Refuse("expected a tensor as (key, key of its storage, class)");
  std::array<std::int32_t, 2> dimensions{};  // and padding
  RETURN_IF_ERROR(
      sequence->Read(std::as_writable_bytes(std::span(dimensions)), "a number of dimensions"));
  if (dimensions[0] < 0 || static_cast<std::size_t>(dimensions[0]) > kMaxViewRank) {
    return sequence->Refuse(fmt::format("tensor {} of {} dimensions; expected 0 to {}",
                                        Quoted(*key), dimensions[0], kMaxViewRank));
  }
  const auto rank = static_cast<std::size_t>(dimensions[0]);
  std::vector<std::uint64_t> shape(rank), strides(rank);
  std::uint64_t offset = 0;
  for (const std::span<std::uint64_t> numbers :
       {std::span(shape), std::span(strides), std::span(&offset, 1)}) {
    RETURN_IF_ERROR(sequence->Read(std::as_writable_bytes(numbers), "sizes and strides"));
  }
  const auto storage_key = KeyOf(row, items[1]);
  const auto storage = storage_key ? storages_.find(*storage_key) : storages_.end();
  if (storage == storages_.end()) return {};  // an empty tensor has none, and so no view
  TorchOutsideTensor tensor{.storage = *storage_key,
                            .dtype = storage->second.dtype,
                            .shape = std::move(shape),
                            .strides = std::move(strides)};
  if (__builtin_mul_overflow(offset, storage->second.ItemBytes(), &tensor.offset_bytes)) {
    return sequence->Refuse(fmt::format("tensor {} lies beyond its storage", Quoted(*key)));
  }
  tensors_.emplace(*key, std::move(tensor));
  return {};
}

}  // namespace

Result<bool> LooksLikeTar(const InputFile& file) {
  if (file.size_bytes() < kTarBlock) return false;
  std::string magic(kMagic.size(), '\0');
  RETURN_IF_ERROR(file.ReadAt(kMagicAt, std::as_writable_bytes(std::span(magic))));
  return magic == kMagic;
}

Result<std::unique_ptr<Checkpoint>> OpenTorchTar(InputFile file) {
  ASSIGN_OR_RETURN(const TarMembers members, ReadMembers(file));
  for (const std::string_view name : {"sys_info", "pickle", "tensors", "storages"}) {
    if (members.contains(name)) continue;
    return Unsupported(fmt::format("is a tar archive without a member {}; expected one that "
                                   "torch.save of PyTorch 0.1 wrote, or its files unpacked",
                                   name),
                       file.name());
  }
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, TarReader(file, members).Read());
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
