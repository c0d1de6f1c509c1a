// The bytes of a pickle that are fetched as its opcodes need them, with other bytes between them.
//
// Role: private to this folder; how joblib's dumps, which have raw arrays after some objects, reach
// the pickle machine.
#ifndef RHARNESS_COMPARE_WEIGHTS_PICKLE_STREAM_H_
#define RHARNESS_COMPARE_WEIGHTS_PICKLE_STREAM_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "compare/weights/pickle.h"
#include "harness/base/result.h"

namespace rharness {

class PickleStream {
 public:
  virtual ~PickleStream() = default;
  // Appends at least `size` further bytes to `bytes`, or as many as there are.
  virtual Status Feed(std::string* bytes, std::size_t size) = 0;
  // After BUILD gave `object` its state. Bytes from `position` on are not taken yet: what does not
  // belong to the pickle may be removed from there on, and skipped in what Feed appends.
  virtual Status AfterBuild(const Pickle& pickle, PickleId object, std::string* bytes,
                            std::size_t position) = 0;
};

// As ParsePickleAtFront. Offsets count the bytes that were fed and not removed.
Result<Pickle> ParsePickleStream(PickleStream* stream, std::span<const std::string_view> globals,
                                 std::string_view where, std::size_t* size);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PICKLE_STREAM_H_
