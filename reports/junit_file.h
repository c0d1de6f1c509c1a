// A JUnit file as cases with results, for every writer of one.
//
// Role: private to the JUnit writers; junit_file.cc alone knows XML. Limits kept: at most 10,000
// cases and about 20 MB per file, no text above 1 MB (GitLab's parser breaks beyond).
#ifndef RHARNESS_REPORTS_JUNIT_FILE_H_
#define RHARNESS_REPORTS_JUNIT_FILE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/verdict/verdict.h"

namespace rharness {

inline constexpr std::size_t kMostJunitCases = 10'000;

enum class JunitKind { kPassed, kFailure, kError, kSkipped };
JunitKind KindOf(Verdict verdict);

using JunitProperties = std::vector<std::pair<std::string, std::string>>;

struct JunitCase {
  std::string classname;
  std::string name;
  JunitKind kind = JunitKind::kPassed;
  Verdict verdict = Verdict::kIdentical;
  std::string_view type = {};  // of a failure or an error; empty: the verdict's name
  std::string message;
  std::string body;  // all that GitLab shows; made safe line by line; system-out of passed cases
  double seconds = 0.0;
  JunitProperties properties;
};

struct JunitFile {
  std::string name;
  WallTime stamp{};      // the epoch: not known
  double seconds = 0.0;  // below 0 counts as 0
  JunitProperties properties;
  std::vector<JunitCase> cases;
};

// Bytes that the body of each of `cases` cases may take.
std::size_t JunitBodyBytes(std::size_t cases);
bool Fails(const JunitCase& test);  // a failure or an error
// The one failing case of a file with a failing exit code and no failing case.
JunitCase AnswerCase(std::string name, const std::string& answer, const std::string& next_step);
// The file as XML. Names, messages and properties are made safe, names unique (viewers drop the
// second case of one name), bodies cut to JunitBodyBytes.
std::string WriteJunitFile(const JunitFile& file);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_JUNIT_FILE_H_
