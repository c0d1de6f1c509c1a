// What a stranger's program may print into a name, a reason or a log.
#ifndef RHARNESS_TESTS_REPORTS_HOSTILE_H_
#define RHARNESS_TESTS_REPORTS_HOSTILE_H_

#include <string>
#include <vector>

namespace rharness {

inline std::vector<std::string> HostileTexts() {
  using namespace std::string_literals;
  return {
      "</script><script>alert(1)</script>",
      "<img src=x onerror=alert(1)>",
      "]]>",
      "--> <!--",
      "\x1b[31mred\x1b[0m \x1b]0;title\x07",
      "\"quotes\" 'single' `ticks` \\back",
      "abc\u202Egnp.exe\u2066\u2069",
      "\xff\xfe\xc3(\xe2\x82 \xf0\x9f \xed\xa0\x80"s,
      "nul\0inside"s,
      "| a | b |\n| - | - |",
      "@everyone #123 https://evil.example www.evil.example",
      "javascript:alert(1)",
      "../../../etc/passwd",
      "line\r\nbreaks\rand\ttabs\x0b\x0c",
      "{{7*7}} ${x} %s %n",
      "\uFFFE\uFEFF\u2028\u2029",
      "",
      std::string(1'000'000, 'a') + "<",
      std::string(100'000, '\xff'),
  };
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_HOSTILE_H_
