// A pickled value in words, so that it can be compared and shown without being constructed.
//
// Role: private to this folder; for values beside the tensors. Executes nothing.
#ifndef RHARNESS_COMPARE_WEIGHTS_PICKLE_TEXT_H_
#define RHARNESS_COMPARE_WEIGHTS_PICKLE_TEXT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "compare/weights/pickle.h"

namespace rharness {

inline constexpr std::size_t kMaxPickleTextBytes = 400;
inline constexpr std::size_t kMaxPickleTextSteps = std::size_t{1} << 22;  // 64 bytes of text each

struct PickleText {
  std::string text;            // UTF-8; a longer one is cut and ends with its size and SHA-256
  bool complete = true;        // false: too deep or too large; `text` covers a part of it
  bool holds_storage = false;  // contains an object outside of the pickle, such as a tensor's bytes
  bool holds_bytes = false;  // numbers of an unknown type: bytes that are no date, scalar or dtype
};

// The spelling of Python; a call by the names and arguments of the pickle: "pathlib.PosixPath('/',
// 'data')". Equal values have equal texts, whatever the protocol, the memo and the order of a set;
// unequal values have different texts, except bare strings, which have no quotes.
class PickleTexts {
 public:
  explicit PickleTexts(const Pickle& pickle) : pickle_(pickle) {}
  PickleText Of(PickleId id);

 private:
  void Append(PickleId id, int depth);
  void AppendAll(std::span<const PickleId> items, std::string_view brackets, int depth);
  void AppendSet(PickleId id, int depth);
  void AppendObject(PickleId id, int depth);
  void AppendText(PickleId id);
  void NoteBytes(std::size_t size);

  const Pickle& pickle_;
  std::size_t steps_ = 0;
  int told_ = 0;  // enclosing calls whose text is complete in one line
  PickleText result_;
};

// "<WHAT of N bytes, sha256 0123456789abcdef>": bytes shown by their digest.
std::string DigestText(std::string_view what, std::string_view bytes);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PICKLE_TEXT_H_
