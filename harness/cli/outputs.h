// What a verb writes beside what it prints: a file each, or stdout for "-".
#ifndef RHARNESS_HARNESS_CLI_OUTPUTS_H_
#define RHARNESS_HARNESS_CLI_OUTPUTS_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct Output {
  std::string path;  // empty: not asked for; "-": stdout
  std::function<std::string()> make;
};

// To be called before any work is done. `inputs` may hold empty paths; `stdout_taken`: something
// else goes to stdout already. Errors: invalid_input where an output would take the place of an
// input or of another output, is a folder, or has a file where a folder would have to be, or where
// two things would go to stdout; io where nothing can be written in its folder.
Status CheckOutputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                    bool stdout_taken);
// The paths of these.
std::vector<std::string> PathsOf(const std::vector<Output>& outputs);

// The path as it is from every folder: absolute, in normal form; as it is given where the current
// folder cannot be told.
std::filesystem::path FromAnywhere(const std::filesystem::path& path);
// "report: /srv/tonight/report.html\n", of what was written there.
std::string PlaceLine(std::string_view what, const std::filesystem::path& path);

// Makes the folder that `path` lies in where it is missing, and says so: it may be a slip.
Status MakeFolderOf(const std::filesystem::path& path);

// Writes those that go to files, each whole or not at all, in folders that are made where missing.
Status WriteFiles(const std::vector<Output>& outputs);
// The one that goes to stdout; nullptr: none.
const Output* OnStdout(const std::vector<Output>& outputs);

// What a verb prints of a report: an output that goes to stdout, or JSON, or text; with --quiet the
// headline alone, and only where there is something to do.
struct Told {
  std::string verb;  // "slo"
  std::string headline;
  int exit_code = 0;
  bool as_json = false;
  std::function<Json()> json;
  std::function<std::string()> text;
};
// Returns the exit code: the report's, or that of a failure to print.
int PrintReport(const std::vector<Output>& outputs, const Told& told);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_OUTPUTS_H_
