// A file of Python's pickle module, or of joblib's dump: one pickle, with raw arrays between its
// opcodes, perhaps deflated.
//
// Role: private to this folder; under sklearn_model. Executes nothing. zlib and gzip are inflated
// into memory; joblib's bz2, xz and lz4 are refused by name. Source: joblib/numpy_pickle.py
// (NumpyArrayWrapper: after its state the bytes of the array, or a further pickle if it has
// objects), joblib/compressor.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_JOBLIB_H_
#define RHARNESS_COMPARE_WEIGHTS_JOBLIB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "compare/weights/input_file.h"
#include "compare/weights/pickle.h"
#include "compare/weights/pickled_numpy.h"

namespace rharness {

// Limits of this reader.
inline constexpr std::uint64_t kMaxInflatedDump = std::uint64_t{512} << 20;
inline constexpr int kMaxNestedDumps = 8;

// The bytes of a dump: those of the file, or in memory.
struct DumpBytes {
  const InputFile* file = nullptr;            // outlives this
  std::shared_ptr<const std::string> memory;  // null: in the file
  std::uint64_t size_bytes = 0;

  Status Read(std::uint64_t offset, std::span<std::byte> out) const;  // within size_bytes
};

struct PickledDump {
  struct Placed {
    NumpyArray array;
    std::uint64_t offset = 0;  // of its bytes in the dump
  };
  Pickle pickle;
  std::map<PickleId, Placed> arrays;                         // by joblib's stand-ins
  std::map<PickleId, std::unique_ptr<PickledDump>> objects;  // arrays of objects, by the same
};

// Whether a file begins as a pickle of protocol 2 to 5, or as zlib or gzip that inflate to one.
// Errors: those of InputFile::ReadAt.
Result<bool> LooksLikeDump(const InputFile& file);

// Inflates the file if it is deflated. Errors: unsupported (above the limit), invalid_input.
Result<DumpBytes> OpenDump(const InputFile& file);

// Errors: those of ParsePickle; invalid_input (an array beyond the end, bytes after the end).
Result<PickledDump> ReadDump(const DumpBytes& bytes);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_JOBLIB_H_
