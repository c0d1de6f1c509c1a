// A small HTML checker of the tests' own: balanced elements, quoted attributes, unique ids, and
// columns of numbers below heads that are aligned like them.
#ifndef RHARNESS_TESTS_REPORTS_HTML_CHECKER_H_
#define RHARNESS_TESTS_REPORTS_HTML_CHECKER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

struct HtmlFacts {
  std::string error;                    // empty when well formed
  std::map<std::string, int> elements;  // how often each one is opened
  std::vector<std::string> ids;
  std::vector<std::string> hrefs;
  std::vector<std::string> attribute_names;
  std::string text;  // outside script and style, still escaped
};

// Reads the subset of HTML that the report uses: lower-case names, every element closed but the
// void ones, attribute values in double quotes, no "<" in text.
HtmlFacts CheckHtml(std::string_view html);

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_HTML_CHECKER_H_
