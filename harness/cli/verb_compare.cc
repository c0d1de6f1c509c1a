// `rharness compare`: what differs between two things, where first, how much, and why.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/comparison/bundle.h"
#include "harness/comparison/compare_all.h"
#include "reports/comparison_report.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  std::vector<std::string> paths;
  std::string pairs;
  std::vector<std::string> replicates;
  std::string rcp;
  std::string root = ".";
  std::vector<std::string> prefixes;
  std::string expect;
  int jobs = 0;
  bool json = false;
  std::string html;
  std::string junit;
  std::string markdown;
  std::string json_file;
  std::string bundle;
};

constexpr std::uint64_t kBundledInputBytes = std::uint64_t{16} << 20;

Result<ComparisonRequest> RequestOf(const CompareArguments& arguments) {
  ComparisonRequest request;
  const bool two = arguments.paths.size() == 2;
  if (arguments.pairs.empty() ? !two : !arguments.paths.empty()) {
    return InvalidInput("expected two things to compare, A and B, or --pairs DIR alone",
                        "rharness compare");
  }
  if (two) request.a = arguments.paths[0], request.b = arguments.paths[1];
  request.pairs = arguments.pairs;
  request.replicates.assign(arguments.replicates.begin(), arguments.replicates.end());
  request.rcp = arguments.rcp;
  request.subject.root = arguments.root;
  request.subject.strip_prefixes = arguments.prefixes;
  if (!arguments.expect.empty()) request.compare.expect_bitwise = arguments.expect == "bitwise";
  request.compare.threads = arguments.jobs;
  return request;
}

std::string CompareJson(const ComparisonSet& set) { return ToJson(set).Dump(2) + "\n"; }

// A's and B's own files beside the reports, where they are records rather than gigabytes.
void AddInputs(const ComparisonSet& set, std::vector<BundleMember>* members) {
  if (set.comparisons.size() != 1) return;
  const Comparison& comparison = set.comparisons.front();
  const auto add = [&](const ComparedSide& side, std::string_view folder) {
    const auto text = ReadFile(side.path, kBundledInputBytes);
    if (side.kind == "checkpoint" || !text.ok()) return;
    members->push_back(
        {fmt::format("inputs/{}/{}", folder, fs::path(side.path).filename().string()), *text});
  };
  add(comparison.a, "a");
  add(comparison.b, "b");
}

Status WriteCompareBundle(const ComparisonSet& set, const std::string& path) {
  std::vector<BundleMember> members = {{"report.html", WriteHtml(set)},
                                       {"comparison.json", CompareJson(set)},
                                       {"junit.xml", WriteJunit(set)},
                                       {"summary.md", WriteMarkdown(set)}};
  AddInputs(set, &members);
  return WriteBundle(path, members);
}

Status WriteOutputs(const ComparisonSet& set, const CompareArguments& arguments) {
  struct Output {
    const std::string& path;
    std::string (*write)(const ComparisonSet&);
  };
  for (const Output& output : {Output{arguments.html, WriteHtml},
                               {arguments.junit, WriteJunit},
                               {arguments.markdown, WriteMarkdown},
                               {arguments.json_file, CompareJson}}) {
    if (!output.path.empty()) RETURN_IF_ERROR(WriteFileAtomic(output.path, output.write(set)));
  }
  if (!arguments.bundle.empty()) RETURN_IF_ERROR(WriteCompareBundle(set, arguments.bundle));
  return {};
}

int Show(const ComparisonSet& set, const CompareArguments& arguments) {
  if (arguments.json) return Print(CompareJson(set));
  if (Globals().quiet) {
    if (set.exit_code != kExitOk) {
      const auto worst = std::ranges::find_if(set.comparisons, [](const Comparison& comparison) {
        return ExitCodeOf({comparison.verdict}) != kExitOk;
      });
      LogError(fmt::format("{}: {}", VerdictName(worst->verdict), worst->headline));
    }
    return kExitOk;
  }
  return Print(WriteTerminal(set, TerminalColumns(STDOUT_FILENO), TerminalRows(STDOUT_FILENO),
                             ColorOn(STDOUT_FILENO)));
}

int RunCompare(const CompareArguments& arguments) {
  auto request = RequestOf(arguments);
  if (!request.ok()) return FailWith(request.error());
  ProgressLine progress;
  request->progress = [&](std::size_t done, std::size_t of) {
    if (of > 1) progress.Show(fmt::format("{}/{} pairs compared", done, of));
  };
  auto set = CompareAll(*request);
  progress.Clear();
  if (!set.ok()) return FailWith(set.error());
  set->made = SystemClock().Now();
  if (const Status written = WriteOutputs(*set, arguments); !written.ok()) {
    return FailWith(written.error());
  }
  const int shown = Show(*set, arguments);
  return shown == kExitOk ? set->exit_code : shown;
}

void AddInputOptions(CLI::App* verb, CompareArguments* arguments) {
  verb->add_option("path", arguments->paths,
                   "A and B: manifests, evidence, checkpoints, curves, MLPerf result folders, "
                   "environments, fingerprints, or two folders of such files with the same names")
      ->expected(0, 2);
  verb->add_option("--pairs", arguments->pairs,
                   "Compare before.* with after.* in every folder below DIR")
      ->type_name("DIR");
  verb->add_option("--replicate", arguments->replicates,
                   "A further run of A's configuration, or of A with one bit changed: how far "
                   "rounding alone goes; may be repeated")
      ->type_name("PATH")
      ->expected(1);
  verb->add_option("--rcp", arguments->rcp,
                   "MLPerf reference convergence points, for the official checker's decision")
      ->type_name("FILE");
  verb->add_option("--root", arguments->root, "Where relative locations in manifests begin")
      ->type_name("DIR")
      ->capture_default_str();
  verb->add_option("--strip-prefix", arguments->prefixes,
                   "Take this off tensor names, such as module.; may be repeated")
      ->type_name("PREFIX")
      ->expected(1);
  verb->add_option("--expect", arguments->expect,
                   "bitwise: any differing bit is a drift; statistical: what matters is the bands. "
                   "Without it: bitwise for checkpoints and for manifests that promise it")
      ->check(CLI::IsMember({"bitwise", "statistical"}));
  verb->add_option("-j,--jobs", arguments->jobs, "Threads; 0 is one a core")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
}

void AddOutputOptions(CLI::App* verb, CompareArguments* arguments) {
  verb->add_flag("--json", arguments->json, "Print rharness.comparison/v1 instead of text");
  verb->add_option("--json-file", arguments->json_file, "Write that JSON to a file as well");
  verb->add_option("--html", arguments->html, "Write a page with plots");
  verb->add_option("--junit", arguments->junit, "Write JUnit XML");
  verb->add_option("--markdown", arguments->markdown, "Write a step summary");
  verb->add_option("--bundle", arguments->bundle,
                   "Write all of these and the small inputs to FILE.tar.zst");
}

}  // namespace

void AddCompare(CLI::App& app, Action* action) {
  auto* verb = app.add_subcommand(
      "compare", "Says what differs between A and B, where first, how much, and the likely cause");
  verb->footer(
      "Exit codes: 0 identical or equivalent, 1 drifted, 2 usage or unreadable input,\n"
      "3 inconclusive or not comparable, 5 a kept checkpoint is not the recorded one.\n\n"
      "Examples:\n"
      "  rharness compare model-a.safetensors model-b.pt\n"
      "  rharness compare manifest.json out/runs/RUN/1/evidence.json --html report.html\n"
      "  rharness compare --pairs golden/ --junit junit.xml");
  auto arguments = std::make_shared<CompareArguments>();
  AddInputOptions(verb, arguments.get());
  AddOutputOptions(verb, arguments.get());
  verb->callback([arguments, action] { *action = [arguments] { return RunCompare(*arguments); }; });
}

}  // namespace rharness
