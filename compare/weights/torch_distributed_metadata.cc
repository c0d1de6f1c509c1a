// The .metadata pickle of a distributed checkpoint: inert nodes to tensors and their chunks.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "compare/weights/chunk_tiling.h"
#include "compare/weights/names.h"
#include "compare/weights/pickle.h"
#include "compare/weights/torch_distributed.h"
#include "compare/weights/torch_distributed_globals.h"

namespace rharness {
namespace {

using Sizes = std::vector<std::uint64_t>;

// Where a chunk was stored: one entry of storage_data.
struct Stored {
  std::string_view name;
  std::optional<Sizes> offsets;  // none: the whole, or no tensor
  std::string_view file;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  PickleId id = 0;
  bool used = false;
};

class MetadataParser {
 public:
  MetadataParser(const Pickle& pickle, std::vector<std::string_view> globals, std::string_view file)
      : pickle_(pickle), globals_(std::move(globals)), file_(file) {}

  Result<DistributedMetadata> Parse() {
    RETURN_IF_ERROR(RequireClass(pickle_.root(), "Metadata"));
    ASSIGN_OR_RETURN(const PickleId storage, Member(pickle_.root(), "storage_data"));
    RETURN_IF_ERROR(ReadStorage(storage));
    ASSIGN_OR_RETURN(const PickleId entries, Member(pickle_.root(), "state_dict_metadata"));
    RETURN_IF_ERROR(ReadEntries(entries));
    RETURN_IF_ERROR(CheckAllUsed());
    return std::move(metadata_);
  }

 private:
  Error Refuse(PickleId id, std::string_view message) const {
    return InvalidInput(std::string(message),
                        fmt::format("{}: byte {}", file_, pickle_.offset(id)));
  }
  Error Expected(PickleId id, std::string_view what, std::string_view expected) const {
    return Refuse(
        id, fmt::format("{} is {}; expected {}", what, PickleKindName(pickle_.kind(id)), expected));
  }
  bool IsClass(PickleId id, std::string_view name) const;
  Status RequireClass(PickleId id, std::string_view name) const;
  Result<PickleId> Member(PickleId object, std::string_view name) const;
  Result<std::uint64_t> Number(PickleId id, std::string_view what) const;
  Result<std::string_view> Text(PickleId id, std::string_view what) const;
  Result<Sizes> ReadSizes(PickleId id, std::string_view what) const;
  Status ReadStorage(PickleId dict);
  Result<Stored> ReadStored(PickleId key, PickleId value) const;
  Status ReadEntries(PickleId dict);
  Status ReadTensor(std::string_view name, PickleId id);
  Status ReadShape(PickleId id, TensorInfo* info) const;
  Result<DType> ReadDType(PickleId id) const;
  Result<DistributedChunk> ReadChunk(const TensorInfo& info, PickleId id);
  template <class Part>
  Status Place(std::string_view name, const std::optional<Sizes>& offsets, PickleId id, Part* part);
  Status CheckTiling(const DistributedTensor& tensor, PickleId id) const;
  Status CheckNames(std::span<const PickleId> entries) const;
  Status CheckCount(PickleId id, std::uint64_t count, std::string_view what) const;
  Status CheckAllUsed() const;

  const Pickle& pickle_;
  std::vector<std::string_view> globals_;
  std::string_view file_;
  std::vector<Stored> stored_;  // sorted by name and offsets
  std::uint64_t chunks_ = 0;
  DistributedMetadata metadata_;
};

// By the class's name alone: the table has no two that mean different things. What it does not have
// is looked at by nobody.
bool MetadataParser::IsClass(PickleId id, std::string_view name) const {
  if (pickle_.kind(id) != PickleKind::kObject) return false;
  const PickleId callable = pickle_.Callable(id);
  if (pickle_.kind(callable) != PickleKind::kGlobal) return false;
  if (pickle_.Global(callable) == globals_.size()) return false;
  const std::string_view global = globals_[pickle_.Global(callable)];
  return global.substr(global.find(' ') + 1) == name;
}

Status MetadataParser::RequireClass(PickleId id, std::string_view name) const {
  if (IsClass(id, name)) return {};
  return Expected(id, "a value", fmt::format("a {}", name));
}

Result<PickleId> MetadataParser::Member(PickleId object, std::string_view name) const {
  if (pickle_.kind(object) == PickleKind::kObject) {
    if (const auto state = pickle_.State(object)) {
      if (const auto member = pickle_.Find(*state, name)) return *member;
    }
  }
  return Refuse(object, fmt::format("an object without the member '{}'", name));
}

Result<std::uint64_t> MetadataParser::Number(PickleId id, std::string_view what) const {
  if (pickle_.kind(id) == PickleKind::kInt && pickle_.Int(id) >= 0) {
    return static_cast<std::uint64_t>(pickle_.Int(id));
  }
  return Expected(id, what, "an integer from 0 to 2^63 - 1");
}

Result<std::string_view> MetadataParser::Text(PickleId id, std::string_view what) const {
  if (pickle_.kind(id) == PickleKind::kString) return pickle_.Text(id);
  return Expected(id, what, "a string");
}

// A torch.Size, a tuple or a list.
Result<Sizes> MetadataParser::ReadSizes(PickleId id, std::string_view what) const {
  const PickleId outer = id;
  if (IsClass(id, "Size")) {
    const auto arguments = pickle_.Arguments(id);
    if (arguments.size() > 1) return Refuse(id, "a torch.Size of several arguments");
    if (arguments.empty()) return Sizes();
    id = arguments.front();
  }
  const PickleKind kind = pickle_.kind(id);
  if (kind != PickleKind::kTuple && kind != PickleKind::kList) {
    return Expected(outer, what, "a torch.Size");
  }
  if (pickle_.Items(id).size() > kMaxDistributedRank) {
    return Unsupported(fmt::format("{} of {} dimensions; expected at most {}", what,
                                   pickle_.Items(id).size(), kMaxDistributedRank),
                       fmt::format("{}: byte {}", file_, pickle_.offset(id)));
  }
  Sizes sizes;
  for (const PickleId item : pickle_.Items(id)) {
    ASSIGN_OR_RETURN(const std::uint64_t size, Number(item, what));
    sizes.push_back(size);
  }
  return sizes;
}

Status MetadataParser::ReadStorage(PickleId dict) {
  if (pickle_.kind(dict) != PickleKind::kDict) return Expected(dict, "storage_data", "a dict");
  const auto entries = pickle_.Entries(dict);
  RETURN_IF_ERROR(CheckCount(dict, entries.size() / 2, "parts"));
  // Values of a pickle may be shared, so nothing is copied before it is known to be distinct.
  std::vector<std::string_view> files;
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    ASSIGN_OR_RETURN(Stored stored, ReadStored(entries[i], entries[i + 1]));
    stored_.push_back(std::move(stored));
    files.push_back(stored_.back().file);
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  metadata_.files.assign(files.begin(), files.end());
  const auto key = [](const Stored& stored) { return std::tie(stored.name, stored.offsets); };
  std::ranges::sort(stored_, {}, key);
  const auto twin = std::ranges::adjacent_find(stored_, {}, key);
  if (twin == stored_.end()) return {};
  return Refuse((twin + 1)->id, fmt::format("storage_data has two entries for one chunk of {}; "
                                            "expected one",
                                            Quoted(twin->name)));
}

Result<Stored> MetadataParser::ReadStored(PickleId key, PickleId value) const {
  RETURN_IF_ERROR(RequireClass(key, "MetadataIndex"));
  RETURN_IF_ERROR(RequireClass(value, "_StorageInfo"));
  Stored stored;
  stored.id = value;
  ASSIGN_OR_RETURN(const PickleId name, Member(key, "fqn"));
  ASSIGN_OR_RETURN(stored.name, Text(name, "fqn"));
  // PyTorch sets the member only if it is not None.
  const auto offsets = pickle_.Find(*pickle_.State(key), "offset");
  if (offsets && pickle_.kind(*offsets) != PickleKind::kNone) {
    ASSIGN_OR_RETURN(stored.offsets, ReadSizes(*offsets, "the offset of a chunk"));
  }
  ASSIGN_OR_RETURN(const PickleId path, Member(value, "relative_path"));
  ASSIGN_OR_RETURN(stored.file, Text(path, "relative_path"));
  if (!IsPlainFileName(stored.file)) {
    return Refuse(path, fmt::format("relative_path {}; expected the name of a file in the folder",
                                    Quoted(stored.file)));
  }
  ASSIGN_OR_RETURN(const PickleId offset, Member(value, "offset"));
  ASSIGN_OR_RETURN(stored.offset_bytes, Number(offset, "the offset of a part"));
  ASSIGN_OR_RETURN(const PickleId length, Member(value, "length"));
  ASSIGN_OR_RETURN(stored.length_bytes, Number(length, "the length of a part"));
  const auto transforms = pickle_.Find(*pickle_.State(value), "transform_descriptors");
  if (transforms && pickle_.kind(*transforms) != PickleKind::kNone &&
      !pickle_.Items(*transforms).empty()) {
    return Unsupported(fmt::format("{} was transformed when it was stored (transform_descriptors); "
                                   "expected plain parts",
                                   Quoted(stored.name)),
                       fmt::format("{}: byte {}", file_, pickle_.offset(value)));
  }
  return stored;
}

Status MetadataParser::ReadEntries(PickleId dict) {
  if (pickle_.kind(dict) != PickleKind::kDict) {
    return Expected(dict, "state_dict_metadata", "a dict");
  }
  const auto entries = pickle_.Entries(dict);
  RETURN_IF_ERROR(CheckCount(dict, entries.size() / 2, "entries"));
  RETURN_IF_ERROR(CheckNames(entries));
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    ASSIGN_OR_RETURN(const std::string_view name, Text(entries[i], "a name"));
    if (IsClass(entries[i + 1], "BytesStorageMetadata")) {
      DistributedObject object{.name = std::string(name)};
      RETURN_IF_ERROR(Place(name, std::nullopt, entries[i + 1], &object));
      metadata_.objects.push_back(std::move(object));
    } else {
      RETURN_IF_ERROR(ReadTensor(name, entries[i + 1]));
    }
  }
  std::ranges::sort(metadata_.objects, {}, &DistributedObject::name);
  std::ranges::sort(
      metadata_.tensors, {},
      [](const DistributedTensor& tensor) -> const auto& { return tensor.info.name; });
  return {};
}

Status MetadataParser::ReadTensor(std::string_view name, PickleId id) {
  if (!IsClass(id, "TensorStorageMetadata")) {
    return Expected(id, fmt::format("the entry of {}", Quoted(name)),
                    "a TensorStorageMetadata or BytesStorageMetadata");
  }
  DistributedTensor tensor;
  tensor.info.name = name;
  ASSIGN_OR_RETURN(const PickleId properties, Member(id, "properties"));
  ASSIGN_OR_RETURN(tensor.info.dtype, ReadDType(properties));
  ASSIGN_OR_RETURN(const PickleId size, Member(id, "size"));
  RETURN_IF_ERROR(ReadShape(size, &tensor.info));
  ASSIGN_OR_RETURN(const PickleId chunks, Member(id, "chunks"));
  if (pickle_.kind(chunks) != PickleKind::kList) return Expected(chunks, "chunks", "a list");
  chunks_ += pickle_.Items(chunks).size();
  RETURN_IF_ERROR(CheckCount(chunks, chunks_, "chunks"));
  for (const PickleId item : pickle_.Items(chunks)) {
    ASSIGN_OR_RETURN(DistributedChunk chunk, ReadChunk(tensor.info, item));
    tensor.chunks.push_back(std::move(chunk));
  }
  RETURN_IF_ERROR(CheckTiling(tensor, id));
  std::ranges::sort(tensor.chunks, {}, &DistributedChunk::offsets);
  metadata_.tensors.push_back(std::move(tensor));
  return {};
}

Status MetadataParser::ReadShape(PickleId id, TensorInfo* info) const {
  ASSIGN_OR_RETURN(info->shape, ReadSizes(id, "the size of a tensor"));
  for (const std::uint64_t size : info->shape) {
    if (__builtin_mul_overflow(info->elements, size, &info->elements)) {
      return Refuse(id, fmt::format("tensor {}: the product of its size is above 2^64 - 1",
                                    Quoted(info->name)));
    }
  }
  const auto element_bytes = static_cast<std::uint64_t>(BitsOf(info->dtype) / 8);
  if (__builtin_mul_overflow(info->elements, element_bytes, &info->size_bytes)) {
    return Refuse(
        id, fmt::format("tensor {}: its size in bytes is above 2^64 - 1", Quoted(info->name)));
  }
  return {};
}

// TensorProperties are pickled as a tuple whose first element is the dtype.
Result<DType> MetadataParser::ReadDType(PickleId id) const {
  RETURN_IF_ERROR(RequireClass(id, "TensorProperties"));
  const auto state = pickle_.State(id);
  const auto items = state ? pickle_.Items(*state) : std::span<const PickleId>();
  if (!items.empty() && pickle_.kind(items.front()) == PickleKind::kGlobal &&
      pickle_.Global(items.front()) < globals_.size()) {
    const std::string_view global = globals_[pickle_.Global(items.front())];
    if (const auto dtype = DTypeOfTorchGlobal(global)) return *dtype;
  }
  return Refuse(id, "TensorProperties without a dtype; expected a tuple that begins with one");
}

Result<DistributedChunk> MetadataParser::ReadChunk(const TensorInfo& info, PickleId id) {
  RETURN_IF_ERROR(RequireClass(id, "ChunkStorageMetadata"));
  DistributedChunk chunk;
  ASSIGN_OR_RETURN(const PickleId offsets, Member(id, "offsets"));
  ASSIGN_OR_RETURN(chunk.offsets, ReadSizes(offsets, "the offsets of a chunk"));
  ASSIGN_OR_RETURN(const PickleId sizes, Member(id, "sizes"));
  ASSIGN_OR_RETURN(chunk.sizes, ReadSizes(sizes, "the sizes of a chunk"));
  if (chunk.offsets.size() != info.shape.size() || chunk.sizes.size() != info.shape.size()) {
    return Refuse(id, fmt::format("tensor {}: a chunk of {} offsets and {} sizes; expected {} of "
                                  "each",
                                  Quoted(info.name), chunk.offsets.size(), chunk.sizes.size(),
                                  info.shape.size()));
  }
  RETURN_IF_ERROR(Place(info.name, chunk.offsets, id, &chunk));
  return chunk;
}

template <class Part>
Status MetadataParser::Place(std::string_view name, const std::optional<Sizes>& offsets,
                             PickleId id, Part* part) {
  const auto key = [](const Stored& stored) { return std::tie(stored.name, stored.offsets); };
  const auto stored = std::ranges::lower_bound(stored_, std::tie(name, offsets), {}, key);
  // An object is one part, whatever its stated offset.
  const bool found = stored != stored_.end() && stored->name == name &&
                     (!offsets || stored->offsets == offsets) && !stored->used;
  if (!found) {
    const std::string what = offsets ? fmt::format(
                                           "tensor {}: storage_data does not say where its "
                                           "chunk at [{}] lies",
                                           Quoted(name), fmt::join(*offsets, ", "))
                                     : fmt::format(
                                           "object {}: storage_data does not say where it "
                                           "lies",
                                           Quoted(name));
    return Refuse(id, what);
  }
  stored->used = true;
  const auto file = std::ranges::lower_bound(metadata_.files, stored->file);
  part->file = static_cast<std::size_t>(file - metadata_.files.begin());
  part->offset_bytes = stored->offset_bytes;
  part->length_bytes = stored->length_bytes;
  return {};
}

Status MetadataParser::CheckTiling(const DistributedTensor& tensor, PickleId id) const {
  std::vector<ChunkBox> boxes;
  for (const DistributedChunk& chunk : tensor.chunks) boxes.push_back({chunk.offsets, chunk.sizes});
  const auto fault = FindTilingFault(tensor.info.shape, boxes);
  if (!fault) return {};
  return Refuse(id, fmt::format("tensor {}: {}; expected chunks without holes or overlaps",
                                Quoted(tensor.info.name), *fault));
}

// A dict written by Python has no key twice.
Status MetadataParser::CheckNames(std::span<const PickleId> entries) const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    ASSIGN_OR_RETURN(const std::string_view name, Text(entries[i], "a name"));
    names.push_back(name);
  }
  std::ranges::sort(names);
  const auto twin = std::ranges::adjacent_find(names);
  if (twin == names.end()) return {};
  return Refuse(pickle_.root(),
                fmt::format("the name {} occurs twice; expected unique names", Quoted(*twin)));
}

Status MetadataParser::CheckCount(PickleId id, std::uint64_t count, std::string_view what) const {
  if (count <= kMaxDistributedChunks) return {};
  return Unsupported(fmt::format("{} {}; expected at most {}", count, what, kMaxDistributedChunks),
                     fmt::format("{}: byte {}", file_, pickle_.offset(id)));
}

Status MetadataParser::CheckAllUsed() const {
  for (const Stored& stored : stored_) {
    if (stored.used) continue;
    return Refuse(stored.id, fmt::format("storage_data has a part of {} that no tensor's chunks "
                                         "list",
                                         Quoted(stored.name)));
  }
  return {};
}

}  // namespace

Result<DistributedMetadata> ParseDistributedMetadata(std::string bytes, std::string_view file) {
  std::vector<std::string_view> globals = DistributedGlobals();
  ASSIGN_OR_RETURN(const Pickle pickle, ParsePickle(std::move(bytes), globals, file));
  return MetadataParser(pickle, std::move(globals), file).Parse();
}

}  // namespace rharness
