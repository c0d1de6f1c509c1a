// rharness-probe with probes that misbehave, one in each way that the runner must survive.
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "harness/base/digest.h"
#include "probes/command.h"
#include "probes/failed_cases.h"
#include "probes/library/loader.h"
#include "probes/probe.h"

namespace rharness {
namespace {

constexpr std::chrono::seconds kOneSecond(1);
constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

ProbeResult Steady(const ProbeContext& context) {
  ProbeResult result;
  result.parameters.Set("seed", context.seed).Set("repeats", context.repeats);
  result.choices["case"] = Json().Set("device", context.device);
  result.trees.emplace("case", SumTree::Build(3, {{0, 1}, {3, 2}}).value());
  result.bits["case"] = kEmptySha256;
  result.counts["launches"] = 7;
  result.libraries["libprobed.so.1"] = Json().Set("soname", "libprobed.so.1");
  result.notes.emplace_back("a note");
  std::printf("what libraries print on stdout\n");
  std::fflush(stdout);
  return result;
}

ProbeResult Crash(const ProbeContext&) {
  std::fputs("about to crash\n", stderr);
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  return {};
}

ProbeResult Hang(const ProbeContext&) {
  for (;;) ::pause();
}

// Finds the descriptor that the result goes to, as a library with a stray pointer might.
ProbeResult Garbage(const ProbeContext&) {
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    if (::write(descriptor, "{\"status\": garbage", 18) < 0) continue;
  }
  ::_exit(0);
}

ProbeResult Silent(const ProbeContext&) { ::_exit(0); }

ProbeResult Quit(const ProbeContext&) {
  std::fputs("out of luck\n", stderr);
  ::_exit(3);
}

// Steady in one process, different in the next.
ProbeResult Alternating(const ProbeContext&) {
  ProbeResult result;
  result.bits["changing"] = Sha256HexOf(std::to_string(::getpid()));
  result.bits["fixed"] = kEmptySha256;
  result.choices["named by process " + std::to_string(::getpid())] = Json::MakeObject();
  return result;
}

ProbeResult Asking(const ProbeContext&) {
  ProbeResult result;
  result.parameters.Set("size", ::getpid());
  return result;
}

// One case works, and one does not.
ProbeResult Partly(const ProbeContext&) {
  ProbeResult result;
  result.bits["good"] = kEmptySha256;
  result.bits["bad"] = kEmptySha256;
  RecordFailure("bad", InternalError("status 13"), &result);
  return result;
}

// As a probe that begins no case that it has no time for.
ProbeResult Timed(const ProbeContext& context) {
  ProbeResult result;
  const bool late = context.until && *context.until < std::chrono::steady_clock::now() + kOneSecond;
  result.bits[context.until ? late ? "late" : "in time" : "without a limit"] = kEmptySha256;
  return result;
}

ProbeResult NotHere(const ProbeContext&) { return AbsentProbe("no such library"); }
ProbeResult NotWorking(const ProbeContext&) { return FailedProbe("status 13"); }

ProbeResult Opening(const ProbeContext& context) {
  const auto library = Library::Open({"libprobed.so.1", "libm.so.6"}, context.library_paths);
  if (!library.ok()) return FailedProbe(library.error().ToString());
  ProbeResult result;
  result.libraries.emplace((*library)->soname(), DescribeLibrary(**library, "1"));
  return result;
}

Probe Of(std::string_view name, ProbeResult (*run)(const ProbeContext&)) {
  return {.name = name, .family = "selftest", .summary = "a self-test", .run = run};
}

Probe Limited(Probe probe) {
  probe.limit = std::chrono::seconds(1);
  return probe;
}

Probe ByName(Probe probe) {
  probe.by_name = true;
  return probe;
}

Probe Control(Probe probe) {
  probe.must_be_unstable = true;
  return probe;
}

const RegisterProbe kSteady(Of("steady", Steady));
const RegisterProbe kCrash(Of("crash", Crash));
const RegisterProbe kHang(Limited(Of("hang", Hang)));
const RegisterProbe kGarbage(Of("garbage", Garbage));
const RegisterProbe kSilent(Of("silent", Silent));
const RegisterProbe kQuit(Of("quit", Quit));
const RegisterProbe kAlternating(Of("alternating", Alternating));
const RegisterProbe kAsking(Of("asking", Asking));
const RegisterProbe kPartly(Of("partly", Partly));
const RegisterProbe kTimed(Limited(Of("timed", Timed)));
const RegisterProbe kNotHere(Of("not_here", NotHere));
const RegisterProbe kNotWorking(Of("not_working", NotWorking));
const RegisterProbe kOpening(Of("opening", Opening));
const RegisterProbe kSlow(ByName(Of("slow", Steady)));
const RegisterProbe kControl(Control(Of("control_alive", Alternating)));
const RegisterProbe kDeadControl(Control(Of("control_dead", Steady)));

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::RunProbeCommand(argc, argv, ""); }
