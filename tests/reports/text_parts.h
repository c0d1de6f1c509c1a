// What tests look for in a written text.
#ifndef RHARNESS_TESTS_REPORTS_TEXT_PARTS_H_
#define RHARNESS_TESTS_REPORTS_TEXT_PARTS_H_

#include <cstddef>
#include <string_view>

namespace rharness {

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline int CountOf(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_TEXT_PARTS_H_
