// Pickles one after another in a file, with other bytes between them.
//
// Role: private to this folder; under the readers of PyTorch's files from before 1.6.
#ifndef RHARNESS_COMPARE_WEIGHTS_PICKLE_SEQUENCE_H_
#define RHARNESS_COMPARE_WEIGHTS_PICKLE_SEQUENCE_H_

#include <cstdint>
#include <span>
#include <string>

#include "compare/weights/input_file.h"
#include "compare/weights/pickle.h"
#include "harness/base/result.h"

namespace rharness {

class PickleSequence {
 public:
  // The bytes [begin, end) of `file`, which must outlive this object.
  PickleSequence(const InputFile& file, std::uint64_t begin, std::uint64_t end)
      : file_(file), position_(begin), end_(end) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return end_ - position_; }
  // Only the last opcode of a pickle shows where it ends, so this reads on until it is found.
  // Errors: those of ParsePickleAtFront and InputFile::ReadAt.
  Result<Pickle> Next();
  // Fills `out` with the bytes that follow. Errors: invalid_input if there are fewer, with
  // `expected`; those of ReadAt.
  Status Read(std::span<std::byte> out, std::string_view expected);
  // At most left().
  void Skip(std::uint64_t bytes) { position_ += bytes; }
  Error Refuse(std::string message) const;

 private:
  const InputFile& file_;
  std::uint64_t position_;
  std::uint64_t end_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PICKLE_SEQUENCE_H_
