// Characters and words, for the readers of this folder.
#ifndef RHARNESS_HARNESS_RECORDS_LINT_WORDS_H_
#define RHARNESS_HARNESS_RECORDS_LINT_WORDS_H_

#include <cctype>
#include <string>
#include <string_view>

namespace rharness {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// ASCII letters in lower case.
inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LINT_WORDS_H_
