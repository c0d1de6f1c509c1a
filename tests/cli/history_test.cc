// `rharness history` as a user meets it: the real program, its output and its exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/history/store.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

struct Output {
  int code = -1;
  std::string out;
  std::string err;
};

class HistoryVerb : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  Output Run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), RHARNESS_BIN_DIR "/rharness");
    const std::string out = Path("stdout");
    const std::string err = Path("stderr");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), kFlags, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), kFlags, 0600);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, arguments[0].c_str(), &actions, nullptr, Pointers(arguments).data(),
                          Pointers(environment).data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(out).value(),
            ReadFile(err).value()};
  }
  Output History(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "history");
    arguments.insert(arguments.end(), {"--history", Path("history.db")});
    return Run(arguments);
  }

  // The example with this run_id and start, below this name.
  std::string WriteManifest(const std::string& name, const std::string& run_id,
                            const std::string& day = "20") const {
    std::string text = Replaced(kExampleManifest, "digits-0007", run_id);
    text = Replaced(text, "2026-11-20T08:00:00", "2026-11-" + day + "T08:00:00");
    text = Replaced(text, "2026-11-20T08:01:30", "2026-11-" + day + "T08:01:30");
    EXPECT_TRUE(WriteFileAtomic(Path(name), text).ok());
    return Path(name);
  }
  // One that parses, but is not admitted: its image is not pinned.
  std::string WriteIncomplete(const std::string& name, const std::string& run_id) const {
    const std::string text = Replaced(
        Replaced(kExampleManifest, "digits-0007", run_id),
        "\"sha256:3333333333333333333333333333333333333333333333333333333333333333\"", "\"\"");
    EXPECT_TRUE(WriteFileAtomic(Path(name), text).ok());
    return Path(name);
  }

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return lines;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A mark that reorders text, and what only looks as if it were one.
TEST_F(HistoryVerb, PrintsJsonThatActsOnNoTerminalAndSaysTheSame) {
  auto json = ReadJsonFile(WriteManifest("a.json", "odd"));
  ASSERT_TRUE(json.ok());
  const std::string family = "a\u202eb\\u202e\u00e9 \U0001F642";
  json->Set("family", family);
  ASSERT_TRUE(WriteJsonFile(Path("a.json"), *json).ok());
  ASSERT_EQ(History({"add", "--force", Path("a.json")}).code, 0);
  const Output listed = History({"list", "--json"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_FALSE(Contains(listed.out, "\u202e")) << listed.out;
  EXPECT_TRUE(Contains(listed.out, R"("a\u202eb\\u202e)")) << listed.out;
  const auto read = ParseJson(listed.out, "stdout");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->Find("runs")->AsArray()[0].Find("family")->AsString(), family);
}

TEST_F(HistoryVerb, AddsFilesAndFoldersAndListsThemByStart) {
  std::filesystem::create_directory(Path("runs"));
  WriteManifest("runs/z.json", "early", "18");
  WriteManifest("runs/a.json", "middle", "19");
  ASSERT_TRUE(WriteFileAtomic(Path("runs/notes.txt"), "no manifest").ok());
  const std::string late = WriteManifest("late.json", "late", "20");
  const Output added = History({"add", late, Path("runs")});
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.out, "");
  EXPECT_TRUE(Contains(added.err, "added 3 runs")) << added.err;
  EXPECT_TRUE(Contains(History({"add", late}).err, "added 0 runs; already in the history: 1"));

  const Output listed = History({"list"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  const auto lines = Lines(listed.out);
  ASSERT_EQ(lines.size(), 4u) << listed.out;
  EXPECT_EQ(lines[0], "RUN\tFAMILY\tSTARTED\tDURATION\tDECLARED\tLAST VERDICT\tVERIFIED\tREBUILD");
  EXPECT_EQ(lines[1],
            "early\tdigits-mlp/epyc\t2026-11-18T08:00:00.000Z\t1 min 31 s\tbitwise\t-\tnever\t-");
  EXPECT_EQ(lines[2].substr(0, 7), "middle\t");
  EXPECT_EQ(lines[3].substr(0, 5), "late\t");
}

TEST_F(HistoryVerb, TakesManifestsOfDeeperFoldersAndNoOtherJson) {
  std::filesystem::create_directories(Path("runs/2026/11"));
  WriteManifest("runs/2026/11/a.json", "a");
  WriteManifest("runs/b.json", "b");
  ASSERT_TRUE(WriteFileAtomic(Path("runs/metrics.json"), "{\"loss\": 1}").ok());
  const Output added = History({"add", Path("runs")});
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_TRUE(Contains(added.err, "added 2 runs")) << added.err;
}

TEST_F(HistoryVerb, StoresNothingWhenOneRunIsAnotherUnderAKnownName) {
  ASSERT_EQ(History({"add", WriteManifest("b.json", "b")}).code, 0);
  const std::string first = WriteManifest("a.json", "a");
  const Output refused = History({"add", first, WriteManifest("other.json", "b", "21")});
  EXPECT_EQ(refused.code, 2) << "nobody tampered with anything";
  EXPECT_TRUE(Contains(refused.err, "other.json: run 'b' is in the history with another manifest"))
      << refused.err;
  EXPECT_TRUE(Contains(refused.err, "`rharness history retire b --reason")) << refused.err;
  EXPECT_TRUE(Contains(refused.err, "nothing was stored")) << refused.err;
  const Output twins = History({"add", first, WriteManifest("twin.json", "a", "21")});
  EXPECT_EQ(twins.code, 2);
  EXPECT_TRUE(Contains(twins.err, "twin.json: run 'a' is also that of ")) << twins.err;
  EXPECT_EQ(Lines(History({"list"}).out).size(), 2u);
}

TEST_F(HistoryVerb, RefusesToSelectByAValueThatNoRunHas) {
  ASSERT_EQ(History({"add", WriteManifest("b.json", "b")}).code, 0);
  const Output unknown = History({"list", "--select", "family = nope"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(Contains(unknown.err, "no run's family is")) << unknown.err;
  EXPECT_EQ(History({"list", "--select", "run_id = b"}).code, 0);
}

TEST_F(HistoryVerb, TellsWhichRunMadeAFile) {
  ASSERT_EQ(History({"add", WriteManifest("b.json", "b")}).code, 0);
  const auto list = [&](char digit) {
    return History({"list", "--select", "artifact = " + std::string(64, digit)});
  };
  EXPECT_TRUE(Contains(list('5').out, "b\t")) << list('5').out << list('5').err;
  EXPECT_TRUE(Contains(list('6').out, "b\t")) << "its tensors";
  const Output data = list('4');
  EXPECT_EQ(data.code, 2) << "what it read is not what it made";
  EXPECT_TRUE(Contains(data.err, "no run made a file with the SHA-256")) << data.err;
}

TEST_F(HistoryVerb, SuggestsTheNearestNameOfARunOrFamily) {
  ASSERT_EQ(History({"add", WriteManifest("b.json", "digits-12")}).code, 0);
  EXPECT_TRUE(Contains(History({"show", "digits-21"}).err, "did you mean digits-12?"));
  EXPECT_FALSE(Contains(History({"show", "mnist"}).err, "did you mean"));
}

TEST_F(HistoryVerb, SaysWhatItSkippedInAFolderAndRefusesWhatItMayNotRead) {
  std::filesystem::create_directories(Path("runs"));
  WriteManifest("runs/a.json", "a");
  ASSERT_TRUE(WriteFileAtomic(Path("runs/cut.json"), "{").ok());
  const Output added = History({"add", Path("runs")});
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_TRUE(Contains(added.err, "added 1 run; already in the history: 0; 1 other file skipped"))
      << added.err;
  if (::geteuid() == 0) return;  // may read everything
  WriteManifest("runs/b.json", "b");
  std::filesystem::permissions(Path("runs/b.json"), std::filesystem::perms::none);
  const Output refused = History({"add", Path("runs")});
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(Contains(refused.err, "b.json")) << refused.err;
}

TEST_F(HistoryVerb, TellsOfManyThatLackTheSameNotEachOne) {
  std::filesystem::create_directories(Path("runs"));
  for (int i = 0; i < 30; ++i) {
    WriteIncomplete(fmt::format("runs/{:02}.json", i), fmt::format("run-{}", i));
  }
  const Output refused = History({"add", Path("runs")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(Contains(refused.err, "/19.json: $.image.digest: ")) << refused.err;
  EXPECT_FALSE(Contains(refused.err, "/20.json")) << refused.err;
  EXPECT_TRUE(Contains(refused.err, "findings like these stand in 10 more manifests"))
      << refused.err;
  EXPECT_TRUE(Contains(refused.err, "30 of 30 manifests are not complete")) << refused.err;
}

TEST_F(HistoryVerb, StoresNothingWhenOneManifestIsNotAdmittedUnlessForced) {
  const std::string good = WriteManifest("good.json", "good");
  const std::string bad = WriteIncomplete("bad.json", "bad");
  const Output refused = History({"add", good, bad});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(Contains(refused.err, "bad.json: $.image.digest: ")) << refused.err;
  EXPECT_TRUE(Contains(refused.err, "nothing was stored")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(Path("history.db")));
  const Output forced = History({"add", good, bad, "--force"});
  EXPECT_EQ(forced.code, 0) << forced.err;
  EXPECT_TRUE(Contains(forced.err, "$.image.digest")) << forced.err;
  EXPECT_EQ(Lines(History({"list"}).out).size(), 3u);
}

TEST_F(HistoryVerb, EndsWithTwoOnWrongInput) {
  const std::string good = WriteManifest("good.json", "good");
  ASSERT_TRUE(WriteFileAtomic(Path("broken.json"), "{\"schema\": ").ok());
  std::filesystem::create_directory(Path("empty"));
  ASSERT_EQ(History({"add", good}).code, 0);
  EXPECT_EQ(Run({"history"}).code, 2);
  EXPECT_EQ(Run({"history", "list"}).code, 2);
  EXPECT_EQ(History({"add"}).code, 2);
  EXPECT_EQ(History({"frobnicate"}).code, 2);
  EXPECT_EQ(History({"retire", "good"}).code, 2);
  EXPECT_TRUE(Contains(History({"add", Path("broken.json")}).err, "broken.json"));
  EXPECT_TRUE(Contains(History({"add", Path("empty")}).err, "the folder holds no manifest"));
  EXPECT_TRUE(Contains(History({"add", Path("absent.json")}).err, "absent.json"));
  EXPECT_EQ(History({"add", Path("broken.json")}).code, 2);
  EXPECT_EQ(History({"add", Path("empty")}).code, 2);
  EXPECT_EQ(History({"add", Path("absent.json")}).code, 2);
  EXPECT_EQ(History({"show", "nobody"}).code, 2);
  EXPECT_EQ(History({"retire", "nobody", "--reason", "x"}).code, 2);
  const Output selected = History({"list", "--select", "colour = red"});
  EXPECT_EQ(selected.code, 2);
  EXPECT_TRUE(Contains(selected.err, "selection, column 1")) << selected.err;
}

TEST_F(HistoryVerb, MakesNoHistoryOutOfAMistypedPath) {
  const Output listed = History({"list"});
  EXPECT_EQ(listed.code, 2);
  EXPECT_TRUE(Contains(listed.err, "rharness history add")) << listed.err;
  EXPECT_FALSE(std::filesystem::exists(Path("history.db")));
}

TEST_F(HistoryVerb, SaysWhatToDoWhenNothingIsThereOrSelected) {
  ASSERT_TRUE(HistoryStore::Open(Path("history.db")).ok());
  const Output empty = History({"list"});
  EXPECT_EQ(empty.code, 0);
  EXPECT_EQ(empty.out, "");
  EXPECT_TRUE(Contains(empty.err, "rharness history add")) << empty.err;
  ASSERT_EQ(History({"add", WriteManifest("a.json", "a")}).code, 0);
  const Output none = History({"list", "--select", "duration_seconds > 1000000"});
  EXPECT_EQ(none.code, 0);
  EXPECT_TRUE(Contains(none.err, "none of 1 runs")) << none.err;
  EXPECT_TRUE(Contains(History({"show", "a"}).out, "Next: rharness drill reruns it and judges"));
}

TEST_F(HistoryVerb, SelectsAndRetires) {
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_EQ(History({"add", WriteManifest(std::string(id) + ".json", id)}).code, 0);
  }
  EXPECT_EQ(Lines(History({"list", "--select", "run_id = a or run_id ~ c*"}).out).size(), 3u);
  ASSERT_EQ(History({"retire", "b", "--reason", "its data are gone"}).code, 0);
  EXPECT_EQ(Lines(History({"list"}).out).size(), 3u);
  const auto lines = Lines(History({"list", "--retired"}).out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(Contains(lines[2], "retired")) << lines[2];
  EXPECT_TRUE(Contains(History({"show", "b"}).out, "its data are gone"));
  EXPECT_EQ(History({"retire", "b", "--reason", "again"}).code, 2);
}

TEST_F(HistoryVerb, ShowsVerdictsWithTheirReasons) {
  ASSERT_EQ(History({"add", WriteManifest("a.json", "a")}).code, 0);
  const WallTime decided = ParseTime("2026-11-21T00:00:00Z").value();
  {
    const auto store = std::move(HistoryStore::Open(Path("history.db"))).value();
    const std::string why = R"([{"code": "x", "message": "loss moved \u001b[31m"}])";
    const VerdictRecord drifted{"drill-1", "a", Verdict::kDrifted, decided, 3, why};
    ASSERT_TRUE(store->AddDrill("drill-1", decided, {}, {drifted}).ok());
  }
  const Output shown = History({"show", "a"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(Contains(shown.out, "2026-11-21T00:00:00.000Z  ✗ drifted")) << shown.out;
  EXPECT_TRUE(Contains(shown.out, "loss moved")) << shown.out;
  EXPECT_FALSE(Contains(shown.out, "\x1b")) << shown.out;
  const Result<Json> json = ParseJson(History({"show", "a", "--json"}).out, "stdout");
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(json->AsObject().front().first, "schema");
  EXPECT_EQ(json->Find("schema")->AsString(), "rharness.history/v1");
  EXPECT_EQ(json->Find("kind")->AsString(), "run");
  EXPECT_EQ(json->Find("run")->Find("last_verdict")->AsString(), "drifted");
  EXPECT_EQ(json->Find("run")->Find("verified")->AsString(), "2026-11-21T00:00:00.000Z");
  EXPECT_EQ(json->Find("verdicts")->AsArray().at(0).Find("reruns")->ToInt64(), 3);
  EXPECT_EQ(json->Find("manifest")->Find("run_id")->AsString(), "a");
}

TEST_F(HistoryVerb, ShowsAFamilyAndTheRunWhereBothHaveThatName) {
  for (const char* id : {"a", "mlp"}) {
    const std::string path = WriteManifest(std::string(id) + ".json", id);
    const std::string text = Replaced(ReadFile(path).value(), "digits-mlp/epyc", "mlp");
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
    ASSERT_EQ(History({"add", path}).code, 0);
  }
  const WallTime first = ParseTime("2026-11-21T00:00:00Z").value();
  const WallTime second = ParseTime("2026-11-22T00:00:00Z").value();
  {
    const auto store = std::move(HistoryStore::Open(Path("history.db"))).value();
    ASSERT_TRUE(
        store->AddDrill("d1", first, {}, {{"d1", "a", Verdict::kIdentical, first, 1, "[]"}}).ok());
    ASSERT_TRUE(
        store->AddDrill("d2", second, {}, {{"d2", "a", Verdict::kDrifted, second, 1, "[]"}}).ok());
  }
  const Output run = History({"show", "mlp"});
  EXPECT_TRUE(Contains(run.out, "names a family, too; this is the run")) << run.out;
  EXPECT_TRUE(Contains(run.out, "No drill has judged this run yet.")) << run.out;
  const Output family = History({"show", "mlp", "--family"});
  EXPECT_EQ(family.code, 0) << family.err;
  for (const char* part : {"\n1 drifted\n", "1 of 2 runs was never judged", "✓✗"}) {
    EXPECT_TRUE(Contains(family.out, part)) << family.out;
  }
  EXPECT_TRUE(Contains(History({"show", "a"}).out, "last good drill: 2026-11-21T00:00:00.000Z"));
  const Output page = History({"show", "mlp", "--family", "--html", Path("page.html")});
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_TRUE(Contains(ReadFile(Path("page.html")).value(), "1 of 2 runs does not reproduce"));
  const Json json = ParseJson(History({"show", "mlp", "--family", "--json"}).out, "stdout").value();
  EXPECT_EQ(json.Find("kind")->AsString(), "family");
  EXPECT_EQ(json.Find("runs")->AsArray().size(), 2u);
  EXPECT_TRUE(Contains(History({"show", "nobody"}).err, "neither a run nor a family"));
  EXPECT_EQ(History({"show", "a", "--html", "-", "--json"}).code, 2);
  EXPECT_TRUE(Contains(History({"show", "a", "--junit", "-"}).out, "failures=\"1\""));
  EXPECT_TRUE(Contains(History({"list", "--markdown", "-"}).out, "by its last verdict 1 is bad"));
}

TEST_F(HistoryVerb, ListsAsJsonAlsoWhenEmpty) {
  ASSERT_TRUE(HistoryStore::Open(Path("history.db")).ok());
  const auto list = [this] { return ParseJson(History({"list", "--json"}).out, "stdout").value(); };
  EXPECT_TRUE(list().Find("runs")->AsArray().empty());
  ASSERT_EQ(History({"add", WriteManifest("a.json", "a")}).code, 0);
  const Json json = list();
  EXPECT_EQ(json.Find("schema")->AsString(), "rharness.history/v1");
  const Json& run = json.Find("runs")->AsArray().at(0);
  EXPECT_EQ(run.Find("run_id")->AsString(), "a");
  EXPECT_EQ(run.Find("duration_seconds")->ToDouble(), 90.5);
  EXPECT_TRUE(run.Find("verified")->IsNull());
  EXPECT_TRUE(run.Find("last_verdict")->IsNull());
  EXPECT_TRUE(run.Find("retired")->IsNull());
}

TEST_F(HistoryVerb, ReadsTheHistoryFromTheEnvironment) {
  ASSERT_EQ(History({"add", WriteManifest("a.json", "a")}).code, 0);
  const Output listed = Run({"history", "list"}, {"RHARNESS_HISTORY=sqlite:" + Path("history.db")});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(Lines(listed.out).size(), 2u);
}

TEST_F(HistoryVerb, IsSilentUnderQuiet) {
  const Output added = Run(
      {"--quiet", "history", "add", WriteManifest("a.json", "a"), "--history", Path("history.db")});
  EXPECT_EQ(added.code, 0);
  EXPECT_EQ(added.out + added.err, "");
}

TEST_F(HistoryVerb, EndsWithTwoOnACorrectedManifestAndSaysWhatDiffers) {
  const std::string path = WriteManifest("a.json", "a");
  ASSERT_EQ(History({"add", path}).code, 0);
  const std::string text = ReadFile(path).value();
  ASSERT_TRUE(WriteFileAtomic(path, Replaced(text, "\"value\": 0.991", "\"value\": 0.992")).ok());
  const Output other = History({"add", path});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(Contains(other.err, "$.metrics[0].value is 0.991 there, 0.992 here")) << other.err;
}

TEST_F(HistoryVerb, KeepsPasswordsOutOfItsMessages) {
  const Output listed = Run({"history", "list", "--history", "postgresql://u:s3cret@db/h"});
  EXPECT_EQ(listed.code, 2);
  EXPECT_FALSE(Contains(listed.out + listed.err, "s3cret"));
  EXPECT_TRUE(Contains(listed.err, "PGPASSFILE")) << listed.err;
}

}  // namespace
}  // namespace rharness
