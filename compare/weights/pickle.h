// A Python pickle as inert values: a restricted unpickler that executes nothing.
//
// Role: under the readers of PyTorch's formats. Globals are names, looked up in the caller's table
// and never imported; REDUCE, NEWOBJ and BUILD become nodes with the requested call, and the caller
// decides what it means. Source: Python's Lib/pickletools.py (opcodes of protocols 2 to 5) and
// Lib/pickle.py. Not here: any knowledge of PyTorch; opcodes of protocols 0 and 1 that no pickler
// writes at protocol 2, extension codes, out-of-band buffers (refused by name).
#ifndef RHARNESS_COMPARE_WEIGHTS_PICKLE_H_
#define RHARNESS_COMPARE_WEIGHTS_PICKLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Limits of this reader. A node takes 40 bytes plus its content; every node, stack entry and item
// takes at least one byte of the pickle.
inline constexpr std::size_t kMaxPickleBytes = std::size_t{128} << 20;
inline constexpr std::size_t kMaxPickleNodes = std::size_t{1} << 22;  // and memo entries
inline constexpr std::size_t kMaxPickleStack = std::size_t{1} << 22;
inline constexpr std::size_t kMaxPickleMarks = 1000;  // open at the same time

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInt,
  kLong,  // an integer that does not fit 64 bits: its bytes are Text, little-endian two's
          // complement
  kFloat,
  kString,  // valid UTF-8, a Python 2 str included
  kBytes,   // bytes or bytearray
  kTuple,
  kList,
  kSet,  // set or frozenset
  kDict,
  kGlobal,      // a class or function, by its name
  kObject,      // a call by REDUCE or NEWOBJ, with its callable, items, entries, state
  kPersistent,  // BINPERSID: an object outside the pickle; Items()[0] is its id
};
std::string_view PickleKindName(PickleKind kind);  // as in a message: "a tuple", "an object"

using PickleId = std::uint32_t;  // of a node; valid only for its pickle

// The values of one pickle in one flat list: nothing is nested in memory, whatever the pickle says.
// Values may be shared and may contain themselves: code that walks them bounds depth and steps.
class Pickle {
 public:
  PickleId root() const { return root_; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t source_bytes() const { return bytes_.size(); }  // that it was parsed from

  // Of any node.
  PickleKind kind(PickleId id) const { return nodes_.at(id).kind; }
  std::uint64_t offset(PickleId id) const { return nodes_.at(id).offset; }  // of its opcode

  // For a node of the right kind; abort otherwise.
  bool Bool(PickleId id) const { return ValueOf(id, PickleKind::kBool) != 0; }
  std::int64_t Int(PickleId id) const { return ValueOf(id, PickleKind::kInt); }
  double Float(PickleId id) const { return std::bit_cast<double>(ValueOf(id, PickleKind::kFloat)); }
  std::string_view Text(PickleId id) const;  // of a string, bytes, long; lives as long as *this
  std::size_t Global(PickleId id) const {    // index in the caller's table; its size: not there
    return static_cast<std::size_t>(ValueOf(id, PickleKind::kGlobal));
  }
  std::string GlobalName(PickleId id) const;  // of a kGlobal: "argparse.Namespace"

  // Elements of a tuple, list or set, or those that APPEND(S) or ADDITEMS added to an object; empty
  // for other kinds but kPersistent.
  std::span<const PickleId> Items(PickleId id) const;
  // Keys and values of a dict, or those that SETITEM(S) added to an object: k0, v0, k1, v1, ... in
  // the order of the pickle, repeated keys included; empty for other kinds.
  std::span<const PickleId> Entries(PickleId id) const;
  // Value of the last entry whose key is the string `key`.
  std::optional<PickleId> Find(PickleId id, std::string_view key) const;

  // Of an object; abort otherwise.
  // A kGlobal; a kObject: the result of another call; a kPersistent: a class with its source.
  PickleId Callable(PickleId id) const;
  std::span<const PickleId> Arguments(PickleId id) const;
  std::optional<PickleId> State(PickleId id) const;  // what BUILD gave it

 private:
  friend class PickleMachine;
  struct Node {
    PickleKind kind = PickleKind::kNone;
    std::uint32_t offset = 0;
    // Of the kind; text: begin << 32 | size; object: list of items + 1 << 32 | state + 1.
    std::int64_t value = 0;
    // Object: callable, tuple of arguments, then entries. Global: module and name.
    std::vector<PickleId> items;
  };

  std::int64_t ValueOf(PickleId id, PickleKind kind) const;

  std::string bytes_;
  std::vector<Node> nodes_;
  PickleId root_ = 0;
};

// Parses one pickle that fills `bytes`. `globals` lists the names for GLOBAL and STACK_GLOBAL that
// the caller knows, as "module name" with one space between: "collections OrderedDict". `where`
// starts the `where` of errors; ": byte N" of the pickle follows. Errors: invalid_input
// (malformed), unsupported (an opcode that is not read, named; a limit above).
Result<Pickle> ParsePickle(std::string bytes, std::span<const std::string_view> globals,
                           std::string_view where);

// The same for a pickle at the front of `bytes`; *size becomes its size. Offsets count from the
// beginning of `bytes`.
Result<Pickle> ParsePickleAtFront(std::string bytes, std::span<const std::string_view> globals,
                                  std::string_view where, std::size_t* size);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PICKLE_H_
