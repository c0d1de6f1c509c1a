// What the opcodes do to stack, memo and nodes.
#include "compare/weights/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/base/utf8.h"

namespace rharness {
Result<std::uint64_t> PickleMachine::Argument(int width) {
  ASSIGN_OR_RETURN(const std::string_view bytes, Take(static_cast<std::uint64_t>(width)));
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

Status PickleMachine::Want(std::uint64_t size) {
  std::string& bytes = pickle_.bytes_;
  const std::uint64_t left = bytes.size() - position_;
  if (stream_ == nullptr || size <= left) return {};
  if (size > kMaxPickleBytes - position_) {
    return Unsupported(fmt::format("more than {} bytes in one pickle", kMaxPickleBytes), Where());
  }
  return stream_->Feed(&bytes, size - left);
}

Result<std::string_view> PickleMachine::Take(std::uint64_t size) {
  RETURN_IF_ERROR(Want(size));
  const std::size_t left = pickle_.bytes_.size() - position_;
  if (size > left) {
    return Refuse(fmt::format("wants {} bytes; expected at most the {} that are left", size, left));
  }
  const std::string_view taken = std::string_view(pickle_.bytes_).substr(position_, size);
  position_ += size;
  return taken;
}

Result<std::string_view> PickleMachine::TakeLine() {
  constexpr std::size_t kMostLineBytes = 4096;
  RETURN_IF_ERROR(Want(std::min(kMostLineBytes, kMaxPickleBytes - position_)));
  const std::string_view rest = std::string_view(pickle_.bytes_).substr(position_);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return Refuse("expected a line break after a name");
  position_ += end + 1;
  return rest.substr(0, end);
}

Result<PickleId> PickleMachine::Make(Kind kind, std::int64_t value) {
  if (pickle_.nodes_.size() == kMaxPickleNodes) {
    return Unsupported(fmt::format("more than {} values in one pickle", kMaxPickleNodes), Where());
  }
  pickle_.nodes_.push_back({kind, static_cast<std::uint32_t>(opcode_at_), value, {}});
  return static_cast<PickleId>(pickle_.nodes_.size() - 1);
}

Status PickleMachine::Push(PickleId id) {
  if (stack_.size() == kMaxPickleStack) {
    return Unsupported(fmt::format("more than {} values on the stack", kMaxPickleStack), Where());
  }
  stack_.push_back(id);
  return {};
}

Status PickleMachine::PushNew(Kind kind, std::int64_t value) {
  ASSIGN_OR_RETURN(const PickleId id, Make(kind, value));
  return Push(id);
}

Status PickleMachine::PushText(Kind kind, std::string_view text) {
  const auto begin = static_cast<std::uint64_t>(text.data() - pickle_.bytes_.data());
  return PushNew(kind, static_cast<std::int64_t>(begin << 32 | text.size()));
}

Status PickleMachine::PushGlobal(PickleId module, PickleId name) {
  const std::string_view in = pickle_.Text(module), what = pickle_.Text(name);
  const auto is_it = [&](std::string_view global) {
    return global.size() == in.size() + 1 + what.size() && global.starts_with(in) &&
           global[in.size()] == ' ' && global.ends_with(what);
  };
  const auto found = std::ranges::find_if(globals_, is_it);
  ASSIGN_OR_RETURN(const PickleId id, Make(Kind::kGlobal, found - globals_.begin()));
  pickle_.nodes_[id].items = {module, name};
  return Push(id);
}

Result<PickleId> PickleMachine::Top() const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) return Refuse("the stack is empty; expected a value");
  return stack_.back();
}

Result<PickleId> PickleMachine::Pop() {
  ASSIGN_OR_RETURN(const PickleId id, Top());
  stack_.pop_back();
  return id;
}

Result<std::vector<PickleId>> PickleMachine::PopItems(std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - floor < count) {
    return Refuse(fmt::format("{} values on the stack; expected {}", stack_.size() - floor, count));
  }
  const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<PickleId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  return items;
}

Result<std::vector<PickleId>> PickleMachine::PopToMark() {
  if (marks_.empty()) return Refuse("no mark on the stack; expected one");
  Result<std::vector<PickleId>> items = PopItems(stack_.size() - marks_.back());
  marks_.pop_back();
  return items;
}

Status PickleMachine::Remember(std::uint64_t index) {
  ASSIGN_OR_RETURN(const PickleId id, Top());
  if (memo_.size() == kMaxPickleNodes) {
    return Unsupported(fmt::format("more than {} memo entries", kMaxPickleNodes), Where());
  }
  memo_[index] = id;
  return {};
}

Status PickleMachine::Proto(int) {
  ASSIGN_OR_RETURN(const std::uint64_t version, Argument(1));
  if (opcode_at_ != 0) return Refuse("in the middle; expected it at the beginning alone");
  if (version >= 2 && version <= 5) return {};
  return Unsupported(fmt::format("protocol {}; expected 2 to 5", version), Where());
}

Status PickleMachine::Frame(int) {
  ASSIGN_OR_RETURN(const std::uint64_t size, Argument(8));
  const std::size_t left = pickle_.bytes_.size() - position_;
  if (size <= left || stream_ != nullptr) return {};
  return Refuse(fmt::format("of {} bytes; expected at most the {} that are left", size, left));
}

Status PickleMachine::Stop(int) {
  if (!marks_.empty() || stack_.size() != 1) {
    return Refuse(fmt::format("{} values and {} marks on the stack; expected one value",
                              stack_.size(), marks_.size()));
  }
  pickle_.root_ = stack_.back();
  stopped_ = true;
  return {};
}

Status PickleMachine::Mark(int) {
  if (marks_.size() == kMaxPickleMarks) {
    return Unsupported(fmt::format("more than {} open marks", kMaxPickleMarks), Where());
  }
  marks_.push_back(stack_.size());
  return {};
}

// -1: None; 0 and 1: the bools.
Status PickleMachine::Constant(int value) {
  return value < 0 ? PushNew(Kind::kNone, 0) : PushNew(Kind::kBool, value);
}

Status PickleMachine::Integer(int width) {
  ASSIGN_OR_RETURN(const std::uint64_t value, Argument(width));
  if (width < 4) return PushNew(Kind::kInt, static_cast<std::int64_t>(value));
  return PushNew(Kind::kInt, static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}

Status PickleMachine::Long(int width) {
  ASSIGN_OR_RETURN(const std::uint64_t size, Argument(width));
  ASSIGN_OR_RETURN(const std::string_view bytes, Take(size));
  if (size > 8) return PushText(Kind::kLong, bytes);
  const bool negative = size != 0 && (bytes.back() & 0x80) != 0;
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return PushNew(Kind::kInt, static_cast<std::int64_t>(value));
}

Status PickleMachine::Real(int) {
  ASSIGN_OR_RETURN(const std::uint64_t bits, Argument(8));
  return PushNew(Kind::kFloat, static_cast<std::int64_t>(__builtin_bswap64(bits)));
}

Status PickleMachine::String(int width) {
  ASSIGN_OR_RETURN(const std::uint64_t size, Argument(width));
  ASSIGN_OR_RETURN(const std::string_view text, Take(size));
  if (!IsUtf8(text)) return Refuse("text that is not UTF-8; expected UTF-8");
  return PushText(Kind::kString, text);
}

Status PickleMachine::Bytes(int width) {
  ASSIGN_OR_RETURN(const std::uint64_t size, Argument(width));
  ASSIGN_OR_RETURN(const std::string_view bytes, Take(size));
  return PushText(Kind::kBytes, bytes);
}

Status PickleMachine::Empty(int kind) { return PushNew(static_cast<Kind>(kind), 0); }

Status PickleMachine::PushItems(Kind kind, std::vector<PickleId> items) {
  ASSIGN_OR_RETURN(const PickleId id, Make(kind, 0));
  pickle_.nodes_[id].items = std::move(items);
  return Push(id);
}

Status PickleMachine::Tuple(int count) {
  ASSIGN_OR_RETURN(std::vector<PickleId> items, PopItems(static_cast<std::size_t>(count)));
  return PushItems(Kind::kTuple, std::move(items));
}

Status PickleMachine::ToMark(int kind) {
  ASSIGN_OR_RETURN(std::vector<PickleId> items, PopToMark());
  return PushItems(static_cast<Kind>(kind), std::move(items));
}

Status PickleMachine::Append(int) {
  ASSIGN_OR_RETURN(const PickleId item, Pop());
  return AddItems(Kind::kList, std::array{item});
}

Status PickleMachine::AppendsToMark(int kind) {
  ASSIGN_OR_RETURN(const std::vector<PickleId> items, PopToMark());
  return AddItems(static_cast<Kind>(kind), items);
}

Status PickleMachine::AddItems(Kind kind, std::span<const PickleId> items) {
  ASSIGN_OR_RETURN(PickleId target, Top());
  if (pickle_.kind(target) == Kind::kObject) {
    ASSIGN_OR_RETURN(target, ItemListOf(target));
  } else if (pickle_.kind(target) != kind) {
    return Refuse(fmt::format("adds items to {}; expected {}", PickleKindName(pickle_.kind(target)),
                              PickleKindName(kind)));
  }
  std::vector<PickleId>& all = pickle_.nodes_[target].items;
  all.insert(all.end(), items.begin(), items.end());
  return {};
}

// A deque is made by a call and then filled: its items are in a list of their own.
Result<PickleId> PickleMachine::ItemListOf(PickleId object) {
  const std::int64_t known = pickle_.nodes_[object].value >> 32;
  if (known != 0) return static_cast<PickleId>(known - 1);
  ASSIGN_OR_RETURN(const PickleId list, Make(Kind::kList, 0));
  pickle_.nodes_[object].value |= (std::int64_t{list} + 1) << 32;
  return list;
}

Status PickleMachine::SetItem(int) {
  ASSIGN_OR_RETURN(const std::vector<PickleId> entry, PopItems(2));
  return AddEntries(entry);
}

Status PickleMachine::SetItemsToMark(int) {
  ASSIGN_OR_RETURN(const std::vector<PickleId> entries, PopToMark());
  if (entries.size() % 2 == 0) return AddEntries(entries);
  return Refuse(fmt::format("{} keys and values; expected pairs", entries.size()));
}

Status PickleMachine::AddEntries(std::span<const PickleId> entries) {
  ASSIGN_OR_RETURN(const PickleId target, Top());
  Node& node = pickle_.nodes_[target];
  if (node.kind != Kind::kDict && node.kind != Kind::kObject) {
    return Refuse(
        fmt::format("sets items of {}; expected a dict or an object", PickleKindName(node.kind)));
  }
  node.items.insert(node.items.end(), entries.begin(), entries.end());
  return {};
}

Status PickleMachine::GlobalByLines(int) {
  ASSIGN_OR_RETURN(const std::string_view module, TakeLine());
  ASSIGN_OR_RETURN(const std::string_view name, TakeLine());
  for (const std::string_view text : {module, name}) {
    if (!IsUtf8(text)) return Refuse("a name that is not UTF-8; expected UTF-8");
    RETURN_IF_ERROR(PushText(Kind::kString, text));
  }
  return GlobalByStack(0);
}

Status PickleMachine::GlobalByStack(int) {
  ASSIGN_OR_RETURN(const std::vector<PickleId> names, PopItems(2));
  for (const PickleId name : names) {
    if (pickle_.kind(name) != Kind::kString) {
      return Refuse(
          fmt::format("named by {}; expected two strings", PickleKindName(pickle_.kind(name))));
    }
  }
  return PushGlobal(names[0], names[1]);
}

Status PickleMachine::Call(int) {
  ASSIGN_OR_RETURN(std::vector<PickleId> call, PopItems(2));
  const Kind callee = pickle_.kind(call[0]);
  const bool callable =
      callee == Kind::kGlobal || callee == Kind::kObject || callee == Kind::kPersistent;
  if (!callable || pickle_.kind(call[1]) != Kind::kTuple) {
    return Refuse(fmt::format("calls {} with {}; expected a global and a tuple",
                              PickleKindName(callee), PickleKindName(pickle_.kind(call[1]))));
  }
  return PushItems(Kind::kObject, std::move(call));
}

// The keywords become entries of the object.
Status PickleMachine::CallWithKeywords(int) {
  ASSIGN_OR_RETURN(const PickleId keywords, Pop());
  if (pickle_.kind(keywords) != Kind::kDict) {
    return Refuse(
        fmt::format("keywords are {}; expected a dict", PickleKindName(pickle_.kind(keywords))));
  }
  RETURN_IF_ERROR(Call(0));
  const std::vector<PickleId> entries = pickle_.nodes_[keywords].items;
  return AddEntries(entries);
}

Status PickleMachine::Drop(int) {
  RETURN_IF_ERROR(Pop());
  return {};
}

Status PickleMachine::DropToMark(int) {
  RETURN_IF_ERROR(PopToMark());
  return {};
}

Status PickleMachine::Build(int) {
  ASSIGN_OR_RETURN(const PickleId state, Pop());
  ASSIGN_OR_RETURN(const PickleId target, Top());
  Node& node = pickle_.nodes_[target];
  const bool has_state = node.kind == Kind::kObject && (node.value & 0xffffffff) != 0;
  if (node.kind != Kind::kObject || has_state) {
    return Refuse(fmt::format("sets the state of {}{}; expected an object without one",
                              PickleKindName(node.kind), has_state ? " with a state" : ""));
  }
  node.value |= std::int64_t{state} + 1;
  if (stream_ == nullptr) return {};
  return stream_->AfterBuild(pickle_, target, &pickle_.bytes_, position_);
}

Status PickleMachine::PersistentId(int) {
  ASSIGN_OR_RETURN(std::vector<PickleId> id, PopItems(1));
  return PushItems(Kind::kPersistent, std::move(id));
}

Status PickleMachine::Put(int width) {
  ASSIGN_OR_RETURN(const std::uint64_t index, Argument(width));
  return Remember(index);
}

Status PickleMachine::Memoize(int) { return Remember(memo_.size()); }

Status PickleMachine::Get(int width) {
  ASSIGN_OR_RETURN(const std::uint64_t index, Argument(width));
  const auto found = memo_.find(index);
  if (found == memo_.end()) return Refuse(fmt::format("memo entry {} does not exist", index));
  return Push(found->second);
}

}  // namespace rharness
