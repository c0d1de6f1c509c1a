// The pickle machine: a stack, a memo, and one function per family of opcodes.
//
// Role: private to this folder; runs for ParsePickle. pickle_opcodes.cc knows the opcodes' bytes.
#ifndef RHARNESS_COMPARE_WEIGHTS_PICKLE_MACHINE_H_
#define RHARNESS_COMPARE_WEIGHTS_PICKLE_MACHINE_H_

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/weights/pickle.h"
#include "compare/weights/pickle_stream.h"

namespace rharness {

// Grows the node list of one Pickle. Nothing recurses: depth in the pickle is stack or marks.
class PickleMachine {
 public:
  PickleMachine(std::string bytes, std::span<const std::string_view> globals,
                std::string_view where)
      : globals_(globals), where_(where) {
    pickle_.bytes_ = std::move(bytes);
  }
  // `stream` must outlive this object.
  PickleMachine(PickleStream* stream, std::span<const std::string_view> globals,
                std::string_view where)
      : stream_(stream), globals_(globals), where_(where) {
    pickle_.bytes_.reserve(kMaxPickleBytes);  // so that views of it stay valid; pages come with use
  }
  // Runs until STOP; ignores the bytes after it.
  Result<Pickle> Run();
  std::size_t position() const { return position_; }  // behind STOP, after Run

  // The opcodes, by families that share a function: the argument is a width, a count or a kind.
  Status Proto(int);
  Status Frame(int);
  Status Stop(int);
  Status Mark(int);
  Status Constant(int value);
  Status Integer(int width);
  Status Long(int width);
  Status Real(int);
  Status String(int width);
  Status Bytes(int width);
  Status Empty(int kind);
  Status Tuple(int count);
  Status ToMark(int kind);  // a tuple or a frozenset
  Status Append(int);
  Status AppendsToMark(int kind);
  Status SetItem(int);
  Status SetItemsToMark(int);
  Status GlobalByLines(int);
  Status GlobalByStack(int);
  Status Call(int);
  Status CallWithKeywords(int);
  Status Drop(int);
  Status DropToMark(int);
  Status Build(int);
  Status PersistentId(int);
  Status Put(int width);
  Status Get(int width);
  Status Memoize(int);

 private:
  using Kind = PickleKind;
  using Node = Pickle::Node;

  Error Refuse(std::string message) const { return InvalidInput(std::move(message), Where()); }
  std::string Where() const { return fmt::format("{}: byte {}", where_, opcode_at_); }

  Result<std::uint64_t> Argument(int width);  // an unsigned number after the opcode
  Result<std::string_view> Take(std::uint64_t size);
  Result<std::string_view> TakeLine();
  Result<PickleId> Make(Kind kind, std::int64_t value);
  Status Push(PickleId id);
  Status PushNew(Kind kind, std::int64_t value);
  Status PushText(Kind kind, std::string_view text);
  Status PushGlobal(PickleId module, PickleId name);
  Status PushItems(Kind kind, std::vector<PickleId> items);
  Result<PickleId> Pop();
  Result<std::vector<PickleId>> PopItems(std::size_t count);
  Result<std::vector<PickleId>> PopToMark();
  Result<PickleId> Top() const;
  Status Remember(std::uint64_t index);
  Status AddEntries(std::span<const PickleId> entries);
  Status AddItems(Kind kind, std::span<const PickleId> items);
  Result<PickleId> ItemListOf(PickleId object);

  Status Want(std::uint64_t size);  // feeds so many bytes from the position on, if there are

  Pickle pickle_;
  PickleStream* stream_ = nullptr;
  std::span<const std::string_view> globals_;
  std::string_view where_;
  std::size_t position_ = 0;   // of the next byte
  std::size_t opcode_at_ = 0;  // of the opcode at work
  bool stopped_ = false;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint64_t, PickleId> memo_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PICKLE_MACHINE_H_
