// A walk over dicts, lists and tuples with a stack of its own.
#include "compare/weights/torch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compare/weights/torch_zip.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

class Flattener {
 public:
  Flattener(const Pickle& pickle, TorchTensors* tensors, std::string_view where)
      : pickle_(pickle), tensors_(*tensors), where_(where) {}
  Result<TorchTree> Flatten();

 private:
  // A container whose children are being visited.
  struct Frame {
    PickleId id = 0;
    std::size_t next = 0;       // child
    std::size_t name_size = 0;  // of the container's own name
  };

  Error NotRead(PickleId id, std::string_view message) const {
    return Unsupported(
        fmt::format("'{}': {}", TerminalSafe(std::string_view(name_).substr(0, 200)), message),
        fmt::format("{}: byte {}", where_, pickle_.offset(id)));
  }
  bool HasKeys(PickleId id) const {
    return pickle_.kind(id) == PickleKind::kDict || pickle_.kind(id) == PickleKind::kObject;
  }
  std::size_t Children(PickleId id) const {
    return HasKeys(id) ? pickle_.Entries(id).size() / 2 : pickle_.Items(id).size();
  }
  Status VisitNext();
  Status Visit(PickleId id);
  Status VisitObject(PickleId id);
  Status VisitSet(PickleId id);
  Status VisitTensor(PickleId id);
  Status Enter(PickleId id);
  Status AppendKey(PickleId key);
  bool HasRoomForMetadata();
  void AddMetadata(std::string_view value);
  std::string TextOf(PickleId id) const;
  std::string TextOfObject(PickleId id) const;

  const Pickle& pickle_;
  TorchTensors& tensors_;
  std::string_view where_;
  TorchTree tree_;
  std::vector<Frame> frames_;
  std::string name_;
  std::size_t visited_ = 0;
  std::size_t name_bytes_ = 0;      // of all tensors
  std::size_t metadata_bytes_ = 0;  // keys and values
  std::size_t left_out_ = 0;        // values beyond the limits of metadata
};

Result<TorchTree> Flattener::Flatten() {
  const PickleId root = pickle_.root();
  const bool one_tensor = pickle_.kind(root) == PickleKind::kObject && tensors_.IsTensor(root);
  if (one_tensor) name_ = "tensor";
  RETURN_IF_ERROR(Visit(root));
  while (!frames_.empty()) RETURN_IF_ERROR(VisitNext());
  if (left_out_ != 0) {
    tree_.metadata.emplace_back("", fmt::format("{} more values are not listed", left_out_));
  }
  return std::move(tree_);
}

Status Flattener::VisitNext() {
  Frame& frame = frames_.back();
  name_.resize(frame.name_size);
  if (frame.next == Children(frame.id)) {
    frames_.pop_back();
    return {};
  }
  if (++visited_ > kMaxTorchValues) {
    return NotRead(frame.id, fmt::format("more than {} values, or values that contain themselves",
                                         kMaxTorchValues));
  }
  const std::size_t child = frame.next++;
  if (frames_.size() > 1) name_ += '.';
  if (!HasKeys(frame.id)) {
    name_ += fmt::format_int(child).str();
    return Visit(pickle_.Items(frame.id)[child]);
  }
  const auto entries = pickle_.Entries(frame.id);
  RETURN_IF_ERROR(AppendKey(entries[2 * child]));
  return Visit(entries[2 * child + 1]);
}

Status Flattener::AppendKey(PickleId key) {
  if (pickle_.kind(key) == PickleKind::kString) {
    if (pickle_.Text(key).size() >
        kMaxTorchNameBytes - std::min(name_.size(), kMaxTorchNameBytes)) {
      return NotRead(key, fmt::format("a name of more than {} bytes", kMaxTorchNameBytes));
    }
    name_ += pickle_.Text(key);
  } else if (pickle_.kind(key) == PickleKind::kInt) {
    name_ += fmt::format_int(pickle_.Int(key)).str();
  } else {
    return NotRead(key, fmt::format("a key that is {}; expected a string or an integer of 64 bits",
                                    PickleKindName(pickle_.kind(key))));
  }
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
    case PickleKind::kSet:
      return VisitSet(id);
    case PickleKind::kPersistent:
      return NotRead(id, "a storage outside of a tensor; expected tensors");
    default:
      if (HasRoomForMetadata()) AddMetadata(TextOf(id));
      return {};
  }
}

Status Flattener::VisitObject(PickleId id) {
  if (tensors_.IsTensor(id)) return VisitTensor(id);
  const TorchGlobal& callee = tensors_.CalleeOf(id);
  if (callee.kind == TorchGlobalKind::kPlain) {
    if (HasRoomForMetadata()) AddMetadata(TextOfObject(id));
    return {};
  }
  if (callee.kind != TorchGlobalKind::kOrderedDict || !pickle_.Arguments(id).empty()) {
    return NotRead(id, fmt::format("a call of '{}'{}; expected plain data and tensors", callee.name,
                                   pickle_.Arguments(id).empty() ? "" : " with arguments"));
  }
  return Enter(id);
}

// Sets have no order from which a tensor could have its name.
Status Flattener::VisitSet(PickleId id) {
  for (const PickleId item : pickle_.Items(id)) {
    if (pickle_.kind(item) == PickleKind::kObject ||
        pickle_.kind(item) == PickleKind::kPersistent) {
      return NotRead(item, "an object in a set; expected plain values there");
    }
  }
  if (HasRoomForMetadata()) AddMetadata(fmt::format("<set of {}>", pickle_.Items(id).size()));
  return {};
}

Status Flattener::VisitTensor(PickleId id) {
  name_bytes_ += name_.size();
  if (tree_.views.size() == kMaxViews || name_bytes_ > kMaxViewNameBytes) {
    return NotRead(id, fmt::format("more than {} tensors, or more than {} bytes of names",
                                   kMaxViews, kMaxViewNameBytes));
  }
  ASSIGN_OR_RETURN(View view, tensors_.Read(id, name_));
  tree_.views.push_back(std::move(view));
  return {};
}

Status Flattener::Enter(PickleId id) {
  if (frames_.size() == kMaxTorchDepth) {
    return NotRead(
        id, fmt::format("nested deeper than {}, or a value that contains itself", kMaxTorchDepth));
  }
  frames_.push_back({id, 0, name_.size()});
  return {};
}

// Counts the value when there is none. Once a value has been left out, so are all that follow.
bool Flattener::HasRoomForMetadata() {
  if (left_out_ == 0 && tree_.metadata.size() < kMaxTorchMetadata &&
      metadata_bytes_ < kMaxTorchMetadataBytes) {
    return true;
  }
  ++left_out_;
  return false;
}

void Flattener::AddMetadata(std::string_view value) {
  metadata_bytes_ += name_.size() + value.size();
  tree_.metadata.emplace_back(name_, value);
}

std::string Flattener::TextOf(PickleId id) const {
  switch (pickle_.kind(id)) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBool:
      return pickle_.Bool(id) ? "True" : "False";
    case PickleKind::kInt:
      return fmt::to_string(pickle_.Int(id));
    case PickleKind::kFloat:
      return fmt::format("{}", pickle_.Float(id));
    case PickleKind::kString:
      if (pickle_.Text(id).size() <= kMaxTorchTextBytes) return std::string(pickle_.Text(id));
      [[fallthrough]];
    case PickleKind::kLong:
    case PickleKind::kBytes:
      return fmt::format("<{} of {} bytes>", PickleKindName(pickle_.kind(id)),
                         pickle_.Text(id).size());
    case PickleKind::kGlobal:
      return std::string(TorchGlobalAt(pickle_.Global(id)).name);
    default:
      return fmt::format("<{}>", PickleKindName(pickle_.kind(id)));
  }
}

// "torch device(cuda, 0)"; containers among the arguments are named alone.
std::string Flattener::TextOfObject(PickleId id) const {
  std::string text(tensors_.CalleeOf(id).name);
  std::string_view separator = "(";
  for (const PickleId argument :
       pickle_.Arguments(id).first(std::min<std::size_t>(pickle_.Arguments(id).size(), 4))) {
    text += separator;
    text += TextOf(argument);
    separator = ", ";
  }
  return text + (separator == "(" ? "()" : ")");
}

}  // namespace

Result<TorchTree> FlattenTorchTree(const Pickle& pickle, TorchTensors* tensors,
                                   std::string_view where) {
  return Flattener(pickle, tensors, where).Flatten();
}

}  // namespace rharness
