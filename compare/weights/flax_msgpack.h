// flax's checkpoints in MessagePack: flax.serialization.to_bytes and msgpack_serialize.
//
// Role: one reader of Checkpoint. A leaf of the tree is a tensor, named by its path
// ("params/dense/kernel", "opt_state/0/mu/dense/kernel"). Only the frame is read when a file is
// opened; elements stay in the file. Arrays in chunks (leaves of more than 1 GB) are joined.
//
//   leaf                               becomes
//   array, or numpy's scalar           a tensor of its dtype
//   int, float, bool, complex          a scalar tensor: I64 (U64 above 2^63 - 1), F64, BOOL, C128
//   text, bytes                        an unread part that decides
//   nil, an empty map                  nothing
//
// Source: flax/serialization.py (extension types 1 to 3, chunked arrays), and the MessagePack
// specification, https://github.com/msgpack/msgpack/blob/master/spec.md.
#ifndef RHARNESS_COMPARE_WEIGHTS_FLAX_MSGPACK_H_
#define RHARNESS_COMPARE_WEIGHTS_FLAX_MSGPACK_H_

#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Limits of this reader.
inline constexpr std::size_t kMaxMsgpackDepth = 64;
inline constexpr std::size_t kMaxMsgpackPathBytes = std::size_t{1} << 16;
inline constexpr std::size_t kMaxMsgpackTextBytes = std::size_t{16} << 20;  // of all texts together

// Whether a file's first bytes are those of a map whose first key is a text.
bool LooksLikeMsgpack(std::string_view head);

// Errors: invalid_input (malformed, with the byte offset), unsupported (an extension type or dtype
// that flax does not write, a limit above), io, integrity.
Result<std::unique_ptr<Checkpoint>> OpenFlaxMsgpack(InputFile file);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_FLAX_MSGPACK_H_
