// `rharness properties` as a program: what holds, what is lost and since when, what shows nothing,
// noise, interruptions, and declarations that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// $1: a folder; then options. Six steps of a number that the one before decides; what it needs to
// go on is in "state". FORGET loses it on resuming, WORKERS_SHIFT makes several workers another
// run, NOISE and EVAL_NOISE are added by the number of the call, which runs that start at once do
// not share. While "kill_at" holds that number, the run kills whoever started it.
constexpr char kStepper[] = R"sh(folder=$1; shift
echo run >> "$folder/calls"
calls=1; mkdir -p "$folder/called"
until mkdir "$folder/called/$calls" 2>/dev/null; do calls=$((calls + 1)); done
if [ -e "$folder/kill_at" ] && [ "$(cat "$folder/kill_at")" -eq "$calls" ]; then
  rm "$folder/kill_at"
  kill -9 $PPID
  sleep 600
fi
last=6; step=0; value=1; workers=0; evaluate=; bias=0; link=
while [ $# -gt 0 ]; do
  case $1 in
    --steps=*) last=${1#*=} ;;
    --ignored=*) ;;
    --resume) read -r step value < "$2" || exit 9; [ -n "$FORGET" ] && value=1; shift ;;
    --workers=*) workers=${1#*=} ;;
    --bias=*) bias=${1#*=} ;;
    --evaluate) evaluate=$2; shift ;;
    --link=*) last=${1#*=}; link=1 ;;
    --crash) echo "no such thing here" >&2; exit 5 ;;
    --absent) echo "no gloo here" >&2; exit 77 ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
if [ -n "$evaluate" ]; then
  read -r step value < "$evaluate"
  [ -n "$EVAL_NOISE" ] && value=$calls
  printf '{"metrics": {"score": %s}}' "$value" > metrics.json
  exit 0
fi
[ "$workers" -gt 0 ] && [ -n "$WORKERS_SHIFT" ] && value=2
first=$step; steps=; values=
while [ "$step" -lt "$last" ]; do
  step=$((step + 1)); value=$(((value * 7 + step) % 1009))
  steps="$steps${steps:+, }$step"; values="$values${values:+, }$value"
done
echo "$step $value" > state
[ -n "$link" ] && rm state && ln -s /etc/passwd state
noise=0; [ -n "$NOISE" ] && noise=$((calls * 37 % 11))
printf '{"metrics": {"accuracy": %s.%02d}, "curves": {"loss": {"steps": [%s], "values": [%s]}}}' \
  $((value + bias)) "$noise" "$steps" "$values" > metrics.json
)sh";

constexpr char kResumed[] = R"({"name": "resumed", "at": [2, 4], "stop": ["--steps={step}"],
  "resume": ["--resume", "{checkpoint}"], "checkpoint": "state"})";

// Without the line breaks that a terminal's width makes.
std::string Unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

class PropertiesProgram : public DrillProgram {
 protected:
  PropertiesProgram() { Write("train.sh", kStepper); }

  void RecordStepper() {
    Record("a", {"--run-id", "a", "--no-observe"});
    Add();
    fs::remove_all(At("called"));
  }
  ProcessResult Properties(std::vector<std::string> options) const {
    options.insert(options.begin(), {kRharness, "properties"});
    return Run(options);
  }
  ProcessResult Declared(const std::string& properties,
                         const std::vector<std::string>& more = {}) const {
    Write("claims.json", "{\"properties\": [" + properties + "]}");
    std::vector<std::string> options = {"a", "--history", "runs.db", "--declare", "claims.json"};
    options.insert(options.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--out") == more.end()) {
      options.insert(options.end(), {"--out", "held"});
    }
    return Properties(options);
  }
  Json Kept(const std::string& folder = "held") const {
    auto json = ReadJsonFile(At(folder + "/properties.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
  // "resumed@2 held", ...
  std::vector<std::string> States(const std::string& folder = "held") const {
    const Json kept = Kept(folder);
    std::vector<std::string> states;
    if (kept.Find("results") == nullptr) return states;
    for (const Json& result : kept.Find("results")->AsArray()) {
      states.push_back(result.Find("name")->AsString() + " " + result.Find("state")->AsString());
    }
    return states;
  }
};

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

int ExitOf(const ProcessResult& result) { return result.outcome.exit_code; }

// Lines are folded where they are full, and how long a path is depends on the machine.
std::string OnOneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST_F(PropertiesProgram, HoldWhatHolds) {
  RecordStepper();
  const ProcessResult result = Declared(std::string(kResumed) + R"(, {"name": "repeated"},
        {"name": "loader_workers", "arguments": ["--workers=3"]},
        {"name": "evaluated_twice", "checkpoint": "state", "again": ["--workers=2"],
         "command": ["sh", "train.sh", ")" +
                                        At("").string() + R"(", "--evaluate", "{checkpoint}"]})");
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(States(), ElementsAre("resumed@2 held", "resumed@4 held", "repeated held",
                                    "loader_workers held", "evaluated_twice held"));
  EXPECT_THAT(result.stdout_text, HasSubstr("5 properties held to the bit"));
  EXPECT_EQ(Calls(), 2 + 4 + 1 + 2);
  EXPECT_TRUE(fs::exists(At("held/properties.html")));
  EXPECT_TRUE(fs::exists(At("held/junit.xml")));
  EXPECT_TRUE(fs::exists(At("held/runs/a/2/left/state")));
  EXPECT_FALSE(fs::exists(At("held/runs/a/2/workspace")));
}

TEST_F(PropertiesProgram, TellALostOneAndSinceWhen) {
  RecordStepper();
  ASSERT_EQ(ExitOf(Declared(kResumed)), 0);
  const ProcessResult lost = Declared(kResumed, {"--env", "FORGET=1", "--out", "again"});
  EXPECT_EQ(ExitOf(lost), 1) << lost.stdout_text << lost.stderr_text;
  EXPECT_THAT(States("again"), ElementsAre("resumed@2 lost", "resumed@4 lost"));
  EXPECT_THAT(lost.stdout_text, HasSubstr("held in the drill of 20"));
  EXPECT_THAT(lost.stdout_text, HasSubstr("curve loss: from step 3 on, "));
  EXPECT_THAT(Unwrapped(lost.stdout_text), HasSubstr("2 straight runs are equal in it"));
  const ProcessResult third =
      Declared(kResumed, {"--env", "FORGET=1", "--out", "third", "--repeats", "3"});
  EXPECT_THAT(third.stdout_text, Not(HasSubstr("held in the drill of")));
  EXPECT_THAT(Unwrapped(third.stdout_text), HasSubstr("3 straight runs are equal in it"));
  EXPECT_EQ(Kept("third").Find("legs")->ToDouble(), 3.0 + 3 * 4) << "a loss is confirmed";
  const ProcessResult shown = Run({kRharness, "history", "show", "a", "--history", "runs.db"});
  EXPECT_THAT(shown.stdout_text, HasSubstr("resumed@2: lost on 20"));
  EXPECT_THAT(Unwrapped(shown.stdout_text), HasSubstr("held on 20"));
}

TEST_F(PropertiesProgram, LoseEachByItself) {
  RecordStepper();
  const ProcessResult result = Declared(
      std::string(R"({"name": "loader_workers", "arguments": ["--workers=3"]}, {"name": "processes",
        "arguments": ["--workers=0"]}, {"name": "evaluated_twice", "checkpoint": "state",
        "command": ["sh", "train.sh", ")") +
          At("").string() + R"(", "--evaluate", "{checkpoint}"]})",
      {"--env", "WORKERS_SHIFT=1", "--env", "EVAL_NOISE=1"});
  EXPECT_EQ(ExitOf(result), 1) << result.stderr_text;
  EXPECT_THAT(States(),
              ElementsAre("loader_workers lost", "processes held", "evaluated_twice lost"));
  EXPECT_THAT(result.stdout_text, HasSubstr("metric score: "));
}

// A safetensors file of one weight and of one number of an optimizer.
std::string WeightAndState(char weight) {
  const std::string header =
      R"({"fc.weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("optimizer.state.0.step":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  return static_cast<char>(header.size()) + std::string(7, '\0') + header + weight + "s";
}

TEST_F(PropertiesProgram, TellAnArtifactThatHoldsWeightsAndStateAtOnce) {
  Write("one", WeightAndState('a'));
  Write("two", WeightAndState('b'));
  Write("train.sh", R"sh(from=one; [ "$2" = --other ] && from=two
cp "$1/$from" model.safetensors; cp "$1/$from" state.safetensors
printf '{"metrics": {"accuracy": 0.5}}' > metrics.json
)sh");
  Record("a", {"--run-id", "a", "--no-observe", "--weights", "model.safetensors", "--artifact",
               "optimizer=state.safetensors"});
  Add();
  const char* claim = R"({"name": "loader_workers", "arguments": ["--other"]})";
  EXPECT_EQ(ExitOf(Declared(claim)), 1);
  EXPECT_THAT(States(), ElementsAre("loader_workers lost"));
  EXPECT_EQ(ExitOf(Properties({"--resume", "--out", "held"})), 1);
}

TEST_F(PropertiesProgram, HoldWithinWhatIsStated) {
  RecordStepper();
  const std::string way = R"({"name": "accumulated", "arguments": ["--bias=1"])";
  EXPECT_EQ(ExitOf(Declared(way + R"(, "within": {"metrics": {"accuracy": 1}}})")), 0);
  EXPECT_THAT(States(), ElementsAre("accumulated held_within"));
  EXPECT_EQ(
      ExitOf(Declared(way + R"(, "within": {"metrics": {"accuracy": 0.5}}})", {"--out", "again"})),
      1);
}

TEST_F(PropertiesProgram, JudgeNothingByARunThatDidNotStop) {
  RecordStepper();
  const ProcessResult result = Declared(Replace(kResumed, "--steps={step}", "--ignored={step}"));
  EXPECT_EQ(ExitOf(result), 3) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("its curve loss reaches step 6"));
}

// A leg that begins anew ends where a straight run does, too.
TEST_F(PropertiesProgram, JudgeNothingByARunThatBeganAnew) {
  RecordStepper();
  const ProcessResult result =
      Declared(Replace(kResumed, R"(["--resume", "{checkpoint}"])", R"(["--ignored={step}"])"));
  EXPECT_EQ(ExitOf(result), 3) << result.stderr_text;
  EXPECT_THAT(States(), ElementsAre("resumed@2 not_judged", "resumed@4 not_judged"));
  EXPECT_THAT(Unwrapped(result.stdout_text),
              HasSubstr("nothing shows that the run continued and did not begin again: its curve "
                        "loss begins at step 1"));
}

// What the harness laid there is nothing that a leg left.
TEST_F(PropertiesProgram, TakeNothingThatALegDidNotWriteForItsOutput) {
  RecordStepper();
  const ProcessResult result = Declared(
      R"({"name": "evaluated_twice", "checkpoint": "metrics.json", "command": ["true", "{checkpoint}"]})");
  EXPECT_NE(ExitOf(result), 0) << result.stdout_text;
  EXPECT_THAT(States(), ElementsAre("evaluated_twice not_judged"));
  EXPECT_THAT(Unwrapped(result.stdout_text), HasSubstr("did not write it"));
  const ProcessResult same = Declared(
      R"({"name": "resharded", "checkpoint": "state",
          "steps": [{"command": ["true", "{checkpoint}"], "saved": "state"}]})",
      {"--out", "again"});
  EXPECT_EQ(ExitOf(same), 2) << same.stdout_text;
  EXPECT_THAT(same.stderr_text, HasSubstr("a step that does nothing would be held"));
}

TEST_F(PropertiesProgram, SayWhyALegShowsNothing) {
  RecordStepper();
  const ProcessResult crashed =
      Declared(R"({"name": "processes", "arguments": ["--crash"]}, {"name": "repeated"})");
  EXPECT_EQ(ExitOf(crashed), 4) << crashed.stderr_text;
  EXPECT_THAT(States(), ElementsAre("processes not_judged", "repeated held"));
  EXPECT_THAT(Unwrapped(crashed.stdout_text), HasSubstr("no such thing here"));
  const ProcessResult absent =
      Declared(R"({"name": "processes", "arguments": ["--absent"]})", {"--out", "again"});
  EXPECT_EQ(ExitOf(absent), 3) << absent.stderr_text;
  EXPECT_THAT(Unwrapped(absent.stdout_text), HasSubstr("cannot be done here: no gloo here"));
  const ProcessResult nothing =
      Declared(Replace(kResumed, "\"state\"", "\"nothing\""), {"--out", "third"});
  EXPECT_EQ(ExitOf(nothing), 3) << nothing.stderr_text;
  EXPECT_THAT(nothing.stdout_text, HasSubstr("did not leave nothing"));
}

TEST_F(PropertiesProgram, HoldARunThatDoesNotRepeatItselfToNoBits) {
  RecordStepper();
  const std::string way = R"({"name": "processes", "arguments": ["--bias=)";
  const ProcessResult few =
      Declared(way + R"(0"]}, {"name": "repeated"})", {"--env", "NOISE=1", "--jobs", "1"});
  EXPECT_EQ(ExitOf(few), 1) << few.stderr_text;
  EXPECT_THAT(States(), ElementsAre("processes not_judged", "repeated lost"));
  EXPECT_THAT(few.stdout_text, HasSubstr("4 repeats of each would decide"));
  EXPECT_THAT(few.stdout_text, HasSubstr("straight runs differ with nothing changed"));
  const ProcessResult shifted = Declared(
      way + R"(5"]})", {"--env", "NOISE=1", "--jobs", "1", "--repeats", "4", "--out", "again"});
  EXPECT_EQ(ExitOf(shifted), 1) << shifted.stderr_text;
  EXPECT_THAT(States("again"), ElementsAre("processes lost"));
  EXPECT_THAT(shifted.stdout_text, HasSubstr("0.029 of cases"));
  EXPECT_EQ(Kept("again").Find("legs")->ToDouble(), 8.0);
}

TEST_F(PropertiesProgram, GoOnAfterAKillWhereverItStruck) {
  RecordStepper();
  for (const char* call : {"2", "4", "6"}) {  // straight, stopped, gone on
    fs::remove(At("calls"));
    fs::remove_all(At("called"));
    fs::remove_all(At("held"));
    Write("kill_at", call);
    const ProcessResult killed = Declared(kResumed, {"--jobs", "1"});
    EXPECT_EQ(killed.outcome.kind, OutcomeKind::kSignalled) << call;
    const ProcessResult resumed = Properties({"--resume", "--out", "held"});
    EXPECT_EQ(ExitOf(resumed), 0) << call << resumed.stdout_text << resumed.stderr_text;
    EXPECT_THAT(States(), ElementsAre("resumed@2 held", "resumed@4 held")) << call;
    EXPECT_EQ(Calls(), 6 + 1) << "finished legs are kept";
  }
}

TEST_F(PropertiesProgram, TakeNoLinkForACheckpoint) {
  RecordStepper();
  const ProcessResult result = Declared(Replace(kResumed, "--steps={step}", "--link={step}"));
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(OnOneLine(result.stdout_text), HasSubstr("is neither a file nor a folder"));
  EXPECT_THAT(States(), ElementsAre("resumed@2 not_judged", "resumed@4 not_judged"));
}

TEST_F(PropertiesProgram, NoticeACheckpointThatWasChangedMeanwhile) {
  RecordStepper();
  Write("kill_at", "6");
  ASSERT_EQ(Declared(kResumed, {"--jobs", "1"}).outcome.kind, OutcomeKind::kSignalled);
  Write("held/runs/a/4/left/state", "4 5");
  const ProcessResult resumed = Properties({"--resume", "--out", "held"});
  EXPECT_EQ(ExitOf(resumed), 5) << resumed.stdout_text << resumed.stderr_text;
  EXPECT_THAT(OnOneLine(resumed.stdout_text), HasSubstr("is not the checkpoint that was taken"));
  EXPECT_THAT(States(), ElementsAre("resumed@2 held", "resumed@4 not_judged"));
}

TEST_F(PropertiesProgram, ShowWhatWouldBeRun) {
  RecordStepper();
  const ProcessResult plan = Declared(kResumed, {"--dry-run"});
  EXPECT_EQ(ExitOf(plan), 0) << plan.stderr_text;
  EXPECT_THAT(plan.stdout_text, HasSubstr("2 properties in 6 legs"));
  EXPECT_THAT(plan.stdout_text, HasSubstr("leg 2: stopped after step 2"));
  EXPECT_FALSE(fs::exists(At("held")));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(PropertiesProgram, TakeManifestsThatDeclareThem) {
  RecordStepper();
  const ProcessResult none = Properties({"runs/a.json", "--out", "held"});
  EXPECT_EQ(ExitOf(none), 2);
  EXPECT_THAT(none.stderr_text, HasSubstr("declares no properties"));
  Write("claims.json", R"({"properties": [{"name": "repeated"}]})");
  Record("b", {"--run-id", "b", "--no-observe", "--properties", "claims.json"});
  const ProcessResult own = Properties({"runs/b.json", "--out", "held"});
  EXPECT_EQ(ExitOf(own), 0) << own.stdout_text << own.stderr_text;
  EXPECT_THAT(States(), ElementsAre("repeated held"));
}

TEST_F(PropertiesProgram, RefuseWhatIsNoDeclaration) {
  RecordStepper();
  const ProcessResult wrong = Declared(R"({"name": "resumed", "at": [2]})");
  EXPECT_EQ(ExitOf(wrong), 2);
  EXPECT_THAT(wrong.stderr_text, HasSubstr("claims.json: $.properties[0].stop: missing"));
  EXPECT_EQ(ExitOf(Properties({"--out", "held"})), 2);
  EXPECT_EQ(ExitOf(Declared(kResumed, {"--resume"})), 2);
  EXPECT_FALSE(fs::exists(At("held/journal.jsonl")));
}

}  // namespace
}  // namespace rharness
