// The opcodes by their bytes, and the loop that runs them.
#include <fmt/format.h>

#include <array>

#include "compare/weights/pickle_machine.h"

namespace rharness {
namespace {

using Machine = PickleMachine;

struct Opcode {
  std::string_view name;
  Status (Machine::*run)(int argument) = nullptr;
  int argument = 0;
};

// Every opcode of protocols 0 to 5 by its byte; opcodes without a function are refused by name.
struct OpcodeTable {
  std::array<Opcode, 256> rows{};

  OpcodeTable() {
    AddStructure();
    AddValues();
    AddRefused();
  }
  void Set(unsigned char byte, std::string_view name, Status (Machine::*run)(int) = nullptr,
           int argument = 0) {
    rows[byte] = {name, run, argument};
  }
  void AddStructure();
  void AddValues();
  void AddRefused();
};

void OpcodeTable::AddStructure() {
  Set(0x80, "PROTO", &Machine::Proto);
  Set(0x95, "FRAME", &Machine::Frame);
  Set('.', "STOP", &Machine::Stop);
  Set('(', "MARK", &Machine::Mark);
  Set('a', "APPEND", &Machine::Append);
  Set('e', "APPENDS", &Machine::AppendsToMark, static_cast<int>(PickleKind::kList));
  Set(0x90, "ADDITEMS", &Machine::AppendsToMark, static_cast<int>(PickleKind::kSet));
  Set('s', "SETITEM", &Machine::SetItem);
  Set('u', "SETITEMS", &Machine::SetItemsToMark);
  Set('c', "GLOBAL", &Machine::GlobalByLines);
  Set(0x93, "STACK_GLOBAL", &Machine::GlobalByStack);
  Set('R', "REDUCE", &Machine::Call);
  Set(0x81, "NEWOBJ", &Machine::Call);
  Set(0x92, "NEWOBJ_EX", &Machine::CallWithKeywords);
  Set('b', "BUILD", &Machine::Build);
  Set('0', "POP", &Machine::Drop);
  Set('1', "POP_MARK", &Machine::DropToMark);
  Set('Q', "BINPERSID", &Machine::PersistentId);
  Set('q', "BINPUT", &Machine::Put, 1);
  Set('r', "LONG_BINPUT", &Machine::Put, 4);
  Set('h', "BINGET", &Machine::Get, 1);
  Set('j', "LONG_BINGET", &Machine::Get, 4);
  Set(0x94, "MEMOIZE", &Machine::Memoize);
}

void OpcodeTable::AddValues() {
  Set('N', "NONE", &Machine::Constant, -1);
  Set(0x88, "NEWTRUE", &Machine::Constant, 1);
  Set(0x89, "NEWFALSE", &Machine::Constant, 0);
  Set('J', "BININT", &Machine::Integer, 4);
  Set('K', "BININT1", &Machine::Integer, 1);
  Set('M', "BININT2", &Machine::Integer, 2);
  Set(0x8a, "LONG1", &Machine::Long, 1);
  Set(0x8b, "LONG4", &Machine::Long, 4);
  Set('G', "BINFLOAT", &Machine::Real);
  Set('X', "BINUNICODE", &Machine::String, 4);
  Set(0x8c, "SHORT_BINUNICODE", &Machine::String, 1);
  Set(0x8d, "BINUNICODE8", &Machine::String, 8);
  Set('U', "SHORT_BINSTRING", &Machine::String, 1);
  Set('T', "BINSTRING", &Machine::String, 4);
  Set('B', "BINBYTES", &Machine::Bytes, 4);
  Set('C', "SHORT_BINBYTES", &Machine::Bytes, 1);
  Set(0x8e, "BINBYTES8", &Machine::Bytes, 8);
  Set(0x96, "BYTEARRAY8", &Machine::Bytes, 8);
  Set(')', "EMPTY_TUPLE", &Machine::Tuple, 0);
  Set(0x85, "TUPLE1", &Machine::Tuple, 1);
  Set(0x86, "TUPLE2", &Machine::Tuple, 2);
  Set(0x87, "TUPLE3", &Machine::Tuple, 3);
  Set('t', "TUPLE", &Machine::ToMark, static_cast<int>(PickleKind::kTuple));
  Set(']', "EMPTY_LIST", &Machine::Empty, static_cast<int>(PickleKind::kList));
  Set('}', "EMPTY_DICT", &Machine::Empty, static_cast<int>(PickleKind::kDict));
  Set(0x8f, "EMPTY_SET", &Machine::Empty, static_cast<int>(PickleKind::kSet));
  Set(0x91, "FROZENSET", &Machine::ToMark, static_cast<int>(PickleKind::kSet));
}

void OpcodeTable::AddRefused() {
  Set('2', "DUP"), Set('F', "FLOAT"), Set('I', "INT");
  Set('L', "LONG"), Set('P', "PERSID"), Set('S', "STRING"), Set('V', "UNICODE"), Set('d', "DICT");
  Set('g', "GET"), Set('i', "INST"), Set('l', "LIST"), Set('o', "OBJ"), Set('p', "PUT");
  Set(0x82, "EXT1"), Set(0x83, "EXT2"), Set(0x84, "EXT4");
  Set(0x97, "NEXT_BUFFER"), Set(0x98, "READONLY_BUFFER");
}

}  // namespace

Result<Pickle> PickleMachine::Run() {
  static const OpcodeTable kTable;
  const std::string& bytes = pickle_.bytes_;
  if (bytes.size() > kMaxPickleBytes) {
    return Unsupported(
        fmt::format("a pickle of {} bytes; expected at most {}", bytes.size(), kMaxPickleBytes),
        Where());
  }
  while (!stopped_) {
    opcode_at_ = position_;
    RETURN_IF_ERROR(Want(1));
    if (position_ == bytes.size()) return Refuse("the pickle ends; expected STOP before its end");
    const auto byte = static_cast<unsigned char>(bytes[position_++]);
    if (opcode_at_ == 0 && byte != 0x80) {
      return Refuse(
          fmt::format("begins with {:#04x}; expected PROTO (0x80), a pickle of protocol 2 "
                      "to 5",
                      byte));
    }
    const Opcode& opcode = kTable.rows[byte];
    if (opcode.name.empty()) return Refuse(fmt::format("{:#04x} is no pickle opcode", byte));
    if (opcode.run == nullptr) {
      return Unsupported(fmt::format("opcode {} ({:#04x}); expected one that protocol 2 to 5 need "
                                     "for plain data",
                                     opcode.name, byte),
                         Where());
    }
    const Status status = (this->*opcode.run)(opcode.argument);
    if (!status.ok()) {
      Error error = status.error();
      error.message = fmt::format("{}: {}", opcode.name, error.message);
      return error;
    }
  }
  return std::move(pickle_);
}

Result<Pickle> ParsePickleAtFront(std::string bytes, std::span<const std::string_view> globals,
                                  std::string_view where, std::size_t* size) {
  PickleMachine machine(std::move(bytes), globals, where);
  ASSIGN_OR_RETURN(Pickle pickle, machine.Run());
  *size = machine.position();
  return pickle;
}

Result<Pickle> ParsePickleStream(PickleStream* stream, std::span<const std::string_view> globals,
                                 std::string_view where, std::size_t* size) {
  PickleMachine machine(stream, globals, where);
  ASSIGN_OR_RETURN(Pickle pickle, machine.Run());
  *size = machine.position();
  return pickle;
}

Result<Pickle> ParsePickle(std::string bytes, std::span<const std::string_view> globals,
                           std::string_view where) {
  const std::size_t all = bytes.size();
  std::size_t size = 0;
  ASSIGN_OR_RETURN(Pickle pickle, ParsePickleAtFront(std::move(bytes), globals, where, &size));
  if (size == all) return pickle;
  return InvalidInput(fmt::format("{} bytes after STOP; expected none", all - size),
                      fmt::format("{}: byte {}", where, size));
}

}  // namespace rharness
