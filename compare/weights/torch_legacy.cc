// Five pickles, then eight bytes of count and the bytes of each storage in the order of their keys.
#include "compare/weights/torch_legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "compare/weights/names.h"
#include "compare/weights/pickle.h"
#include "compare/weights/pickle_sequence.h"
#include "compare/weights/torch_globals.h"
#include "compare/weights/torch_tensor.h"
#include "compare/weights/torch_tree.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {
namespace {

constexpr std::int64_t kProtocolVersion = 1001;

class LegacyReader {
 public:
  explicit LegacyReader(const InputFile& file)
      : file_(file), sequence_(file, 0, file.size_bytes()) {}

  Result<ViewCheckpointParts> Read() {
    RETURN_IF_ERROR(ReadHeader());
    std::string where = fmt::format("{}: pickle from byte {}", file_.name(), sequence_.position());
    ASSIGN_OR_RETURN(const Pickle pickle, sequence_.Next());
    ASSIGN_OR_RETURN(const Pickle keys, sequence_.Next());
    RETURN_IF_ERROR(PlaceStorages(pickle, keys));
    const auto storage = [&](std::string_view key) -> std::optional<ViewSource> {
      const auto found = storages_.find(key);
      if (found == storages_.end()) return std::nullopt;
      return found->second;
    };
    return FlattenTorchTree(pickle, storage, std::move(where));
  }

 private:
  Error Refuse(std::string message) const { return sequence_.Refuse(std::move(message)); }
  Status ReadHeader();
  Result<std::map<std::string_view, std::uint64_t>> ItemBytesByKey(const Pickle& pickle) const;
  Status PlaceStorages(const Pickle& pickle, const Pickle& keys);

  const InputFile& file_;
  PickleSequence sequence_;
  std::map<std::string, ViewSource, std::less<>> storages_;  // by key
};

Status LegacyReader::ReadHeader() {
  ASSIGN_OR_RETURN(const Pickle magic, sequence_.Next());
  ASSIGN_OR_RETURN(const Pickle protocol, sequence_.Next());
  if (protocol.kind(protocol.root()) != PickleKind::kInt ||
      protocol.Int(protocol.root()) != kProtocolVersion) {
    return Refuse(fmt::format("another protocol version; expected {}", kProtocolVersion));
  }
  ASSIGN_OR_RETURN(const Pickle system, sequence_.Next());
  const auto little = system.Find(system.root(), "little_endian");
  if (little && system.kind(*little) == PickleKind::kBool && system.Bool(*little)) return {};
  return Unsupported("does not say that it is little-endian; expected a little-endian file",
                     fmt::format("{}: byte {}", file_.name(), sequence_.position()));
}

Result<std::map<std::string_view, std::uint64_t>> LegacyReader::ItemBytesByKey(
    const Pickle& pickle) const {
  std::map<std::string_view, std::uint64_t> bytes;
  for (PickleId id = 0; id < pickle.size(); ++id) {
    if (pickle.kind(id) != PickleKind::kPersistent) continue;
    const auto storage = ReadStorageId(pickle, id);
    if (!storage) continue;
    const TorchGlobal& type = TorchGlobalAt(pickle.Global(storage->type));
    const bool typed =
        type.kind == TorchGlobalKind::kStorage || type.kind == TorchGlobalKind::kQuantisedStorage;
    if (!typed && type.kind != TorchGlobalKind::kUntypedStorage) {
      return Unsupported(
          fmt::format("storage {} is of class {}; expected a class that is read",
                      Quoted(storage->key), Quoted(pickle.GlobalName(storage->type))),
          file_.name());
    }
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
    std::uint64_t count = 0, size = 0;
    RETURN_IF_ERROR(
        sequence_.Read(std::as_writable_bytes(std::span(&count, 1)), "the size of a storage"));
    if (__builtin_mul_overflow(count, item_bytes.at(keys.Text(key)), &size) ||
        size > sequence_.left()) {
      return Refuse(
          fmt::format("storage {} of {} elements; expected one within the file's {} bytes",
                      Quoted(keys.Text(key)), count, file_.size_bytes()));
    }
    storages_.emplace(keys.Text(key),
                      ViewSource{.begin = sequence_.position(), .size_bytes = size});
    sequence_.Skip(size);
  }
  if (sequence_.left() == 0) return {};
  return Refuse(fmt::format("{} bytes after the last storage; expected none", sequence_.left()));
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenTorchLegacy(InputFile file) {
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, LegacyReader(file).Read());
  return MakeViewCheckpoint(std::move(file), std::move(parts));
}

}  // namespace rharness
