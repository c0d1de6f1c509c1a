// A history with good, drifted and broken runs whose checkpoints are kept, and incidents over it.
#ifndef RHARNESS_TESTS_CLI_INCIDENT_PROGRAM_H_
#define RHARNESS_TESTS_CLI_INCIDENT_PROGRAM_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"

namespace rharness {

// Writes one tensor of four bytes, the value's text. While "kill_at" is there, the rerun kills
// whoever started it.
inline constexpr char kIncidentTrainer[] = R"sh(value=$(cat value)
if [ -e "$KILL_AT" ]; then
  rm "$KILL_AT"
  kill -9 $PPID
  sleep 600
fi
[ "$CRASH" = 1 ] && echo '<script>alert(2)</script>' >&2 && exit 7
[ "$SHIFT" = 1 ] && value=0.71
[ "$HANG" = 1 ] && exec sleep 600
printf '\066\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}%s' "$value" > w.safetensors
printf '{"metrics": {"accuracy": %s}}' "$value" > metrics.json
)sh";

class IncidentProgram : public DrillProgram {
 protected:
  IncidentProgram() {
    Write("train.sh", kIncidentTrainer);
    environment_["KILL_AT"] = At("kill_at").string();
  }
  void RecordKept(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--determinism", "bitwise",       "--no-observe",
                                        "--weights",     "w.safetensors", "--keep",
                                        "kept",          "--variable",    "KILL_AT"};
    options.insert(options.end(), more.begin(), more.end());
    Record(name, options, {"sh", "train.sh"});
  }
  // Runs a, b, c in this order; all were good, then b drifted and c broke.
  void MakeHistory() {
    for (const char* name : {"a", "b", "c"}) RecordKept(name);
    Add();
    ASSERT_EQ(DrillInto("first", ""), 0);
    ASSERT_EQ(DrillInto("second", "b", "SHIFT=1"), 1);
    ASSERT_EQ(DrillInto("third", "c", "CRASH=1"), 4);
  }
  int DrillInto(const std::string& out, const std::string& run, const std::string& variable = "") {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill", "--history",
                                     "runs.db", "--out",   out,     "--no-confirm"};
    if (!run.empty()) argv.insert(argv.end(), {"--select", "run_id = '" + run + "'"});
    if (!variable.empty()) argv.insert(argv.end(), {"--env", variable});
    return Run(argv).outcome.exit_code;
  }
  ProcessResult IncidentOf(const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {kRharness, "incident", run, "--history", "runs.db"};
    if (std::ranges::find(more, "--out") == more.end()) {
      argv.insert(argv.end(), {"--out", "inc"});
    }
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
  Json Told(const std::string& out = "inc") const {
    auto json = ReadJsonFile(At(out + "/incident.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
  std::string Text(const Json& json, const char* key) const {
    const Json* value = json.Find(key);
    return value == nullptr                       ? ""
           : value->kind() == Json::Kind::kString ? value->AsString()
                                                  : value->Dump();
  }
  // What `rharness slo` counts of the family.
  Json Objectives() const {
    const auto json =
        ParseJson(Run({kRharness, "slo", "--history", "runs.db", "--json"}).stdout_text, "slo");
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? json->Find("families")->AsArray()[0] : Json();
  }
  std::string History(const std::string& name) const {
    return Run({kRharness, "history", "show", "--history", "runs.db", name}).stdout_text;
  }
};

inline std::string Answer(const Json& told, const std::string& key) {
  for (const Json& answer : told.Find("answers")->AsArray()) {
    if (answer.Find("key")->AsString() == key) return answer.Dump();
  }
  return "";
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_INCIDENT_PROGRAM_H_
