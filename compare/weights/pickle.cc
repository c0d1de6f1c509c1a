// Access to the values of a pickle; pickle_machine.cc builds them.
#include "compare/weights/pickle.h"

#include <array>

namespace rharness {

std::string_view PickleKindName(PickleKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {
      "None",      "a bool",         "an integer", "an integer beyond 64 bits",
      "a float",   "a string",       "bytes",      "a tuple",
      "a list",    "a set",          "a dict",     "a global",
      "an object", "a persistent id"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::int64_t Pickle::ValueOf(PickleId id, PickleKind kind) const {
  const Node& node = nodes_.at(id);
  if (node.kind != kind) Abort("a pickled value taken for one of another kind");
  return node.value;
}

std::string_view Pickle::Text(PickleId id) const {
  const Node& node = nodes_.at(id);
  if (node.kind != PickleKind::kString && node.kind != PickleKind::kBytes &&
      node.kind != PickleKind::kLong) {
    Abort("a pickled value taken for text");
  }
  const auto place = static_cast<std::uint64_t>(node.value);
  return std::string_view(bytes_).substr(place >> 32, place & 0xffffffff);
}

std::string Pickle::GlobalName(PickleId id) const {
  ValueOf(id, PickleKind::kGlobal);
  const std::vector<PickleId>& names = nodes_[id].items;
  return std::string(Text(names[0])) + "." + std::string(Text(names[1]));
}

std::span<const PickleId> Pickle::Items(PickleId id) const {
  const Node& node = nodes_.at(id);
  switch (node.kind) {
    case PickleKind::kObject:
      if (node.value >> 32 == 0) return {};
      return nodes_[static_cast<PickleId>((node.value >> 32) - 1)].items;
    case PickleKind::kTuple:
    case PickleKind::kList:
    case PickleKind::kSet:
    case PickleKind::kPersistent:
      return node.items;
    default:
      return {};
  }
}

std::span<const PickleId> Pickle::Entries(PickleId id) const {
  const Node& node = nodes_.at(id);
  if (node.kind == PickleKind::kDict) return node.items;
  if (node.kind == PickleKind::kObject) return std::span(node.items).subspan(2);
  return {};
}

std::optional<PickleId> Pickle::Find(PickleId id, std::string_view key) const {
  const std::span<const PickleId> entries = Entries(id);
  for (std::size_t i = entries.size(); i >= 2; i -= 2) {
    if (kind(entries[i - 2]) == PickleKind::kString && Text(entries[i - 2]) == key) {
      return entries[i - 1];
    }
  }
  return std::nullopt;
}

PickleId Pickle::Callable(PickleId id) const {
  ValueOf(id, PickleKind::kObject);
  return nodes_[id].items[0];
}

std::span<const PickleId> Pickle::Arguments(PickleId id) const {
  ValueOf(id, PickleKind::kObject);
  return Items(nodes_[id].items[1]);
}

std::optional<PickleId> Pickle::State(PickleId id) const {
  const std::int64_t state = ValueOf(id, PickleKind::kObject) & 0xffffffff;
  if (state == 0) return std::nullopt;
  return static_cast<PickleId>(state - 1);
}

}  // namespace rharness
