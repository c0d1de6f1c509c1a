// `rharness compare`: what differs between two things, where first, how much, and why; where two
// runs part is in compare_trace.h.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/compare_trace.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/record_options.h"
#include "harness/cli/verb.h"
#include "harness/judge/comparison/bundle.h"
#include "harness/judge/comparison/compare_all.h"
#include "harness/judge/comparison/ranking.h"
#include "reports/comparison_report.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  std::string a;
  std::string b;
  std::string pairs;
  std::string ranking;  // a metric
  double least_tau = 0.8;
  std::vector<std::string> replicates;
  std::string rcp;
  double loss_margin = 0.0;  // percent; 0: not given
  std::vector<std::string> metrics;
  std::string root = ".";
  std::vector<std::string> prefixes;
  bool weights_only = false;
  std::string expect;
  std::string sampled_by;
  int threads = 0;
  bool json = false;
  std::string html;
  std::string junit;
  std::string markdown;
  std::string json_file;
  std::string bundle;
  TraceArguments trace;
};

constexpr std::uint64_t kBundledInputBytes = std::uint64_t{16} << 20;

// Indented, unless it is so large that nobody reads it and blanks are half of it: `report` takes at
// most 256 MiB.
std::string CompareJson(const ComparisonSet& set) {
  constexpr std::size_t kMostIndented = std::size_t{16} << 20;
  const Json json = ToJson(set);
  std::string text = json.Dump();
  return (text.size() > kMostIndented ? std::move(text) : json.Dump(2)) + "\n";
}

// The compared files themselves, where they are records and small: not checkpoints, and at most
// 16 MiB each.
void AddInputs(const ComparisonSet& set, const CompareArguments& arguments,
               std::vector<BundleMember>* members) {
  const auto add = [&](const std::string& path, const std::string& folder) {
    const auto text = ReadFile(path, kBundledInputBytes);
    if (!text.ok()) return;
    const std::string name = fs::path(path).filename().string();
    const bool plain = SafeRelativePath(name, path).ok();
    members->push_back({fmt::format("inputs/{}/{}", folder, plain ? name : "input"), *text});
  };
  if (set.comparisons.size() == 1) {
    const Comparison& comparison = set.comparisons.front();
    if (comparison.a.kind != SideKind::kCheckpoint) add(comparison.a.path, "a");
    if (comparison.b.kind != SideKind::kCheckpoint) add(comparison.b.path, "b");
  }
  for (std::size_t i = 0; i < arguments.replicates.size(); ++i) {
    add(arguments.replicates[i], fmt::format("replicate-{}", i + 1));
  }
}

Status WriteCompareBundle(const ComparisonSet& set, const CompareArguments& arguments) {
  const Document document = DocumentOf(set);
  std::vector<BundleMember> members = {{"report.html", WriteHtml(document)},
                                       {"comparison.json", CompareJson(set)},
                                       {"junit.xml", WriteJunit(document)},
                                       {"summary.md", WriteMarkdown(document)}};
  AddInputs(set, arguments, &members);
  RETURN_IF_ERROR(MakeFolderOf(arguments.bundle));
  return WriteBundle(arguments.bundle, members);
}

std::vector<Output> OutputsOf(const CompareArguments& arguments, const ComparisonSet& set) {
  return {{arguments.html, [&set] { return WriteHtml(DocumentOf(set)); }},
          {arguments.junit, [&set] { return WriteJunit(DocumentOf(set)); }},
          {arguments.markdown, [&set] { return WriteMarkdown(DocumentOf(set)); }},
          {arguments.json_file, [&set] { return CompareJson(set); }}};
}

Status Check(const CompareArguments& arguments) {
  std::vector<std::string> inputs = {arguments.a, arguments.b, arguments.rcp};
  inputs.insert(inputs.end(), arguments.replicates.begin(), arguments.replicates.end());
  RETURN_IF_ERROR(CheckOutputs(
      {arguments.bundle, arguments.html, arguments.junit, arguments.markdown, arguments.json_file},
      inputs, arguments.json));
  return arguments.bundle.empty() ? Status() : CheckBundlePath(arguments.bundle);
}

Result<ComparisonRequest> RequestOf(const CompareArguments& arguments) {
  ComparisonRequest request;
  const bool given = !arguments.a.empty() && !arguments.b.empty();
  const bool none = arguments.a.empty() && arguments.b.empty();
  if (arguments.pairs.empty() ? !given : !none) {
    return InvalidInput("expected two things to compare, A and B, or --pairs DIR alone",
                        "rharness compare");
  }
  RETURN_IF_ERROR(Check(arguments));
  request.a = arguments.a;
  request.b = arguments.b;
  request.pairs = arguments.pairs;
  request.replicates.assign(arguments.replicates.begin(), arguments.replicates.end());
  request.rcp = arguments.rcp;
  for (const std::string& text : arguments.metrics) {
    ASSIGN_OR_RETURN(const Metric metric, ParseMetric(text));
    if (!metric.margin) {
      return InvalidInput(fmt::format("expected NAME,margin=X, found '{}'", text), "--metric");
    }
    // Without a unit a metric is a pure number.
    const bool other_unit = !metric.unit.empty() && metric.unit != "1" && metric.unit != "nats";
    if (metric.name == "kl" && other_unit) {
      return InvalidInput(
          fmt::format("kl is in nats a token; expected unit=nats, found '{}'", text), "--metric");
    }
    request.compare.margins[metric.name] = *metric.margin;
  }
  if (arguments.loss_margin > 0.0) {
    request.compare.curves.margin = arguments.loss_margin / 100.0;
    request.compare.curves.margin_declared = true;
  }
  request.subject.root = arguments.root;
  request.subject.strip_prefixes = arguments.prefixes;
  if (!arguments.expect.empty()) request.compare.expect_bitwise = arguments.expect == "bitwise";
  if (!arguments.sampled_by.empty()) request.compare.sampled_by_b = arguments.sampled_by == "B";
  request.compare.weights_only = arguments.weights_only;
  request.compare.threads = arguments.threads;
  return request;
}

int Show(const ComparisonSet& set, const std::vector<Output>& outputs,
         const CompareArguments& arguments) {
  if (arguments.json) return Print(CompareJson(set));
  if (const Output* output = OnStdout(outputs)) return Print(output->make());
  if (Globals().quiet) {
    if (set.exit_code != kExitOk) {
      const auto worst = std::ranges::find_if(set.comparisons, [](const Comparison& comparison) {
        return ExitCodeOf({comparison.verdict}) != kExitOk;
      });
      LogError(fmt::format("{}: {}", VerdictName(worst->verdict), worst->headline));
    }
    return kExitOk;
  }
  constexpr int kGreenRows = 10;  // what agrees needs no causes and no context
  const int rows = ReportRows(STDOUT_FILENO);
  const bool short_one = set.exit_code == kExitOk && !Globals().verbose;
  return Print(WriteTerminal(DocumentOf(set), ReportColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO),
                             short_one ? std::min(rows, kGreenRows) : rows));
}

// Whether the runs of two folders rank the same by one metric.
int RunRanking(const CompareArguments& arguments) {
  if (arguments.a.empty() || arguments.b.empty() || !arguments.pairs.empty()) {
    return FailWith(InvalidInput("expected two folders of records, A and B", "--ranking"));
  }
  for (const std::string* other : {&arguments.html, &arguments.junit, &arguments.markdown,
                                   &arguments.bundle, &arguments.json_file}) {
    if (other->empty()) continue;
    return FailWith(
        InvalidInput("writes text, or with --json JSON; expected no other output", "--ranking"));
  }
  const auto ranking =
      CompareRankings(arguments.a, arguments.b, arguments.ranking, arguments.least_tau);
  if (!ranking.ok()) return FailWith(ranking.error());
  int shown = kExitOk;
  if (arguments.json) {
    shown = PrintJson(ToJson(*ranking));
  } else if (!Globals().quiet) {
    shown = Print(WriteTerminal(*ranking));
  } else if (ranking->exit_code != kExitOk) {
    LogError(ranking->headline);
  }
  return shown == kExitOk ? ranking->exit_code : shown;
}

int RunCompare(CompareArguments* given, Command* command) {
  const CompareArguments& arguments = *given;
  if (const Status status = CheckTrace(arguments.trace, *command); !status.ok()) {
    return FailWith(status.error());
  }
  if (arguments.trace.trace) {
    return RunTrace({.a = arguments.a,
                     .b = arguments.b,
                     .replicates = arguments.replicates,
                     .root = arguments.root,
                     .json = arguments.json},
                    &given->trace, command);
  }
  if (!arguments.ranking.empty()) return RunRanking(arguments);
  auto request = RequestOf(arguments);
  if (!request.ok()) return FailWith(request.error());
  ProgressLine progress(VerbProgress());
  const auto began = SystemClock().Monotonic();
  request->progress = [&](std::size_t done, std::size_t of, const std::string& pair) {
    const auto elapsed = SystemClock().Monotonic() - began;
    if (of > 1) progress.Show(CountProgress("pairs compared", done, of, elapsed, pair));
  };
  auto set = CompareAll(*request);
  progress.Clear();
  if (!set.ok()) return FailWith(set.error());
  set->made = SystemClock().Now();
  const std::vector<Output> outputs = OutputsOf(arguments, *set);
  Status written = WriteFiles(outputs);
  if (written.ok() && !arguments.bundle.empty()) written = WriteCompareBundle(*set, arguments);
  if (!written.ok()) return FailWith(written.error());
  const int shown = Show(*set, outputs, arguments);
  return shown == kExitOk ? set->exit_code : shown;
}

void AddInputOptions(Command* verb, CompareArguments* arguments) {
  verb->Add("A", &arguments->a,
            "Manifest, evidence, checkpoint, curves, an evaluation's items, log-probabilities of "
            "tokens, folder of MLPerf results, environment, fingerprint, or a folder of such files")
      .Path();
  verb->Add("B", &arguments->b, "The same of the other side; of two folders, equal names pair")
      .Path();
  verb->Add("--pairs", &arguments->pairs, "Compare before.* with after.* in every folder below DIR")
      .Folder();
  verb->Add("--ranking", &arguments->ranking,
            "Of two folders of manifests or evidence: do their runs rank the same by this metric? "
            "Kendall's tau with its interval")
      .Value("METRIC");
  verb->Add("--least-tau", &arguments->least_tau,
            "Of --ranking: kept where the interval lies at or above it, lost where it lies below")
      .Value("TAU")
      .Between(-1, 1)
      .ShowDefault();
  verb->Add("--replicate", &arguments->replicates,
            "A further run of A's configuration, or of A with one bit changed: how far rounding "
            "alone goes; may be repeated")
      .Path()
      .OneEach();
  verb->Add("--rcp", &arguments->rcp,
            "MLPerf reference convergence points, for the official checker's decision")
      .File();
  verb->Add("--loss-margin", &arguments->loss_margin,
            "How far off a loss may be where no further run and no accepted upgrade says it, in "
            "percent of the loss; 1 without it")
      .Value("PERCENT")
      .Between(1e-4, 100);
  verb->Add(
          "--metric", &arguments->metrics,
          "The difference that matters: of a metric of records, instead of the record's own; of "
          "evaluations with their items of a score or TASK/SCORE; of log-probabilities of kl, the "
          "divergence in nats a token; may be repeated")
      .Value("NAME,margin=X")
      .OneEach();
  verb->Add("--sampled-by", &arguments->sampled_by,
            "Of log-probabilities: the side that drew the tokens, where the files do not say it")
      .Choices({"A", "B"});
  verb->Add("--root", &arguments->root, "Where relative locations in manifests begin")
      .Folder()
      .ShowDefault();
  verb->Add("--strip-prefix", &arguments->prefixes,
            "Take this off tensor names, such as module.; may be repeated")
      .Value("PREFIX")
      .OneEach();
  verb->Add("--weights-only", &arguments->weights_only,
            "Of checkpoints with optimizer state, compare the weights alone");
  verb->Add("--expect", &arguments->expect,
            "bitwise: any differing bit is a drift; statistical: what matters is the bands. "
            "Without it: bitwise for checkpoints and for manifests that promise it")
      .Choices({"bitwise", "statistical"});
  verb->Add("--threads", &arguments->threads, "Threads to compare with; 0: one per core")
      .Between(0, 1024)
      .Env("RHARNESS_THREADS");
}

void AddOutputOptions(Command* verb, CompareArguments* arguments) {
  verb->Heading("Output");
  verb->Add("--json", &arguments->json,
            "Print rharness.comparison/v1 instead of text; with --trace rharness.onset/v1");
  verb->Add("--json-file", &arguments->json_file, "Write that JSON to a file as well").File();
  verb->Add("--html", &arguments->html, "Write a page with plots; - is stdout").File();
  verb->Add("--junit", &arguments->junit, "Write JUnit XML; - is stdout").File();
  verb->Add("--markdown", &arguments->markdown, "Write a step summary; - is stdout").File();
  verb->Add("--bundle", &arguments->bundle,
            "Write all of these, and the compared files of at most 16 MiB but for checkpoints, "
            "to FILE.tar.zst")
      .File();
}

}  // namespace

void AddCompare(Command& root) {
  Command& verb = root.AddVerb(
      "compare", "Compare A and B: what differs, where first, how much, the likely cause");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->trace.drill.out = "onset";
  arguments->trace.drill.drill.plan.slots.cpus = 0;
  AddInputOptions(&verb, arguments.get());
  AddTraceOptions(&verb, &arguments->trace);
  AddOutputOptions(&verb, arguments.get());
  verb.ExitCode(kExitOk, "identical or equivalent");
  verb.ExitCode(kExitDrift, "drifted");
  verb.ExitCode(kExitUsage, "usage or unreadable input");
  verb.ExitCode(kExitInconclusive, "inconclusive or not comparable");
  verb.ExitCode(kExitIntegrity, "a kept checkpoint is not the recorded one");
  verb.Example("rharness compare model-a.safetensors model-b.pt");
  verb.Example("rharness compare manifest.json out/runs/RUN/1/evidence.json --html report.html");
  verb.Example("rharness compare runs/ tonight/ --ranking test_accuracy");
  verb.Example("rharness compare trainer.npz served.jsonl --metric kl,margin=0.001");
  verb.Example("rharness compare --pairs golden/ --junit junit.xml");
  AddTraceNotes(&verb);
  verb.Do([arguments, &verb] { return RunCompare(arguments.get(), &verb); });
}

}  // namespace rharness
