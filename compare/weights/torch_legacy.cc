// Five pickles, then eight bytes of count and the bytes of each storage in the order of their keys.
#include "compare/weights/torch_legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "compare/weights/names.h"
#include "compare/weights/pickle.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/torch_tensor.h"
#include "compare/weights/torch_tree.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

constexpr std::int64_t kProtocolVersion = 1001;

class LegacyReader {
 public:
  explicit LegacyReader(const InputFile& file) : file_(file) {}

  Result<ViewCheckpointParts> Read() {
    RETURN_IF_ERROR(ReadHeader());
    std::string where = fmt::format("{}: pickle from byte {}", file_.name(), position_);
    ASSIGN_OR_RETURN(const Pickle pickle, NextPickle());
    ASSIGN_OR_RETURN(const Pickle keys, NextPickle());
    RETURN_IF_ERROR(PlaceStorages(pickle, keys));
    const auto storage = [&](std::string_view key) -> std::optional<ViewSource> {
      const auto found = storages_.find(key);
      if (found == storages_.end()) return std::nullopt;
      return found->second;
    };
    return FlattenTorchTree(pickle, storage, std::move(where));
  }

 private:
  Error Refuse(std::string message) const {
    return InvalidInput(std::move(message), fmt::format("{}: byte {}", file_.name(), position_));
  }
  Result<Pickle> NextPickle();
  Status ReadHeader();
  Result<std::map<std::string_view, std::uint64_t>> ItemBytesByKey(const Pickle& pickle) const;
  Status PlaceStorages(const Pickle& pickle, const Pickle& keys);

  const InputFile& file_;
  std::uint64_t position_ = 0;
  std::map<std::string, ViewSource, std::less<>> storages_;  // by key
};

// A pickle says where it ends by its last opcode alone, so more is read until that is found.
Result<Pickle> LegacyReader::NextPickle() {
  const std::string where = fmt::format("{}: pickle from byte {}", file_.name(), position_);
  const std::uint64_t left = file_.size_bytes() - position_;
  for (std::uint64_t size = std::uint64_t{64} << 10;; size *= 8) {
    size = std::min({size, left, std::uint64_t{kMaxPickleBytes}});
    std::string bytes(size, '\0');
    RETURN_IF_ERROR(file_.ReadAt(position_, std::as_writable_bytes(std::span(bytes))));
    std::size_t used = 0;
    Result<Pickle> pickle = ParsePickleAtFront(std::move(bytes), TorchGlobalNames(), where, &used);
    if (pickle.ok()) position_ += used;
    if (pickle.ok() || size == left || size == kMaxPickleBytes) return pickle;
  }
}

Status LegacyReader::ReadHeader() {
  ASSIGN_OR_RETURN(const Pickle magic, NextPickle());
  ASSIGN_OR_RETURN(const Pickle protocol, NextPickle());
  if (protocol.kind(protocol.root()) != PickleKind::kInt ||
      protocol.Int(protocol.root()) != kProtocolVersion) {
    return Refuse(fmt::format("another protocol version; expected {}", kProtocolVersion));
  }
  ASSIGN_OR_RETURN(const Pickle system, NextPickle());
  const auto little = system.Find(system.root(), "little_endian");
  if (little && system.kind(*little) == PickleKind::kBool && system.Bool(*little)) return {};
  return Unsupported("does not say that it is little-endian; expected a little-endian file",
                     fmt::format("{}: byte {}", file_.name(), position_));
}

Result<std::map<std::string_view, std::uint64_t>> LegacyReader::ItemBytesByKey(
    const Pickle& pickle) const {
  std::map<std::string_view, std::uint64_t> bytes;
  for (PickleId id = 0; id < pickle.size(); ++id) {
    if (pickle.kind(id) != PickleKind::kPersistent) continue;
    const auto storage = ReadStorageId(pickle, id);
    if (!storage) continue;
    const TorchGlobal& type = TorchGlobalAt(pickle.Global(storage->type));
    if (type.kind != TorchGlobalKind::kStorage && type.kind != TorchGlobalKind::kUntypedStorage) {
      return Unsupported(
          fmt::format("storage {} is of class {}; expected a class that is read",
                      Quoted(storage->key), Quoted(pickle.GlobalName(storage->type))),
          file_.name());
    }
    const bool typed = type.kind == TorchGlobalKind::kStorage;
    const auto size = typed ? static_cast<std::uint64_t>(BitsOf(type.dtype)) / 8 : 1;
    if (bytes.emplace(storage->key, size).first->second != size) {
      return Refuse(
          fmt::format("storage {} is of two classes; expected one", Quoted(storage->key)));
    }
  }
  return bytes;
}

Status LegacyReader::PlaceStorages(const Pickle& pickle, const Pickle& keys) {
  ASSIGN_OR_RETURN(const auto item_bytes, ItemBytesByKey(pickle));
  for (const PickleId key : keys.Items(keys.root())) {
    if (keys.kind(key) != PickleKind::kString || !item_bytes.contains(keys.Text(key))) {
      return Refuse("a key of a storage that no tensor has; expected one of a tensor's");
    }
    const std::uint64_t left = file_.size_bytes() - position_;
    std::uint64_t count = 0, size = 0;
    if (left < sizeof(count)) return Refuse("the file ends; expected the size of a storage");
    RETURN_IF_ERROR(file_.ReadAt(position_, std::as_writable_bytes(std::span(&count, 1))));
    if (__builtin_mul_overflow(count, item_bytes.at(keys.Text(key)), &size) ||
        size > left - sizeof(count)) {
      return Refuse(
          fmt::format("storage {} of {} elements; expected one within the file's {} bytes",
                      Quoted(keys.Text(key)), count, file_.size_bytes()));
    }
    position_ += sizeof(count);
    storages_.emplace(keys.Text(key), ViewSource{.begin = position_, .size_bytes = size});
    position_ += size;
  }
  if (position_ == file_.size_bytes()) return {};
  return Refuse(fmt::format("{} bytes after the last storage; expected none",
                            file_.size_bytes() - position_));
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenTorchLegacy(InputFile file) {
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, LegacyReader(file).Read());
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
