// Tallies of verdicts in JSON; see json_parts.h.
#include "reports/json_parts.h"

#include <fmt/format.h>

namespace rharness {

std::map<std::string, int> CountVerdicts(const std::vector<Verdict>& verdicts) {
  std::map<std::string, int> counts;
  for (const Verdict verdict : kVerdicts) counts[std::string(VerdictName(verdict))] = 0;
  for (const Verdict verdict : verdicts) ++counts[std::string(VerdictName(verdict))];
  return counts;
}

Json CountsJson(const std::map<std::string, int>& counts) {
  Json json = Json::MakeObject();
  for (const auto& [verdict, count] : counts) json.Set(verdict, count);
  return json;
}

void ReadCounts(JsonReader& reader, std::map<std::string, int>* counts) {
  reader.ForEachMember("counts", [&](const std::string& verdict, JsonReader& count) {
    count.Get(&(*counts)[verdict]);
  });
}

void CheckTally(JsonReader& reader, const std::vector<Verdict>& verdicts,
                const std::map<std::string, int>& counts, int exit_code,
                const std::vector<Verdict>& families) {
  if (!reader.ok()) return;
  const std::map<std::string, int> tallied = CountVerdicts(verdicts);
  for (const auto& [verdict, count] : tallied) {
    const auto claimed = counts.find(verdict);
    if (claimed == counts.end() || claimed->second != count) {
      return reader.Fail(fmt::format("expected {} for '{}', as the verdicts say", count, verdict),
                         "counts");
    }
  }
  if (counts.size() != tallied.size()) {
    return reader.Fail("holds a name that is no verdict", "counts");
  }
  std::vector<Verdict> all = verdicts;
  all.insert(all.end(), families.begin(), families.end());
  const int expected = ExitCodeOf(all);
  if (exit_code < 0 || exit_code > 5 || (exit_code == 0 && expected != 0)) {
    reader.Fail(
        fmt::format("{} does not follow from the verdicts; expected {}", exit_code, expected),
        "exit_code");
  }
}

}  // namespace rharness
