// Cases, results and totals of JUnit files, for every writer of one.
//
// Role: private to the JUnit writers; the only header here that names pugixml. Limits kept: at most
// 10,000 cases and about 20 MB a file, no text above 1 MB (GitLab's parser breaks beyond).
#ifndef RHARNESS_REPORTS_JUNIT_PARTS_H_
#define RHARNESS_REPORTS_JUNIT_PARTS_H_

#include <array>
#include <map>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "compare/facts.h"
#include "compare/verdict.h"
#include "harness/base/clock.h"

namespace rharness {

inline constexpr std::size_t kMostJunitCases = 10'000;

enum class JunitKind { kPassed, kFailure, kError, kSkipped };
JunitKind KindOf(Verdict verdict);

// A file with one suite in it.
struct JunitDocument {
  JunitDocument();
  pugi::xml_document document;
  pugi::xml_node root;
  pugi::xml_node suite;
};

// Bytes that the body of each of `cases` cases may take.
std::size_t JunitBodyBytes(std::size_t cases);

void AddProperty(pugi::xml_node properties, const char* name, std::string_view value);
pugi::xml_node AddCase(pugi::xml_node suite, const std::string& family, const std::string& name,
                       double seconds);
// The result element with its body, which is all that GitLab shows; system-out for what passed.
void SetResult(pugi::xml_node test, JunitKind kind, Verdict verdict, std::string_view headline,
               const std::string& body);

// The one failing case of a file whose exit code is no success although no case fails.
void AddAnswerCase(pugi::xml_node suite, const std::string& name, const char* type,
                   const std::string& answer, const std::string& next_step);

// Names made safe and unique: viewers drop the second case of one name.
class UniqueNames {
 public:
  std::string Of(std::string_view name);

 private:
  std::map<std::string, int> seen_;
};

// "TITLE:" and a line for every fact that differs; empty without any.
std::string DifferenceLines(std::string_view title, const std::array<LayerComparison, 5>& layers);

// Sets the totals and returns the file. Seconds below 0 count as 0.
std::string FinishJunit(JunitDocument* junit, const char* name, double seconds, WallTime stamp);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_JUNIT_PARTS_H_
