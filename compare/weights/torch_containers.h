// Containers in a PyTorch checkpoint: mappings, modules, optimizers.
//
// Role: private to this folder; between the walk of torch_tree and the pickle. Pure.
//   mapping    a dict; an OrderedDict; or, from Python 2, a call of its class with a list of pairs
//   module     an object whose state has the mappings _parameters and _modules (torch.nn.Module).
//              Names in it are those of its state_dict(): _parameters, _buffers and _modules add
//              nothing to a name
//   optimizer  a mapping with "state" and "param_groups". PyTorch 1.0 to 1.5 key the state by
//              memory addresses, and later versions by the position of a parameter in
//              param_groups[*].params: both are numbered by position here
// Source: state_dict of torch/nn/modules/module.py, Optimizer.state_dict of torch/optim, and
// OrderedDict.__reduce__ of Python 2.7's collections.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_CONTAINERS_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_CONTAINERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compare/weights/pickle.h"
#include "compare/weights/roles.h"
#include "compare/weights/torch_tensor.h"

namespace rharness {

// The place of a module's entries in its state_dict().
enum class ModuleMember {
  kNone,        // not of a module's state
  kParameters,  // _parameters
  kBuffers,     // _buffers
  kModules,     // _modules
  kAttribute,   // anything else: not in the state_dict()
};

// Whether a value under this name is an attribute that a module's code may read: neither one of
// PyTorch's own (hooks), nor the training flag.
bool IsModuleAttribute(std::string_view name);

class TorchContainers {
 public:
  // Both must outlive this object.
  TorchContainers(const Pickle& pickle, const TorchTensors& tensors)
      : pickle_(pickle), tensors_(tensors) {}

  bool IsMapping(PickleId id) const;
  // Key and value of an entry of a mapping; empty beyond the last one.
  std::optional<std::pair<PickleId, PickleId>> EntryAt(PickleId mapping, std::size_t entry) const;
  std::optional<PickleId> Find(PickleId mapping, std::string_view key) const;

  bool IsModule(PickleId object) const;
  // "torch.nn.modules.linear.Linear", without the source and the file that older versions keep.
  std::string ClassOf(PickleId object) const;
  // Call it when the walk enters the state of a module, or a mapping.
  void EnterModuleState(PickleId state) { module_states_.insert(state); }
  void EnterMapping(PickleId mapping);

  // The kind of an entry of `mapping`; `value` is the entry's.
  ModuleMember MemberOf(PickleId mapping, PickleId key, PickleId value) const;
  // Whether the mapping is the _modules of one.
  bool HoldsModules(PickleId mapping) const { return module_maps_.contains(mapping); }
  // Whether a module leaves the entry of its _buffers out of its state_dict().
  bool IsUnsaved(PickleId buffers, PickleId key) const;

  // The position of a parameter that is a key of an optimizer's state, or an item of its params;
  // empty: `container` is neither.
  std::optional<std::size_t> NumberOf(PickleId container, PickleId parameter) const;

 private:
  using Parameter = std::pair<PickleKind, std::int64_t>;  // for numbers their value, else the node

  bool IsOrderedDict(PickleId object) const;
  void NoteUnsaved(PickleId buffers, PickleId names);
  Parameter ParameterOf(PickleId id) const;
  bool AreKnown(PickleId state, const std::map<Parameter, std::size_t>& numbers) const;
  void EnterOptimizer(PickleId state, PickleId groups);

  const Pickle& pickle_;
  const TorchTensors& tensors_;
  std::unordered_set<PickleId> module_states_;
  std::unordered_set<PickleId> module_maps_;
  mutable std::unordered_map<PickleId, bool> mappings_;  // results of IsMapping, by object
  std::unordered_map<PickleId, std::unordered_set<std::string_view>> unsaved_;  // by _buffers
  std::unordered_map<PickleId, std::size_t> numbered_;  // containers, to the index of their numbers
  std::vector<std::map<Parameter, std::size_t>> numbers_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_CONTAINERS_H_
