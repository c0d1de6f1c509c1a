// Mappings, modules and optimizers in a pickle.
#include "compare/weights/torch_containers.h"

#include <algorithm>

namespace rharness {
namespace {

bool IsText(const Pickle& pickle, PickleId id, std::string_view text) {
  return pickle.kind(id) == PickleKind::kString && pickle.Text(id) == text;
}

bool IsSequence(const Pickle& pickle, PickleId id) {
  return pickle.kind(id) == PickleKind::kList || pickle.kind(id) == PickleKind::kTuple;
}

// What a class was called with: the items of its one argument.
std::span<const PickleId> ItemsOfArgument(const Pickle& pickle, PickleId object) {
  const auto arguments = pickle.Arguments(object);
  const bool one = arguments.size() == 1 && IsSequence(pickle, arguments[0]);
  return one ? pickle.Items(arguments[0]) : std::span<const PickleId>();
}

}  // namespace

// The first component behind the last mark is the name of the member.
bool IsModuleAttribute(std::string_view name) {
  const std::size_t at = name.rfind(kUnsavedComponent);
  if (at == std::string_view::npos) return false;
  const std::string_view member =
      name.substr(std::min(at + kUnsavedComponent.size() + 1, name.size()));
  return !member.starts_with('_') && member != "training";
}

bool TorchContainers::IsMapping(PickleId id) const {
  if (pickle_.kind(id) != PickleKind::kObject) return pickle_.kind(id) == PickleKind::kDict;
  const auto known = mappings_.find(id);
  if (known != mappings_.end()) return known->second;
  return mappings_.emplace(id, IsOrderedDict(id)).first->second;
}

bool TorchContainers::IsOrderedDict(PickleId object) const {
  if (tensors_.CalleeOf(object).kind != TorchGlobalKind::kOrderedDict) return false;
  const auto arguments = pickle_.Arguments(object);
  if (arguments.empty()) return true;
  return arguments.size() == 1 && IsSequence(pickle_, arguments[0]) &&
         std::ranges::all_of(ItemsOfArgument(pickle_, object), [&](PickleId pair) {
           return IsSequence(pickle_, pair) && pickle_.Items(pair).size() == 2;
         });
}

std::optional<std::pair<PickleId, PickleId>> TorchContainers::EntryAt(PickleId mapping,
                                                                      std::size_t entry) const {
  if (pickle_.kind(mapping) == PickleKind::kObject) {
    const auto pairs = ItemsOfArgument(pickle_, mapping);
    if (entry < pairs.size()) {
      const auto pair = pickle_.Items(pairs[entry]);
      return std::pair(pair[0], pair[1]);
    }
    entry -= pairs.size();
  }
  const auto entries = pickle_.Entries(mapping);
  if (2 * entry + 1 >= entries.size()) return std::nullopt;
  return std::pair(entries[2 * entry], entries[2 * entry + 1]);
}

std::optional<PickleId> TorchContainers::Find(PickleId mapping, std::string_view key) const {
  std::optional<PickleId> found;  // the last one counts, as in Python
  for (std::size_t i = 0; const auto entry = EntryAt(mapping, i); ++i) {
    if (IsText(pickle_, entry->first, key)) found = entry->second;
  }
  return found;
}

bool TorchContainers::IsModule(PickleId object) const {
  const auto state = pickle_.State(object);
  if (!state || !IsMapping(*state)) return false;
  const auto parameters = Find(*state, "_parameters"), modules = Find(*state, "_modules");
  return parameters && modules && IsMapping(*parameters) && IsMapping(*modules);
}

std::string TorchContainers::ClassOf(PickleId object) const {
  PickleId callable = pickle_.Callable(object);
  if (pickle_.kind(callable) == PickleKind::kPersistent) {
    for (const PickleId item : pickle_.Items(pickle_.Items(callable)[0])) {
      if (pickle_.kind(item) == PickleKind::kGlobal) callable = item;
    }
  }
  const bool named = pickle_.kind(callable) == PickleKind::kGlobal;
  return named ? pickle_.GlobalName(callable) : std::string();
}

void TorchContainers::EnterMapping(PickleId mapping) {
  if (module_states_.contains(mapping)) {
    if (const auto modules = Find(mapping, "_modules")) module_maps_.insert(*modules);
    const auto buffers = Find(mapping, "_buffers");
    const auto unsaved = Find(mapping, "_non_persistent_buffers_set");
    if (buffers && unsaved) NoteUnsaved(*buffers, *unsaved);
    return;
  }
  const auto state = Find(mapping, "state"), groups = Find(mapping, "param_groups");
  if (state && groups && IsMapping(*state) && IsSequence(pickle_, *groups)) {
    EnterOptimizer(*state, *groups);
  }
}

ModuleMember TorchContainers::MemberOf(PickleId mapping, PickleId key, PickleId value) const {
  if (!module_states_.contains(mapping)) return ModuleMember::kNone;
  if (!IsMapping(value)) return ModuleMember::kAttribute;
  if (IsText(pickle_, key, "_parameters")) return ModuleMember::kParameters;
  if (IsText(pickle_, key, "_buffers")) return ModuleMember::kBuffers;
  if (IsText(pickle_, key, "_modules")) return ModuleMember::kModules;
  return ModuleMember::kAttribute;
}

void TorchContainers::NoteUnsaved(PickleId buffers, PickleId names) {
  // Protocols before 4 write a set as a call of its class with a list.
  const bool called = pickle_.kind(names) == PickleKind::kObject;
  std::unordered_set<std::string_view>& unsaved = unsaved_[buffers];
  for (const PickleId item : called ? ItemsOfArgument(pickle_, names) : pickle_.Items(names)) {
    if (pickle_.kind(item) == PickleKind::kString) unsaved.insert(pickle_.Text(item));
  }
}

bool TorchContainers::IsUnsaved(PickleId buffers, PickleId key) const {
  const auto names = unsaved_.find(buffers);
  return names != unsaved_.end() && pickle_.kind(key) == PickleKind::kString &&
         names->second.contains(pickle_.Text(key));
}

TorchContainers::Parameter TorchContainers::ParameterOf(PickleId id) const {
  const PickleKind kind = pickle_.kind(id);
  return {kind, kind == PickleKind::kInt ? pickle_.Int(id) : std::int64_t{id}};
}

// Whether every key of the state is a parameter: numbers beside names that stay might be the same.
bool TorchContainers::AreKnown(PickleId state,
                               const std::map<Parameter, std::size_t>& numbers) const {
  for (std::size_t i = 0; const auto entry = EntryAt(state, i); ++i) {
    if (!numbers.contains(ParameterOf(entry->first))) return false;
  }
  return true;
}

void TorchContainers::EnterOptimizer(PickleId state, PickleId groups) {
  if (numbered_.contains(state)) return;
  std::map<Parameter, std::size_t> numbers;
  std::vector<PickleId> containers = {state};
  for (const PickleId group : pickle_.Items(groups)) {
    const auto params = IsMapping(group) ? Find(group, "params") : std::nullopt;
    if (!params || !IsSequence(pickle_, *params)) return;
    for (const PickleId parameter : pickle_.Items(*params)) {
      const PickleKind kind = pickle_.kind(parameter);
      if (kind != PickleKind::kInt && kind != PickleKind::kObject) return;
      numbers.emplace(ParameterOf(parameter), numbers.size());
    }
    containers.push_back(*params);
  }
  if (!AreKnown(state, numbers)) return;
  for (const PickleId container : containers) numbered_.emplace(container, numbers_.size());
  numbers_.push_back(std::move(numbers));
}

std::optional<std::size_t> TorchContainers::NumberOf(PickleId container, PickleId parameter) const {
  const auto known = numbered_.find(container);
  if (known == numbered_.end()) return std::nullopt;
  const auto& numbers = numbers_[known->second];
  const auto number = numbers.find(ParameterOf(parameter));
  if (number == numbers.end()) return std::nullopt;
  return number->second;
}

}  // namespace rharness
