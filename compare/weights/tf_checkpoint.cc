// The entries of an index as tensors of its data files; see tf_checkpoint.h.
#include "compare/weights/tf_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "compare/weights/names.h"
#include "compare/weights/placed_checkpoint.h"
#include "compare/weights/tf_slice.h"
#include "compare/weights/tf_table.h"
#include "harness/base/crc32c.h"
#include "harness/base/protobuf_reader.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexEnding = ".index";
constexpr std::string_view kValueEnding = "/.ATTRIBUTES/VARIABLE_VALUE";
constexpr std::string_view kObjectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";
constexpr std::uint64_t kString = 7;  // DT_STRING

// types.proto: those with whole elements in C order.
struct TfTypeRow {
  std::uint64_t number;
  DType dtype;
};
constexpr auto kTfTypes = std::to_array<TfTypeRow>({
    {1, DType::kF32},
    {2, DType::kF64},
    {3, DType::kI32},
    {4, DType::kU8},
    {5, DType::kI16},
    {6, DType::kI8},
    {8, DType::kC64},
    {9, DType::kI64},
    {10, DType::kBool},
    {14, DType::kBF16},
    {17, DType::kU16},
    {18, DType::kC128},
    {19, DType::kF16},
    {22, DType::kU32},
    {23, DType::kU64},
    {24, DType::kF8E5M2},
    {25, DType::kF8E4M3},
});

// BundleHeaderProto.
struct TfHeader {
  std::uint64_t shards = 0;
  std::uint64_t endianness = 0;  // 1: big
};

constexpr std::size_t kMostTfDimensions = 254;             // TensorShape's
constexpr std::size_t kMostTfRuns = std::size_t{1} << 20;  // of all variables in partitions

// BundleEntryProto.
struct TfEntry {
  std::uint64_t type = 0;
  std::vector<std::uint64_t> shape;
  std::uint64_t shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;     // masked
  std::vector<TfSlice> slices;  // of a variable in partitions, which has no bytes itself
};

// TensorShapeProto: field 2, repeated, is a dimension; its field 1 is the size.
bool ReadTfShape(std::string_view message, std::vector<std::uint64_t>* shape) {
  bool whole = true;
  const bool read = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number != 2) return;
    std::uint64_t size = 0;
    whole &= ForProtobufFields(field.content, [&](const ProtobufField& dimension) {
      if (dimension.number == 1) size = dimension.value;
    });
    shape->push_back(size);
  });
  return read && whole;
}

// TensorSliceProto: field 1, repeated, is an extent; its fields 1 and 2 are start and length.
bool ReadTfSlice(std::string_view message, TfSlice* slice) {
  bool whole = true;
  const bool read = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number != 1) return;
    TfExtent extent;
    whole &= ForProtobufFields(field.content, [&](const ProtobufField& part) {
      if (part.number == 1) extent.start = static_cast<std::int64_t>(part.value);
      if (part.number == 2) extent.length = static_cast<std::int64_t>(part.value);
    });
    slice->push_back(extent);
  });
  return read && whole && slice->size() <= kMostTfDimensions;
}

bool ReadTfEntry(std::string_view message, TfEntry* entry) {
  bool whole = true;
  const bool read = ForProtobufFields(message, [&](const ProtobufField& field) {
    if (field.number == 1) entry->type = field.value;
    if (field.number == 2) whole &= ReadTfShape(field.content, &entry->shape);
    if (field.number == 3) entry->shard = field.value;
    if (field.number == 4) entry->offset = field.value;
    if (field.number == 5) entry->size = field.value;
    if (field.number == 6) entry->crc32c = static_cast<std::uint32_t>(field.value);
    if (field.number == 7) whole &= ReadTfSlice(field.content, &entry->slices.emplace_back());
  });
  return read && whole;
}

struct TfIndex {
  std::string bytes;                // that the entries refer to
  std::vector<TableEntry> entries;  // without the header
  std::vector<std::string> files;
};

Result<TfHeader> ReadTfHeader(const std::vector<TableEntry>& entries, const std::string& file) {
  TfHeader header;
  const auto read = [&] {
    return ForProtobufFields(entries.front().value, [&](const ProtobufField& field) {
      if (field.number == 1) header.shards = field.value;
      if (field.number == 2) header.endianness = field.value;
    });
  };
  if (entries.empty() || !entries.front().key.empty() || !read()) {
    return InvalidInput("a sorted table without the header of a TensorFlow checkpoint", file);
  }
  if (header.endianness != 0) {
    return Unsupported("numbers of the other byte order, which are not read", file);
  }
  if (header.shards == 0 || header.shards > kMaxTfShards) {
    return InvalidInput(fmt::format("{} data files; expected 1 to {}", header.shards, kMaxTfShards),
                        file);
  }
  return header;
}

Result<TfIndex> ReadTfIndex(const InputFile& file) {
  if (file.size_bytes() > kMaxTableBytes) {
    return Unsupported(
        fmt::format("{} bytes; expected at most {}", file.size_bytes(), kMaxTableBytes),
        file.name());
  }
  TfIndex index;
  index.bytes.resize(file.size_bytes());
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(index.bytes))));
  ASSIGN_OR_RETURN(index.entries, ParseTable(index.bytes, file.name()));
  ASSIGN_OR_RETURN(const TfHeader header, ReadTfHeader(index.entries, file.name()));
  index.entries.erase(index.entries.begin());
  std::string stem = fs::path(file.name()).filename().string();
  if (stem.ends_with(kIndexEnding)) stem.resize(stem.size() - kIndexEnding.size());
  for (std::uint64_t i = 0; i < header.shards; ++i) {
    index.files.push_back(fmt::format("{}.data-{:05}-of-{:05}", stem, i, header.shards));
  }
  return index;
}

class TfBuilder {
 public:
  explicit TfBuilder(const TfIndex& index, std::string file)
      : index_(index), file_(std::move(file)) {}

  Result<PlacedParts> Build(std::vector<InputFile> files) {
    parts_.files = std::move(files);
    // The keys of partitions begin with a zero byte.
    for (const TableEntry& row : index_.entries) {
      if (row.key.starts_with('\0')) partitions_.emplace(row.key, &row);
    }
    for (const TableEntry& row : index_.entries) {
      if (!row.key.starts_with('\0')) RETURN_IF_ERROR(Add(row));
    }
    if (partitions_.empty()) return std::move(parts_);
    return InvalidInput(fmt::format("{} partitions of no variable", partitions_.size()), file_);
  }

 private:
  Status Add(const TableEntry& row) {
    const std::string where = fmt::format("{}: byte {}", file_, row.at);
    TfEntry entry;
    if (!ReadTfEntry(row.value, &entry) || entry.shard >= index_.files.size()) {
      return InvalidInput(fmt::format("tensor {}: a malformed entry", Quoted(row.key)), where);
    }
    if (entry.type == kString) return AddText(row.key, entry, where);
    const auto type = std::ranges::find(kTfTypes, entry.type, &TfTypeRow::number);
    if (type == kTfTypes.end()) {
      return Unsupported(fmt::format("tensor {}: elements of DataType {}, which are not read",
                                     Quoted(row.key), entry.type),
                         where);
    }
    std::string name = row.key;
    if (name.ends_with(kValueEnding)) name.resize(name.size() - kValueEnding.size());
    PlacedTensor tensor{.name = std::move(name),
                        .dtype = type->dtype,
                        .shape = entry.shape,
                        .runs = {{entry.shard, entry.offset, entry.size}},
                        .content = {},
                        .crc32c = UnmaskCrc32c(entry.crc32c),
                        .stated_at = where};
    if (!entry.slices.empty()) {
      ASSIGN_OR_RETURN(tensor.runs, RunsOf(row.key, entry, type->dtype, where));
      tensor.crc32c.reset();
    }
    parts_.tensors.push_back(std::move(tensor));
    return {};
  }

  // A variable in partitions along one axis, in the order of its elements.
  Result<std::vector<PlacedRun>> RunsOf(const std::string& name, TfEntry& entry, DType dtype,
                                        const std::string& where) {
    const auto wrong = [&](std::string_view what) {
      return InvalidInput(fmt::format("tensor {}: {}", Quoted(name), what), where);
    };
    ASSIGN_OR_RETURN(const std::size_t axis, AxisOf(name, entry, where));
    std::uint64_t inner = static_cast<std::uint64_t>(BitsOf(dtype)) / 8, outer = 1;
    bool above = false;
    for (std::size_t d = 0; d < entry.shape.size(); ++d) {
      if (d == axis) continue;
      std::uint64_t& part = d < axis ? outer : inner;
      above |= __builtin_mul_overflow(part, entry.shape[d], &part);
    }
    if (above || outer > kMostTfRuns / entry.slices.size() -
                             std::min(runs_, kMostTfRuns) / entry.slices.size()) {
      return Unsupported(
          fmt::format("tensor {}: more than {} pieces of partitions", Quoted(name), kMostTfRuns),
          where);
    }
    std::vector<PlacedRun> runs(outer * entry.slices.size());
    runs_ += runs.size();
    std::uint64_t end = 0;
    std::ranges::sort(entry.slices, {}, [&](const TfSlice& slice) { return slice[axis].start; });
    for (std::size_t s = 0; s < entry.slices.size(); ++s) {
      const TfExtent& extent = entry.slices[s][axis];
      const std::uint64_t length =
          extent.length < 0 ? entry.shape[axis] : static_cast<std::uint64_t>(extent.length);
      TfEntry part;
      const auto row = partitions_.find(KeyOfTfSlice(name, entry.slices[s]));
      if (row == partitions_.end()) return wrong("a partition is missing");
      if (!ReadTfEntry(row->second->value, &part) || part.shard >= index_.files.size()) {
        return wrong("a malformed partition");
      }
      partitions_.erase(row);
      std::uint64_t bytes = 0, all = 0;
      if (static_cast<std::uint64_t>(extent.start) != end || part.type != entry.type ||
          __builtin_mul_overflow(length, inner, &bytes) ||
          __builtin_mul_overflow(bytes, outer, &all) || part.size != all ||
          __builtin_add_overflow(end, length, &end) ||
          __builtin_add_overflow(part.offset, all, &all)) {
        return wrong("partitions that do not follow one another, or of other sizes");
      }
      for (std::uint64_t i = 0; i < outer; ++i) {
        runs[i * entry.slices.size() + s] = {part.shard, part.offset + i * bytes, bytes};
      }
    }
    if (end != entry.shape[axis]) return wrong("partitions that do not cover the shape");
    return runs;
  }

  // The axis along which the partitions lie.
  Result<std::size_t> AxisOf(const std::string& name, const TfEntry& entry,
                             const std::string& where) const {
    std::optional<std::size_t> axis;
    for (const TfSlice& slice : entry.slices) {
      if (slice.size() != entry.shape.size() || slice.empty()) {
        return InvalidInput(fmt::format("tensor {}: partitions of another rank", Quoted(name)),
                            where);
      }
      for (std::size_t d = 0; d < slice.size(); ++d) {
        const bool whole =
            slice[d].start == 0 &&
            (slice[d].length < 0 || static_cast<std::uint64_t>(slice[d].length) == entry.shape[d]);
        if (whole) continue;
        if (axis.value_or(d) != d) {
          return Unsupported(fmt::format("tensor {}: partitions along several axes, which are not "
                                         "read",
                                         Quoted(name)),
                             where);
        }
        axis = d;
      }
    }
    return axis.value_or(0);
  }

  Status AddText(const std::string& name, const TfEntry& entry, const std::string& where) {
    const InputFile& file = parts_.files[entry.shard];
    if (entry.offset > file.size_bytes() || entry.size > file.size_bytes() - entry.offset) {
      return InvalidInput(fmt::format("{} ends beyond the end of {}", Quoted(name),
                                      Quoted(index_.files[entry.shard])),
                          where);
    }
    const bool graph = name == kObjectGraph;
    parts_.unread.push_back(
        {.name = name,
         .why = graph ? "says which object has which tensor" : "is a text beside the tensors",
         .file = std::make_shared<const InputFile>(file),
         .begin = entry.offset,
         .size_bytes = entry.size,
         .kind = graph ? PartKind::kAside : PartKind::kModel});
    return {};
  }

  const TfIndex& index_;
  const std::string file_;
  PlacedParts parts_;
  std::map<std::string, const TableEntry*, std::less<>> partitions_;  // that are not used yet
  std::size_t runs_ = 0;
};

}  // namespace

Result<bool> IsTfIndex(const InputFile& file) {
  if (!file.name().ends_with(kIndexEnding) || file.size_bytes() < kTableMagic.size()) return false;
  std::string tail(kTableMagic.size(), '\0');
  RETURN_IF_ERROR(
      file.ReadAt(file.size_bytes() - tail.size(), std::as_writable_bytes(std::span(tail))));
  return tail == kTableMagic;
}

Result<std::vector<std::string>> TfDataFiles(const InputFile& file) {
  ASSIGN_OR_RETURN(TfIndex index, ReadTfIndex(file));
  return std::move(index.files);
}

Result<std::unique_ptr<Checkpoint>> OpenTfCheckpoint(InputFile file,
                                                     std::vector<std::string>* files) {
  ASSIGN_OR_RETURN(const TfIndex index, ReadTfIndex(file));
  const auto pool = std::make_shared<DescriptorPool>();
  std::vector<InputFile> opened;
  for (const std::string& name : index.files) {
    auto data = InputFile::Open(fs::path(file.name()).parent_path() / name, pool, file.below());
    if (!data.ok() && data.error().code == ErrorCode::kNotFound) {
      return NotFound(fmt::format("the data file {} is missing", Quoted(name)), file.name());
    }
    if (!data.ok()) return data.error();
    opened.push_back(std::move(*data));
  }
  ASSIGN_OR_RETURN(PlacedParts parts, TfBuilder(index, file.name()).Build(std::move(opened)));
  parts.files.push_back(std::move(file));
  if (files != nullptr) *files = index.files;
  return MakePlacedCheckpoint(std::move(parts));
}

std::optional<std::string> LatestTfIndex(std::string_view text) {
  constexpr std::string_view kKey = "model_checkpoint_path: \"";
  const std::size_t begin = text.find(kKey);
  // Not within "all_model_checkpoint_paths".
  if (begin == text.npos || (begin > 0 && text[begin - 1] != '\n')) return std::nullopt;
  text.remove_prefix(begin + kKey.size());
  const std::string name =
      fs::path(text.substr(0, text.find_first_of("\"\n"))).filename().string() +
      std::string(kIndexEnding);
  if (!IsPlainFileName(name)) return std::nullopt;
  return name;
}

}  // namespace rharness
