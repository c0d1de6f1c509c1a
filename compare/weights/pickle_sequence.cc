// Reads more of a file until a pickle is whole.
#include "compare/weights/pickle_sequence.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/weights/torch_globals.h"

namespace rharness {

Error PickleSequence::Refuse(std::string message) const {
  return InvalidInput(std::move(message), fmt::format("{}: byte {}", file_.name(), position_));
}

Result<Pickle> PickleSequence::Next() {
  const std::string where = fmt::format("{}: pickle from byte {}", file_.name(), position_);
  for (std::uint64_t size = std::uint64_t{64} << 10;; size *= 8) {
    size = std::min({size, left(), std::uint64_t{kMaxPickleBytes}});
    std::string bytes(size, '\0');
    RETURN_IF_ERROR(file_.ReadAt(position_, std::as_writable_bytes(std::span(bytes))));
    std::size_t used = 0;
    Result<Pickle> pickle = ParsePickleAtFront(std::move(bytes), TorchGlobalNames(), where, &used);
    if (pickle.ok()) position_ += used;
    if (pickle.ok() || size == left() || size == kMaxPickleBytes) return pickle;
  }
}

Status PickleSequence::Read(std::span<std::byte> out, std::string_view expected) {
  if (out.size() > left()) return Refuse(fmt::format("it ends; expected {}", expected));
  RETURN_IF_ERROR(file_.ReadAt(position_, out));
  position_ += out.size();
  return {};
}

}  // namespace rharness
