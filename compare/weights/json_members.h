// The members of a JSON object one at a time, as slices of its text.
//
// Role: a safetensors header may have 100 MB; a tree of it would take gigabytes. The slices go to
// ParseJson one by one, so memory follows the largest member. Not here: the validity of a slice's
// content.
#ifndef RHARNESS_COMPARE_WEIGHTS_JSON_MEMBERS_H_
#define RHARNESS_COMPARE_WEIGHTS_JSON_MEMBERS_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace rharness {

struct JsonMember {
  std::string_view key;    // with its quotes
  std::string_view value;  // without surrounding white space
};

// Broken structure between the members, at an offset in the text.
struct JsonMembersError {
  std::size_t offset = 0;
  std::string_view expected;  // "expected ':'"
};

class JsonMembers {
 public:
  static constexpr int kMaxDepth = 8;  // of arrays and objects in a value

  // `text` must outlive this object.
  explicit JsonMembers(std::string_view text) : text_(text) {}

  // The next member; empty at the closing brace and at an error.
  std::optional<JsonMember> Next();
  const std::optional<JsonMembersError>& error() const { return error_; }
  // One past the closing brace, once Next has returned empty without an error.
  std::size_t end() const { return position_; }

 private:
  char Peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void SkipSpace();
  bool Expect(char c, std::string_view expected);
  bool SkipString();
  bool SkipNested();
  bool SkipValue();
  bool Fail(std::string_view expected);

  std::string_view text_;
  std::size_t position_ = 0;
  bool started_ = false;
  std::optional<JsonMembersError> error_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_JSON_MEMBERS_H_
