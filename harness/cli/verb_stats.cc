// rharness stats: the statistics as a calculator, one method at a time.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "compare/methods/methods.h"
#include "harness/base/files.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;
constexpr char kStatsHelp[] =
    "Runs one statistical method on a JSON object of inputs and prints {\"expected\": {...}}. "
    "`rharness stats --list` names the methods and their inputs.";

struct StatsOptions {
  std::string method;
  std::string file;
  bool list = false;
  bool json = false;
};

Error TooLong(const std::string& source) {
  return InvalidInput(
      fmt::format("more than {} bytes; expected one object of inputs", kMaxInputBytes), source);
}

Result<std::string> ReadStdin() {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t size = ::read(STDIN_FILENO, block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return IoErrorFromErrno("cannot read", errno, "stdin");
    if (size == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(size));
    if (text.size() > kMaxInputBytes) return TooLong("stdin");
  }
}

Result<std::string> ReadInputText(const std::string& file) {
  return file.empty() || file == "-" ? ReadStdin() : ReadFile(file, kMaxInputBytes);
}

std::string LinesOf(const Method& method) {
  std::string text = fmt::format("{}\n    {}\n", method.name, method.description);
  for (const InputSpec& input : method.inputs) {
    text += fmt::format("      {}{}: {}; {}\n", input.name, input.required ? "" : " (optional)",
                        input.meaning, input.Expected());
  }
  return text;
}

Json JsonOf(const Method& method) {
  Json inputs = Json::MakeArray();
  for (const InputSpec& input : method.inputs) {
    inputs.Append(Json::MakeObject({{"name", input.name},
                                    {"meaning", input.meaning},
                                    {"expected", input.Expected()},
                                    {"required", input.required}}));
  }
  return Json::MakeObject(
      {{"name", method.name}, {"description", method.description}, {"inputs", std::move(inputs)}});
}

int ListMethods(bool as_json) {
  if (as_json) {
    Json methods = Json::MakeArray();
    for (const Method& method : Methods()) methods.Append(JsonOf(method));
    return PrintJson(Json::MakeObject(
        {{"schema", "rharness.stats_methods/v1"}, {"methods", std::move(methods)}}));
  }
  std::string text;
  for (const Method& method : Methods()) text += LinesOf(method);
  return Print(text);
}

// An error of the inputs says which file they came from.
Error In(const std::string& source, Error error) {
  error.where = error.where.empty() ? source : source + ": " + error.where;
  return error;
}

int RunStats(const StatsOptions& options) {
  if (options.list) return ListMethods(options.json);
  if (options.method.empty()) {
    return FailWith(InvalidInput("no METHOD; expected a name from `rharness stats --list`"));
  }
  if (FindMethod(options.method) == nullptr) {
    // Before anything is read: a mistyped name on a terminal should not wait for inputs.
    return FailWith(RunMethod(options.method, Json()).error());
  }
  const std::string source = options.file.empty() || options.file == "-" ? "stdin" : options.file;
  const Result<std::string> text = ReadInputText(options.file);
  if (!text.ok()) return FailWith(text.error());
  const Result<Json> inputs = ParseJson(*text, source);
  if (!inputs.ok()) return FailWith(inputs.error());
  Result<Json> results = RunMethod(options.method, *inputs);
  if (!results.ok()) return FailWith(In(source, results.error()));
  return PrintJson(Json::MakeObject({{"expected", std::move(*results)}}));
}

}  // namespace

void AddStats(Command& root) {
  auto options = std::make_shared<StatsOptions>();
  Command& verb = root.AddVerb("stats", "Run one statistical method on a JSON object of inputs");
  verb.Describe(kStatsHelp);
  verb.Add("METHOD", &options->method, "Name of the method");
  verb.Add("--in", &options->file, "File of inputs; stdin without it").File();
  verb.Add("--list", &options->list, "List all methods with their inputs and units");
  verb.Add("--json", &options->json, "List as JSON (results always are)");
  verb.ExitCode(kExitOk, "computed");
  verb.ExitCode(kExitUsage, "unknown method or invalid inputs");
  verb.Example("rharness stats --list");
  verb.Example("rharness stats welch_t --in inputs.json");
  verb.Do([options] { return RunStats(*options); });
}

}  // namespace rharness
