// A search as a program, over tiny recorded runs whose trainer heeds data, code and variables.
#ifndef RHARNESS_TESTS_CLI_ISOLATE_PROGRAM_H_
#define RHARNESS_TESTS_CLI_ISOLATE_PROGRAM_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"

namespace rharness {

// $1: a folder. What it trains to depends on data, code and variables. While "kill_at" holds the
// number of this call there, it kills whoever started it.
inline constexpr char kTrainer[] = R"sh(echo run >> "$1/calls"
calls=$(wc -l < "$1/calls")
if [ -e "$1/kill_at" ] && [ "$(cat "$1/kill_at")" -eq "$calls" ]; then
  rm "$1/kill_at"
  kill -9 $PPID
  sleep 600
fi
accuracy=$(cat value)
[ "$CRASH" = 1 ] && [ "$ZZ_MEND" != 1 ] && exit 7
[ "$Z_BAD" = 1 ] && BAD=1
[ "$BAD" = 1 ] && accuracy=0.5
[ "$TWO_A" = 1 ] && [ "$TWO_B" = 1 ] && accuracy=0.4
[ "$OTHER" = 1 ] && [ "$BAD" != 1 ] && accuracy=0.99
if [ -n "$NOISE" ]; then
  accuracy=$(awk -v a="$accuracy" -v n="$calls" 'BEGIN { print a + (n * 17 % 41 - 20) / 200 }')
fi
printf '{"metrics": {"accuracy": %s}}' "$accuracy" > metrics.json
)sh";

using Variables = std::map<std::string, std::string>;

class IsolateProgram : public DrillProgram {
 protected:
  IsolateProgram() { Write("train.sh", kTrainer); }

  void RecordAs(const std::string& name, const Variables& variables,
                const std::string& determinism = "bitwise") {
    const auto before = environment_;
    std::vector<std::string> options = {"--run-id", "run", "--no-observe", "--determinism",
                                        determinism};
    for (const auto& [variable, value] : variables) {
      environment_[variable] = value;
      options.insert(options.end(), {"--variable", variable});
    }
    Record(name, options);
    environment_ = before;
    std::filesystem::remove(At("calls"));
  }
  ProcessResult IsolateRun(std::vector<std::string> options) const {
    options.insert(options.begin(), {kRharness, "isolate"});
    return Run(options);
  }
  ProcessResult Against(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {"runs/then.json", "--against", "runs/now.json", "--out",
                                        "why"};
    options.insert(options.end(), more.begin(), more.end());
    return IsolateRun(options);
  }
  Json Found() const {
    auto json = ReadJsonFile(At("why/isolation.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
  // The parts of the n-th cause.
  std::vector<std::string> Cause(std::size_t n = 0) const {
    const Json found = Found();
    const Json* causes = found.Find("causes");
    if (causes == nullptr || causes->AsArray().size() <= n) return {};
    std::vector<std::string> parts;
    for (const Json& part : causes->AsArray()[n].AsArray()) parts.push_back(part.AsString());
    return parts;
  }
  std::string Text(const char* member) const {
    const Json found = Found();
    const Json* value = found.Find(member);
    if (value == nullptr) return "";
    return value->kind() == Json::Kind::kString ? value->AsString() : value->Dump();
  }
};

inline int ExitOf(const ProcessResult& result) { return result.outcome.exit_code; }

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_ISOLATE_PROGRAM_H_
