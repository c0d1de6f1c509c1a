// The rules of the source tree that a program can check.
//
// Role: pure functions from a file's path and text to violations; house_test.cc reads the tree and
// applies them. Not here: what clang-format and clang-tidy check.
#ifndef RHARNESS_TESTS_HOUSE_RULES_H_
#define RHARNESS_TESTS_HOUSE_RULES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

struct Violation {
  std::string path;
  int line = 1;  // from 1
  std::string message;

  std::string ToString() const;  // "path:line: message"
};

using Violations = std::vector<Violation>;

// A C++ or CUDA file, by its extension.
bool IsCode(std::string_view path);

// `text` with comments, the contents of string and character literals (raw ones too) and
// preprocessor lines turned to spaces. Lines keep their numbers.
std::string StripCode(std::string_view text);

// Each check takes the path relative to the source directory, with '/'.

// C++ files: at most 150 lines in a header and 400 in a source, and a comment to begin with.
Violations CheckShape(std::string_view path, std::string_view text);

// The guard of harness/base/json.h is RHARNESS_HARNESS_BASE_JSON_H_. Headers only.
Violations CheckGuard(std::string_view path, std::string_view text);

// Who may include whom: the table of house_rules.cc, which harness/README.md explains. Nothing
// includes tests but tests.
Violations CheckFloors(std::string_view path, std::string_view text);

// A library behind a fence is included by the files of its fence alone; tests may use what they
// compare with. <format> and <iostream> are
// included nowhere: fmt prints.
Violations CheckFences(std::string_view path, std::string_view text);

// Functions of at most 60 lines, from the line where the declaration starts to the closing brace.
// An estimate from matching braces: a brace after a parameter list opens a function.
Violations CheckFunctions(std::string_view path, std::string_view text);

// Any text file: no note of work left to do, no folder of somebody's machine.
Violations CheckWords(std::string_view path, std::string_view text);

// Comments name files that are there. `names`: of all files, without their folders; those of others
// (sqlite3.h) are listed.
Violations CheckComments(std::string_view path, std::string_view text,
                         const std::set<std::string>& names);

// A folder's README: at most 60 lines of 120 columns (README.md at the top: the columns alone), and
// every header or source that it names in backquotes is among `files`, beside the README, below it,
// or by its path from the root.
Violations CheckReadme(std::string_view path, std::string_view text,
                       const std::vector<std::string>& files);

// Headers but those of tests, by path: one word per idea. A type that two headers define in one
// namespace is two types to the compiler and one to the linker, which takes either's functions. A
// function with the name of a type hides the type where both are included.
Violations CheckTypes(const std::map<std::string, std::string>& tree);

// Headers and sources: a function in an unnamed namespace has the signature of none that a header
// of its folder declares. Sources are compiled several at a time, and it would silently take that
// one's place in the others.
Violations CheckHidden(const std::map<std::string, std::string>& tree);

// Headers and sources: a noun has one list of members (harness/base/json_members.h). Of two, the
// linker takes one for both, without a word, where one class runs both, as that of schemas does.
Violations CheckMemberLists(const std::map<std::string, std::string>& tree);

// Every folder of sources holds a README.md. The folders of tests mirror the tree and share theirs.
Violations CheckFolders(const std::vector<std::string>& files);

}  // namespace rharness

#endif  // RHARNESS_TESTS_HOUSE_RULES_H_
