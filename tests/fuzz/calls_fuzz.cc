// Fuzzes the readers of traces of operators (ours, DebugMode's logs, torchtitan's dumps), and the
// search for the call at which two part: what is accepted obeys calls.h, a trace beside itself does
// not part, and beside another it ends in one of the words that call_onset.h has.
//
// Run: rharness-calls-fuzz -max_total_time=60 -dict=calls.dict CORPUS calls_seeds
#include <set>
#include <string>

#include "compare/traces/call_onset.h"
#include "tests/fuzz/fuzz_file.h"

namespace rharness {
namespace {

const std::set<std::string> kEnds = {"parts", "equal", "other_rank", "nothing_compared"};

void CheckCalls(const CallTrace& trace, std::size_t size) {
  Require(trace.entries.size() <= size && trace.bad_lines <= size && !trace.paths.empty());
  std::size_t entries = 0;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    Require(i == 0 || trace.steps[i - 1].step < trace.steps[i].step);
    Require(trace.steps[i].first == entries && trace.steps[i].count > 0);
    entries += trace.steps[i].count;
  }
  Require(entries == trace.entries.size());
}

void CheckCallOnset(const CallOnset& onset) {
  Require(kEnds.contains(onset.end) && !onset.headline.empty());
  const bool parts = onset.end == "parts";
  Require(parts == !onset.what.empty() &&
          onset.origin.has_value() == (parts || onset.end == "other_rank"));
  Require(onset.around.size() <= 2 * kCallsAround + 1 && onset.own.size() <= kMostOwnCalls);
  Require(onset.further.size() <= kMostFurtherCalls && onset.differing <= onset.paired);
}

// Another digest here and there, a call less, and a cut at the end.
std::string Another(std::string text) {
  constexpr std::string_view kDigest = "\"digest\":\"";
  int count = 0;
  for (auto at = text.find(kDigest); at != text.npos; at = text.find(kDigest, at + 1)) {
    const std::size_t digit = at + kDigest.size();
    if (++count % 3 == 0 && digit < text.size() && text[digit] == '0') text[digit] = '1';
  }
  const auto third = text.find('\n', text.size() / 3);
  const auto next = third == text.npos ? third : text.find('\n', third + 1);
  if (next != text.npos) text.erase(third, next - third);
  text.resize(text.size() - text.size() / 8);
  return text;
}

void Check(std::string_view text) {
  const std::string path = FuzzFile(text);
  const auto calls = LoadCalls(path);
  if (!calls.ok()) return CheckError(calls.error(), path);
  if (calls->empty()) return;
  CheckCalls(calls->front(), text.size());
  const auto same = FindCallOnset(*calls, *calls);
  // A line that the scan takes may have members of another type.
  if (!same.ok()) return CheckError(same.error(), path);
  CheckCallOnset(*same);
  Require(same->end == "equal" || same->end == "nothing_compared");
  // The first trace is read again where it is shown, so the other one is a file of its own.
  static const int fd = ::memfd_create("other", MFD_CLOEXEC);
  const std::string other = Another(std::string(text));
  Require(fd >= 0 && ::ftruncate(fd, 0) == 0);
  Require(::pwrite(fd, other.data(), other.size(), 0) == static_cast<ssize_t>(other.size()));
  const auto others = LoadCalls("/proc/self/fd/" + std::to_string(fd));
  if (!others.ok() || others->empty()) return;
  if (const auto onset = FindCallOnset(*calls, *others); onset.ok()) CheckCallOnset(*onset);
  if (const auto onset = FindCallOnset(*others, *calls); onset.ok()) CheckCallOnset(*onset);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
