// Finds where each member of a JSON object begins and ends.
#include "compare/weights/json_members.h"

namespace rharness {

bool JsonMembers::Fail(std::string_view expected) {
  error_ = JsonMembersError{position_, expected};
  return false;
}

void JsonMembers::SkipSpace() {
  while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++position_;
}

bool JsonMembers::Expect(char c, std::string_view expected) {
  if (Peek() != c) return Fail(expected);
  ++position_;
  return true;
}

bool JsonMembers::SkipString() {
  if (!Expect('"', "expected a string in double quotes")) return false;
  while (position_ < text_.size()) {
    const char c = text_[position_++];
    if (c == '"') return true;
    if (c == '\\') ++position_;
  }
  position_ = text_.size();
  return Fail("expected the end of a string");
}

bool JsonMembers::SkipNested() {
  int depth = 0;
  do {
    const char c = Peek();
    if (c == '"') {
      if (!SkipString()) return false;
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxDepth) return Fail("expected at most 8 levels of nesting");
    if (position_ >= text_.size()) return Fail("expected the end of an array or object");
    ++position_;
  } while (depth > 0);
  return true;
}

bool JsonMembers::SkipValue() {
  const char first = Peek();
  if (first == '"') return SkipString();
  if (first == '[' || first == '{') return SkipNested();
  const std::size_t end = text_.find_first_of(",}] \t\r\n", position_);
  if (end == position_ || position_ >= text_.size()) return Fail("expected a value");
  position_ = end == std::string_view::npos ? text_.size() : end;
  return true;
}

std::optional<JsonMember> JsonMembers::Next() {
  const bool first = !started_;
  started_ = true;
  if (first && !Expect('{', "expected '{'")) return std::nullopt;
  SkipSpace();
  if (Peek() == '}') {
    ++position_;
    return std::nullopt;
  }
  if (!first && !Expect(',', "expected ',' or '}'")) return std::nullopt;
  SkipSpace();
  const std::size_t key_begin = position_;
  if (!SkipString()) return std::nullopt;
  const std::string_view key = text_.substr(key_begin, position_ - key_begin);
  SkipSpace();
  if (!Expect(':', "expected ':'")) return std::nullopt;
  SkipSpace();
  const std::size_t value_begin = position_;
  if (!SkipValue()) return std::nullopt;
  return JsonMember{key, text_.substr(value_begin, position_ - value_begin)};
}

}  // namespace rharness
