// `rharness probe endpoint`: fingerprints the answers of a served model.
#include "harness/cli/probe_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/shown_url.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "probes/endpoint/findings.h"

namespace rharness {
namespace {

constexpr char kTokenVariable[] = "RHARNESS_ENDPOINT_TOKEN";
constexpr char kCertificatesVariable[] = "RHARNESS_ENDPOINT_CERTIFICATES";
constexpr std::uint64_t kMostPromptBytes = 16 << 20;

struct EndpointArguments {
  std::string url;
  std::string prompts;
  std::string model;
  bool chat = false;
  int max_tokens = 64;
  int repeats = 10;
  int jobs = 8;
  double timeout_seconds = 120.0;
  std::string out;
};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// An answer of so many tokens needs far less, and a hostile one gets no more.
std::uint64_t MostBytesOf(const std::vector<EndpointPrompt>& prompts) {
  int most = 0;
  for (const EndpointPrompt& prompt : prompts) most = std::max(most, prompt.max_tokens);
  return (std::uint64_t{256} << 10) + (std::uint64_t{2} << 10) * static_cast<std::uint64_t>(most);
}

EndpointOptions OptionsOf(const EndpointArguments& arguments,
                          const std::vector<EndpointPrompt>& prompts) {
  EndpointOptions options;
  options.url = arguments.url;
  options.model = arguments.model;
  options.credentials.token = Variable(kTokenVariable);
  options.certificates = Variable(kCertificatesVariable);
  options.limits.request =
      std::chrono::milliseconds(static_cast<std::int64_t>(arguments.timeout_seconds * 1000.0));
  options.limits.response_bytes = MostBytesOf(prompts);
  options.limits.attempts = 3;
  options.limits.longest_wait = std::chrono::minutes(1);
  options.interrupted = Interrupted;
  return options;
}

Json FingerprintJson(const EndpointAnswers& answers, const EndpointFingerprint& judged,
                     WallTime made, double seconds) {
  const Json context = Json()
                           .Set("made", FormatTime(made))
                           .Set("url", ShownUrl(answers.base))
                           .Set("requests", answers.requests)
                           .Set("seconds", seconds);
  return Json()
      .Set("schema", "rharness.fingerprint/v1")
      .Set("stack", Json().Set("endpoint", judged.endpoint))
      .Set("suite", "ok")
      .Set("repeats", Json().Set("in_process", answers.repeats).Set("processes", 1))
      .Set("context", context)
      .Set("probes", judged.probes);
}

Result<EndpointAnswers> Measure(const EndpointArguments& arguments,
                                std::vector<EndpointPrompt> prompts) {
  const EndpointOptions options = OptionsOf(arguments, prompts);
  ProgressLine line(VerbProgress());
  const auto begun = std::chrono::steady_clock::now();
  EndpointPlan plan{
      .repeats = arguments.repeats,
      .at_a_time = arguments.jobs,
      .nonce = (std::uint64_t{std::random_device()()} << 32) | std::random_device()()};
  plan.progress = [&](std::string_view stage, std::size_t done, std::size_t of) {
    line.Show(CountProgress("answers", done, of, std::chrono::steady_clock::now() - begun, stage));
  };
  CountInterrupts();
  return MeasureEndpoint(options, std::move(prompts), plan);
}

// What a reader wants first: can the answers be relied upon?
std::string TextOf(const EndpointAnswers& answers, const EndpointFingerprint& judged) {
  std::string text =
      fmt::format("{}: {} prompt{}, {} answers\n", answers.identity.model, answers.prompts.size(),
                  answers.prompts.size() == 1 ? "" : "s", answers.requests);
  for (const EndpointFinding& finding : judged.findings) text += finding.sentence + "\n";
  if (judged.findings.empty() && judged.failed == 0) {
    text += fmt::format(
        "deterministic{}: every prompt got one answer{} in {} repeats, alone, in other orders, "
        "with and without a cached prefix{}\n",
        answers.at_a_time > 1 ? " and batch invariant" : "",
        answers.logprobs ? " with one set of log-probabilities" : "", answers.repeats,
        answers.at_a_time > 1 ? fmt::format(", and beside up to {} others", answers.at_a_time - 1)
                              : "");
  }
  if (!answers.without_logprobs.empty()) {
    text += fmt::format("note: only the text is compared, for {}\n", answers.without_logprobs);
  }
  if (judged.failed > 0) {
    text += fmt::format("{} case{} failed, first {}\n", judged.failed,
                        judged.failed == 1 ? "" : "s", judged.first_failed);
  }
  return TerminalSafe(text);
}

int ExitCodeOf(const EndpointFingerprint& judged) {
  const auto is_open = [](const EndpointFinding& one) {
    return one.kind == EndpointFindingKind::kOpen || one.kind == EndpointFindingKind::kChanged ||
           one.kind == EndpointFindingKind::kStored;
  };
  if (!std::ranges::all_of(judged.findings, is_open)) return kExitDrift;
  if (judged.failed > 0) return kExitInfrastructure;
  return judged.findings.empty() ? kExitOk : kExitInconclusive;
}

// The fingerprint goes to the file or to stdout, and the text to the other.
int Deliver(const EndpointArguments& arguments, const Json& json, const std::string& text,
            int exit_code) {
  const bool quiet = Globals().quiet && exit_code == kExitOk;
  int shown = kExitOk;
  if (arguments.out.empty() || arguments.out == "-") {
    if (!quiet) fmt::print(stderr, "{}", text);
    shown = PrintJson(json);
  } else {
    Status written = MakeFolderOf(arguments.out);
    if (written.ok()) written = WriteJsonFile(arguments.out, json);
    if (!written.ok()) return FailWith(written.error());
    const std::string place = fmt::format("written to {}\n", TerminalSafe(arguments.out));
    if (!quiet) shown = Print(text + place);
  }
  return shown == kExitOk ? exit_code : shown;
}

Result<int> Run(const EndpointArguments& arguments) {
  RETURN_IF_ERROR(CheckOutputs({arguments.out}, {arguments.prompts}, false));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.prompts, kMostPromptBytes));
  ASSIGN_OR_RETURN(std::vector<EndpointPrompt> prompts,
                   ParsePrompts(text, arguments.prompts, arguments.chat, arguments.max_tokens));
  const WallTime made = SystemClock().Now();
  const auto begun = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const EndpointAnswers answers, Measure(arguments, std::move(prompts)));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const EndpointFingerprint judged = JudgeEndpoint(answers);
  const Json json = FingerprintJson(answers, judged, made, took.count());
  return Deliver(arguments, json, TextOf(answers, judged), ExitCodeOf(judged));
}

}  // namespace

void AddProbeEndpoint(Command& probe) {
  auto arguments = std::make_shared<EndpointArguments>();
  Command& verb = probe.AddVerb(
      "endpoint", "Fingerprints the answers of a served model: an OpenAI-compatible server");
  verb.Add("url", &arguments->url,
           "Of the API, as http://localhost:8000/v1; /v1 where no path is given")
      .Value("URL")
      .Required();
  verb.Add("--prompts", &arguments->prompts,
           "JSON Lines with a prompt or messages (and max_tokens, id), or a prompt a line")
      .File()
      .Required();
  verb.Add("--model", &arguments->model, "Else the only one that the server lists");
  verb.Add("--chat", &arguments->chat, "Ask plain prompts as messages of a user");
  verb.Add("--max-tokens", &arguments->max_tokens, "Of an answer, where a prompt does not say")
      .Between(1, kMostAnswerTokens)
      .ShowDefault();
  verb.Add("--repeat", &arguments->repeats, "Times that each prompt is asked in each way")
      .Between(2, 1000)
      .ShowDefault();
  verb.Add("--jobs", &arguments->jobs, "Most requests at a time; 1: none beside others")
      .Between(1, 256)
      .ShowDefault();
  verb.Add("--timeout", &arguments->timeout_seconds, "Time limit of a request")
      .Duration(TimeUnit::kSeconds)
      .Between(0.1, 1e5)
      .ShowDefault();
  verb.Add("--out", &arguments->out, "Write the fingerprint to this file, not to stdout").Path();
  verb.Note(fmt::format(
      "Each prompt is asked at temperature 0: alone, beside 1, 3, ... others, in other orders, "
      "and behind a long prefix that is new to the server, then known. A key for the server is "
      "taken from the variable {}, authorities of a certificate from the file that {} names. A "
      "request that fails is asked again, and after 429 when the server says so.",
      kTokenVariable, kCertificatesVariable));
  verb.ExitCode(kExitOk, "every prompt has one answer");
  verb.ExitCode(kExitDrift, "answers differ: not deterministic, or not batch invariant");
  verb.ExitCode(kExitUsage, "usage, invalid input, or refused by the server");
  verb.ExitCode(kExitInconclusive,
                "answers differ too rarely to say in what, come from a cache, or the server "
                "changed meanwhile");
  verb.ExitCode(kExitInfrastructure, "the server does not answer, or prompts failed");
  verb.Example(
      "rharness probe endpoint http://localhost:8000 --prompts prompts.jsonl --out now.json");
  verb.Do([arguments] {
    const auto code = Run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
