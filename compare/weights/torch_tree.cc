// A walk over dicts, lists and tuples with a stack of its own.
#include "compare/weights/torch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compare/weights/pickle_text.h"
#include "compare/weights/torch_composed.h"
#include "compare/weights/torch_containers.h"
#include "compare/weights/torch_numpy.h"
#include "compare/weights/torch_zip.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::size_t kMaxUnread = 10'000;
// Of values that are not listed.
constexpr std::uint64_t kMaxHashedBytes = std::uint64_t{256} << 20;

class Flattener {
 public:
  Flattener(const Pickle& pickle, TorchTensors* tensors, std::string_view where)
      : pickle_(pickle),
        tensors_(*tensors),
        containers_(pickle, *tensors),
        where_(where),
        texts_(pickle),
        entered_(pickle.size(), false) {}
  Result<ViewCheckpointParts> Flatten();

 private:
  // A container whose children are being visited.
  struct Frame {
    PickleId id = 0;
    std::size_t next = 0;       // child
    std::size_t name_size = 0;  // of the container's own name
    bool dotted = false;        // a dot separates it from a child's name
  };

  Error NotRead(PickleId id, std::string_view message) const {
    return Unsupported(
        fmt::format("'{}': {}", TerminalSafe(std::string_view(name_).substr(0, 200)), message),
        fmt::format("{}: byte {}", where_, pickle_.offset(id)));
  }
  bool IsObject(PickleId id) const { return pickle_.kind(id) == PickleKind::kObject; }
  Status VisitNext();
  Status VisitEntries(PickleId mapping, std::size_t entry, bool* done);
  Status VisitEntry(PickleId container, PickleId key, PickleId value);
  Status VisitItem(PickleId container, PickleId item);
  Status VisitMember(PickleId object, std::size_t member, bool* done);
  Status Visit(PickleId id);
  Status VisitObject(PickleId id);
  Status VisitForeign(PickleId id);
  Status VisitTensor(PickleId id);
  Status VisitBytes(PickleId id);
  Status AddView(PickleId id, View view);
  Status VisitValue(PickleId id);
  Status Enter(PickleId id);
  Status AddUnread(PickleId id, std::string why);
  Status AppendKey(PickleId key);
  void AddMetadata(std::string_view value);
  void NoteAttribute(std::string_view value);
  void NameWhatIsNotListed();
  void AddAttributes();

  const Pickle& pickle_;
  TorchTensors& tensors_;
  TorchContainers containers_;
  std::string_view where_;
  PickleTexts texts_;
  std::vector<bool> entered_;  // objects: their content is walked once
  ViewCheckpointParts parts_;
  std::vector<Frame> frames_;
  std::string name_;
  std::size_t visited_ = 0;
  std::size_t name_bytes_ = 0;      // of all tensors
  std::size_t metadata_bytes_ = 0;  // keys and values
  std::size_t left_out_ = 0;        // values beyond the limits of metadata
  std::uint64_t hashed_bytes_ = 0;  // of these
  Sha256 left_out_digest_;
  std::vector<std::string> attributes_;  // of modules: "NAME: VALUE"
  std::size_t attribute_bytes_ = 0;
};

Result<ViewCheckpointParts> Flattener::Flatten() {
  const PickleId root = pickle_.root();
  if (IsObject(root) && tensors_.IsTensor(root)) name_ = "tensor";
  RETURN_IF_ERROR(Visit(root));
  while (!frames_.empty()) RETURN_IF_ERROR(VisitNext());
  if (left_out_ != 0) NameWhatIsNotListed();
  if (!attributes_.empty()) AddAttributes();
  return std::move(parts_);
}

void Flattener::NameWhatIsNotListed() {
  name_ = "(more)";
  std::string text = fmt::format("{} more values are not listed", left_out_);
  if (hashed_bytes_ > kMaxHashedBytes) {
    parts_.unread.push_back({.name = name_, .why = text});
  } else {
    text += ", sha256 " + ToHex(left_out_digest_.Finish()).substr(0, 16);
  }
  parts_.metadata.emplace_back(name_, text);
}

Status Flattener::VisitNext() {
  Frame& frame = frames_.back();
  name_.resize(frame.name_size);
  if (++visited_ > kMaxTorchValues) {
    return NotRead(frame.id, fmt::format("more than {} values, or values that contain themselves",
                                         kMaxTorchValues));
  }
  const PickleId id = frame.id;
  const std::size_t child = frame.next++;
  bool done = false;
  if (containers_.IsMapping(id)) {
    RETURN_IF_ERROR(VisitEntries(id, child, &done));
  } else if (IsObject(id)) {
    RETURN_IF_ERROR(VisitMember(id, child, &done));
  } else if (child < pickle_.Items(id).size()) {
    if (frame.dotted) name_ += '.';
    name_ += fmt::format_int(child).str();
    return VisitItem(id, pickle_.Items(id)[child]);
  } else {
    done = true;
  }
  if (done) frames_.pop_back();
  return {};
}

// Of a mapping: its entries, then its state. *done: there was none left.
Status Flattener::VisitEntries(PickleId mapping, std::size_t entry, bool* done) {
  if (const auto next = containers_.EntryAt(mapping, entry)) {
    return VisitEntry(mapping, next->first, next->second);
  }
  *done = true;
  // Every state_dict has attributes (_metadata); they count if they contain tensors.
  const bool after_last = entry == 0 || containers_.EntryAt(mapping, entry - 1).has_value();
  if (!IsObject(mapping) || !after_last) return {};
  const auto state = pickle_.State(mapping);
  if (!state || !texts_.Of(*state).holds_storage) return {};
  *done = false;
  name_ += frames_.back().dotted ? ".(state)" : "(state)";
  return Visit(*state);
}

Status Flattener::VisitEntry(PickleId container, PickleId key, PickleId value) {
  const bool dotted = frames_.back().dotted;
  const ModuleMember member = containers_.MemberOf(container, key, value);
  if (member != ModuleMember::kNone && member != ModuleMember::kAttribute) {
    RETURN_IF_ERROR(Enter(value));  // its content has the names of a state_dict
    frames_.back().dotted = dotted;
    return {};
  }
  if (dotted) name_ += '.';
  if (member == ModuleMember::kAttribute || containers_.IsUnsaved(container, key)) {
    name_ += fmt::format("{}.", kUnsavedComponent);
  }
  if (const auto number = containers_.NumberOf(container, key)) {
    name_ += fmt::format_int(*number).str();
    return Visit(value);
  }
  RETURN_IF_ERROR(AppendKey(key));
  if (pickle_.kind(key) != PickleKind::kString && texts_.Of(key).holds_storage) {
    RETURN_IF_ERROR(AddUnread(key, "a tensor in the name of a value"));
  }
  return Visit(value);
}

Status Flattener::VisitItem(PickleId container, PickleId item) {
  const auto number = containers_.NumberOf(container, item);
  if (!number || pickle_.kind(item) != PickleKind::kInt) return Visit(item);
  AddMetadata(fmt::format_int(*number).str());  // in place of the address
  return {};
}

// Of a foreign object: its arguments, its items, its entries, its state. *done: there was none
// left.
Status Flattener::VisitMember(PickleId object, std::size_t member, bool* done) {
  const bool dotted = frames_.back().dotted;
  const auto visit = [&](const std::string& label, PickleId id) {
    if (dotted) name_ += '.';
    name_ += label;
    return Visit(id);
  };
  const auto arguments = pickle_.Arguments(object);
  if (member < arguments.size()) return visit(fmt::format("({})", member), arguments[member]);
  member -= arguments.size();
  const auto items = pickle_.Items(object);
  if (member < items.size()) return visit(fmt::to_string(member), items[member]);
  member -= items.size();
  if (member < pickle_.Entries(object).size() / 2) {
    return VisitEntry(object, pickle_.Entries(object)[2 * member],
                      pickle_.Entries(object)[2 * member + 1]);
  }
  member -= pickle_.Entries(object).size() / 2;
  const auto state = pickle_.State(object);
  *done = member > 0 || !state;
  if (*done) return {};
  if (pickle_.kind(*state) != PickleKind::kDict) return visit("(state)", *state);
  if (containers_.IsModule(object)) containers_.EnterModuleState(*state);
  RETURN_IF_ERROR(Enter(*state));  // members of the state are members of the object
  frames_.back().dotted = dotted;
  return {};
}

Status Flattener::AppendKey(PickleId key) {
  const std::string text = pickle_.kind(key) == PickleKind::kString ? std::string(pickle_.Text(key))
                                                                    : texts_.Of(key).text;
  if (text.size() > kMaxTorchNameBytes - std::min(name_.size(), kMaxTorchNameBytes)) {
    return NotRead(key, fmt::format("a name of more than {} bytes", kMaxTorchNameBytes));
  }
  name_ += text;
  return {};
}

Status Flattener::Visit(PickleId id) {
  switch (pickle_.kind(id)) {
    case PickleKind::kDict:
    case PickleKind::kList:
    case PickleKind::kTuple:
      return Enter(id);
    case PickleKind::kObject:
      return VisitObject(id);
    case PickleKind::kPersistent:
      if (auto view = tensors_.ReadOutside(id, name_.empty() ? "tensor" : name_)) {
        return AddView(id, std::move(*view));
      }
      return AddUnread(id, "a storage outside of a tensor");
    case PickleKind::kBytes:
      return VisitBytes(id);
    default:
      return VisitValue(id);
  }
}

Status Flattener::VisitObject(PickleId id) {
  if (tensors_.IsTensor(id)) return VisitTensor(id);
  if (containers_.IsMapping(id)) return Enter(id);
  if (tensors_.CalleeOf(id).kind == TorchGlobalKind::kPlain) return VisitBytes(id);
  if (auto array = tensors_.ReadArray(id, name_.empty() ? "array" : name_))
    return AddView(id, std::move(*array));
  return VisitForeign(id);
}

// The state of an unknown class beside the tensors: compared by its content.
Status Flattener::VisitForeign(PickleId id) {
  const auto state = pickle_.State(id);
  bool opened = (state && pickle_.kind(*state) == PickleKind::kDict) ||
                !pickle_.Items(id).empty() || !pickle_.Entries(id).empty();
  if (!opened) {
    const PickleText text = texts_.Of(id);
    opened = text.holds_storage || text.holds_bytes;
    if (!opened) return VisitValue(id);
  }
  const std::string callee = texts_.Of(pickle_.Callable(id)).text;
  const bool module = containers_.IsModule(id);
  if (module) NoteAttribute(containers_.ClassOf(id));
  // A module under two names has its tensors under both in a state_dict.
  const bool again = module && !frames_.empty() && containers_.HoldsModules(frames_.back().id);
  if (entered_[id] && !again) {
    AddMetadata(fmt::format("<the {} from before>", callee));
    return {};
  }
  entered_[id] = true;
  AddMetadata(fmt::format("<{}>", callee));
  if (IsNumpyArray(pickle_, id) && state && pickle_.kind(*state) == PickleKind::kTuple) {
    return Enter(*state);  // its arguments are the same for every array
  }
  return Enter(id);
}

// Bytes are numbers of an unknown type, and decide like those of a tensor.
Status Flattener::VisitBytes(PickleId id) {
  auto bytes = tensors_.ReadBytes(id, name_.empty() ? "bytes" : name_);
  return bytes ? AddView(id, std::move(*bytes)) : VisitValue(id);
}

// A value that is one line of metadata.
Status Flattener::VisitValue(PickleId id) {
  if (pickle_.kind(id) == PickleKind::kString && pickle_.Text(id).size() <= kMaxTorchTextBytes) {
    AddMetadata(pickle_.Text(id));
    return {};
  }
  const PickleText text = texts_.Of(id);
  AddMetadata(text.text);
  if (text.holds_storage) return AddUnread(id, "tensors in a value that gives them no names");
  if (text.holds_bytes) return AddUnread(id, "bytes in a value that gives them no names");
  if (!text.complete) return AddUnread(id, "a value that is nested too deep or is too large");
  return {};
}

Status Flattener::AddUnread(PickleId id, std::string why) {
  if (parts_.unread.size() == kMaxUnread) {
    return NotRead(id, fmt::format("more than {} values that are not read", kMaxUnread));
  }
  parts_.unread.push_back({.name = name_, .why = std::move(why)});
  return {};
}

Status Flattener::VisitTensor(PickleId id) {
  Result<std::vector<View>> views = ReadTorchTensor(pickle_, &tensors_, id, name_);
  if (!views.ok() && views.error().code != ErrorCode::kUnsupported) return views.error();
  if (!views.ok()) RETURN_IF_ERROR(AddUnread(id, views.error().message));
  if (views.ok()) {
    for (View& view : *views) RETURN_IF_ERROR(AddView(id, std::move(view)));
  }
  if (entered_[id]) return {};
  entered_[id] = true;
  const std::size_t own = name_.size();
  for (const PickleId attributes : tensors_.AttributesOf(id)) {
    name_.resize(own);
    name_ += ".(attributes)";
    const PickleKind kind = pickle_.kind(attributes);
    const bool container = kind == PickleKind::kList || kind == PickleKind::kTuple ||
                           containers_.IsMapping(attributes);
    RETURN_IF_ERROR(container ? Enter(attributes) : VisitValue(attributes));
  }
  return {};
}

Status Flattener::AddView(PickleId id, View view) {
  name_bytes_ += name_.size();
  if (parts_.views.size() == kMaxViews || name_bytes_ > kMaxViewNameBytes) {
    return NotRead(id, fmt::format("more than {} tensors, or more than {} bytes of names",
                                   kMaxViews, kMaxViewNameBytes));
  }
  parts_.views.push_back(std::move(view));
  return {};
}

Status Flattener::Enter(PickleId id) {
  if (frames_.size() == kMaxTorchDepth) {
    return NotRead(
        id, fmt::format("nested deeper than {}, or a value that contains itself", kMaxTorchDepth));
  }
  if (containers_.IsMapping(id)) containers_.EnterMapping(id);
  frames_.push_back({id, 0, name_.size(), !frames_.empty()});
  return {};
}

// What a module is beside its tensors: its class, and the values that its code reads. Hooks and
// other members of PyTorch itself, and whether it was training, are none of these.
void Flattener::NoteAttribute(std::string_view value) {
  if (attribute_bytes_ > kMaxTorchMetadataBytes) return;
  attributes_.push_back(fmt::format("{}: {}", name_, value));
  attribute_bytes_ += attributes_.back().size();
}

void Flattener::AddAttributes() {
  std::ranges::sort(attributes_);
  std::string content = fmt::format("{}", fmt::join(attributes_, "\n"));
  const bool whole = attribute_bytes_ <= kMaxTorchMetadataBytes;
  parts_.unread.push_back({.name = "(attributes of modules)",
                           .why = "what a pickled module is beside its tensors is loaded with them",
                           .content = whole ? std::move(content) : std::string(),
                           .kind = PartKind::kModel});
}

// After one omitted value, all later ones are omitted.
void Flattener::AddMetadata(std::string_view value) {
  if (IsModuleAttribute(name_)) NoteAttribute(value);
  const bool room = left_out_ == 0 && parts_.metadata.size() < kMaxTorchMetadata &&
                    metadata_bytes_ < kMaxTorchMetadataBytes;
  if (room) {
    metadata_bytes_ += name_.size() + value.size();
    parts_.metadata.emplace_back(name_, value);
    return;
  }
  ++left_out_;
  hashed_bytes_ += name_.size() + value.size() + 16;
  if (hashed_bytes_ > kMaxHashedBytes) return;
  for (const std::string_view text : {std::string_view(name_), value}) {
    left_out_digest_.UpdateU64(text.size());
    left_out_digest_.Update(text);
  }
}

}  // namespace

Result<ViewCheckpointParts> FlattenTorchTree(const Pickle& pickle, TorchStorages storages,
                                             std::string where,
                                             const TorchOutsideTensors* outside) {
  TorchTensors tensors(pickle, std::move(storages), where, outside);
  ASSIGN_OR_RETURN(ViewCheckpointParts parts, Flattener(pickle, &tensors, where).Flatten());
  parts.sources = tensors.TakeSources();
  parts.where = std::move(where);
  return parts;
}

}  // namespace rharness
