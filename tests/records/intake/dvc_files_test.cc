// DVC's files, read as documented; hashes against values that DVC 3.67 gave.
#include "harness/records/intake/dvc_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest_md5.h"
#include "harness/base/subprocess.h"
#include "harness/records/intake/dvc_command.h"
#include "harness/records/intake/dvc_contents.h"
#include "harness/records/intake/dvc_ignore.h"
#include "harness/records/intake/dvc_results.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Words = std::vector<std::string>;

TEST(Md5, IsThatOfRfc1321) {
  EXPECT_EQ(*Md5HexOf(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(*Md5HexOf("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(*Md5HexOf("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(DvcFiles, LockOfSchemaTwoHasStagesWithEntries) {
  const auto lock = ParseDvcLock(R"(schema: '2.0'
stages:
  train:
    cmd: python3 train.py
    deps:
    - {path: data, hash: md5, md5: 4c9bcc02227d28b27a9b5fb66eb3012f.dir, size: 13, nfiles: 2}
    - {path: 's3://b/k', etag: '"x-2"', size: 5}
    params: {params.yaml: {train.lr: 0.1}}
    outs:
    - {path: model.pkl, md5: 6f8f57715090da2632453988d9a1501b, size: 1}
  two: {cmd: [a, "b\nc\n"]}
)",
                                 "dvc.lock");
  ASSERT_TRUE(lock.ok()) << lock.error().ToString();
  ASSERT_THAT(lock->stages, SizeIs(2));
  const DvcStage& train = lock->stages[0];
  EXPECT_EQ(train.deps[0].Digest(), "md5:4c9bcc02227d28b27a9b5fb66eb3012f.dir");
  EXPECT_TRUE(train.deps[0].directory);
  EXPECT_EQ(train.deps[0].size_bytes, 13u);
  EXPECT_EQ(train.deps[1].Digest(), "etag:\"x-2\"");
  EXPECT_FALSE(train.deps[1].IsMd5());
  EXPECT_EQ(train.outs[0].Digest(), "md5-dos2unix:6f8f57715090da2632453988d9a1501b");
  EXPECT_EQ(train.params.Dump(), R"({"params.yaml":{"train.lr":0.1}})");
  EXPECT_THAT(lock->stages[1].commands, ElementsAre("a", "b", "c"));
  EXPECT_NE(train.sha256, lock->stages[1].sha256);
}

TEST(DvcFiles, LockOfSchemaOneIsItsStagesAndOthersAreRefusedByName) {
  const auto one = ParseDvcLock(
      "train: {cmd: a, outs: [{path: m, md5: " + std::string(32, 'a') + "}]}\n", "dvc.lock");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->stages.at(0).outs.at(0).algorithm, "md5-dos2unix");
  const auto other = ParseDvcLock("schema: '3.0'\nstages: {}\n", "dvc.lock");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(other.error().ToString(), HasSubstr("'3.0'; expected 2.0 or 1.0"));
  EXPECT_FALSE(ParseDvcLock("[]", "dvc.lock").ok());
  EXPECT_FALSE(ParseDvcLock("schema: '2.0'\nstages: [a]\n", "dvc.lock").ok());
}

TEST(DvcFiles, MalformedStageIsNamedAndOthersStay) {
  const auto lock = ParseDvcLock(R"(schema: '2.0'
stages:
  bad: {cmd: a, outs: [{path: m, hash: md5, md5: ZZ}]}
  worse: {cmd: a, deps: [m]}
  good: {cmd: a}
)",
                                 "dvc.lock");
  ASSERT_TRUE(lock.ok());
  ASSERT_THAT(lock->stages, SizeIs(1));
  EXPECT_EQ(lock->stages[0].name, "good");
  ASSERT_THAT(lock->refused, SizeIs(2));
  EXPECT_THAT(lock->refused[0].second.ToString(), HasSubstr("stages.bad.outs: md5 'ZZ'"));
  EXPECT_THAT(lock->refused[1].second.ToString(), HasSubstr("stages.worse.deps: expected"));
}

TEST(DvcFiles, BombOfAliasesIsRefused) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string before = "*" + std::string(1, static_cast<char>(c - 1));
    text += std::string(1, c) + ": &" + c + " [" + before;
    for (int i = 0; i < 7; ++i) text += ", " + before;
    text += "]\n";
  }
  const auto lock = ParseDvcLock(text, "dvc.lock");
  ASSERT_FALSE(lock.ok());
  EXPECT_THAT(lock.error().ToString(), HasSubstr("values"));
}

TEST(DvcFiles, TrackedFileHasItsOutputsAndWhereTheyCameFrom) {
  const auto tracked = ParseDvcFile(
      "md5: 00\nwdir: ..\ndeps:\n- {path: 'https://ada:pw@host/x.csv?t=1', etag: e}\nouts:\n"
      "- {path: x.csv, hash: md5, md5: 2306b4377429730ee03a806cff76e92b}\n",
      "x.csv.dvc");
  ASSERT_TRUE(tracked.ok());
  EXPECT_EQ(tracked->folder, "..");
  EXPECT_EQ(tracked->url, "https://host/x.csv");
  EXPECT_EQ(tracked->outs.at(0).path, "x.csv");
  const auto stage = ParseDvcFile("cmd: python x.py\nouts: []\n", "x.dvc");
  ASSERT_FALSE(stage.ok());
  EXPECT_EQ(stage.error().code, ErrorCode::kUnsupported);
}

TEST(DvcFiles, PipelineHasMetricsAndPlotsInAllTheirForms) {
  const auto pipeline = ParseDvcYaml(R"(
stages:
  train:
    wdir: sub
    metrics: [a.json, {b.json: {cache: false}}]
    plots: [c.csv, {d.csv: {x: epoch, y: loss}}]
  each:
    foreach: [1, 2]
    do: {cmd: x, metrics: ["m-${item}.json"]}
metrics: [e.json]
plots:
- f.csv: {x: step}
- named: {x: s, y: {g.csv: loss, h.csv: [a, b]}}
)",
                                     "dvc.yaml");
  ASSERT_TRUE(pipeline.ok()) << pipeline.error().ToString();
  const DvcPipelineStage& train = pipeline->stages.at("train");
  EXPECT_EQ(train.folder, "sub");
  EXPECT_THAT(train.metrics, ElementsAre("a.json", "b.json"));
  ASSERT_THAT(train.plots, SizeIs(2));
  EXPECT_EQ(train.plots[1].x, "epoch");
  EXPECT_THAT(pipeline->stages.at("each").metrics, ElementsAre("m-${item}.json"));
  EXPECT_THAT(pipeline->metrics, ElementsAre("e.json"));
  ASSERT_THAT(pipeline->plots, SizeIs(3));
  EXPECT_EQ(pipeline->plots[1].path, "g.csv");
  EXPECT_EQ(pipeline->plots[1].x, "s");
}

TEST(DvcFiles, ConfigGivesTheDefaultRemoteWithoutCredentials) {
  const DvcConfig config =
      ParseDvcConfig({"[core]\n    remote = origin\n['remote \"origin\"']\n"
                      "    url = https://ada:secret@host/dvc?sig=1\n    password = pw\n",
                      "[cache]\n  dir = /mnt/cache\n# dir = no\n"});
  EXPECT_EQ(config.remote_url, "https://host/dvc");
  EXPECT_EQ(config.cache_folder, "/mnt/cache");
  EXPECT_EQ(ParseDvcConfig({"[core]\nno setting\n"}).remote_url, "");
}

// The first MD5 is that of the example in DVC's documentation, the second one DVC 3.67's.
TEST(DvcFiles, ListingIsWrittenAsDvcWritesIt) {
  EXPECT_EQ(*Md5HexOf(WriteDvcListing({{"index.jpeg", "402e97968614f583ece3b35555971f64"},
                                       {"cat.jpeg", "de7371b0119f4f75f9de703c7c3bac16"}})),
            "6fdb5336fce0dbfd669f83065f107551");
  EXPECT_EQ(
      *Md5HexOf(WriteDvcListing({{"train.csv", "b202f333fba4fd38d4b8e5e693077aab"},
                                 {"sub/\u00fcn\u00ef.txt", "88df14e6957d2adb8ae54d0269f546ab"}})),
      "4c9bcc02227d28b27a9b5fb66eb3012f");
  const std::string md5(32, 'a');
  const std::string text =
      WriteDvcListing({{"a/b", md5}, {"a-b", md5}, {"\u00e9\U0001F600\"\\\x7f", md5}});
  EXPECT_EQ(text, "[{\"md5\": \"" + md5 + "\", \"relpath\": \"a-b\"}, {\"md5\": \"" + md5 +
                      "\", \"relpath\": \"a/b\"}, {\"md5\": \"" + md5 +
                      "\", \"relpath\": \"\\u00e9\\ud83d\\ude00\\\"\\\\\\u007f\"}]");
  EXPECT_EQ(WriteDvcListing({}), "[]");
  EXPECT_THAT(WriteDvcListing({{"x\xff", md5}}), HasSubstr("x\\udcff"));
}

TEST(DvcFiles, ListingThatLeavesItsFolderIsRefused) {
  const auto listing = [](const std::string& path) {
    return ParseDvcListing(
        R"([{"md5": ")" + std::string(32, 'a') + R"(", "relpath": ")" + path + R"("}])", "x.dir");
  };
  EXPECT_TRUE(listing("a/b").ok());
  for (const char* path : {"../a", "/etc/passwd", "a/../../b", "", "a//b", "./a", "a/"}) {
    EXPECT_FALSE(listing(path).ok()) << path;
  }
  EXPECT_FALSE(ParseDvcListing("{}", "x.dir").ok());
  EXPECT_FALSE(ParseDvcListing("[1]", "x.dir").ok());
  const std::string one = R"({"md5": ")" + std::string(32, 'a') + R"(", "relpath": "a"})";
  EXPECT_FALSE(ParseDvcListing("[" + one + "," + one + "]", "x.dir").ok());
}

// The values are DVC 3.67's: file_md5(name="md5-dos2unix").
TEST(DvcFiles, OldHashTakesLineEndsAsOneWhereAPieceIsText) {
  const auto old = [](std::string_view text) { return *DvcMd5Of(text, true); };
  EXPECT_EQ(old("a\r\nb\r\n"), "dd8c6a395b5dd36c56d23275028f526c");
  EXPECT_EQ(old("a\r\nb\r\n"), *Md5HexOf("a\nb\n"));
  EXPECT_EQ(old("a\rb\r"), *Md5HexOf("a\rb\r"));
  EXPECT_EQ(*DvcMd5Of("a\r\n", false), *Md5HexOf("a\r\n"));
  const std::string binary("a\r\n\0b\r\n", 7);
  EXPECT_EQ(old(binary), "e9edb956dbaaaedb0aa43117f5961b20");
  // 30 % of other bytes are text still, more are not.
  EXPECT_EQ(old("\x01\x01\x01wxyz_\r\n"), "efe0264968f308042af753cb7c037418");
  EXPECT_EQ(old("\x01\x01\x01\x01wxyz\r\n"), "3d5000f9e55f6de0bf48f74aa08d4813");
  // CR and LF in two pieces stay; the second piece is judged by itself.
  std::string split(std::size_t{1} << 20, 'x');
  split.back() = '\r';
  EXPECT_EQ(old(split + "\n"), "059b9ae010d821b197fb177c19d8542f");
  const std::string tail(std::string("\0\r\n", 3));
  EXPECT_EQ(old(split + tail), *Md5HexOf(split + tail));
  EXPECT_EQ(old("a\r\n" + std::string(600, '\0')), *Md5HexOf("a\r\n" + std::string(600, '\0')));
  EXPECT_EQ(old(std::string(600, 'a') + std::string("\0\r\n", 3)),
            *Md5HexOf(std::string(600, 'a') + std::string("\0\n", 2)));
}

TEST(DvcIgnore, PatternsAreThoseOfGitignore) {
  DvcIgnore ignore;
  ignore.Add("", "# no\n*.tmp\n!keep.tmp\n/top\nlogs/\na/**/z\nb/*\n[xy]?.c\n\\#x\nd/**\n");
  ignore.Add("sub", "/here\n*.o\n");
  const auto file = [&](const char* path) { return ignore.Ignores(path, false); };
  EXPECT_TRUE(file("x.tmp"));
  EXPECT_TRUE(file("q/r/x.tmp"));
  EXPECT_FALSE(file("q/keep.tmp"));
  EXPECT_TRUE(file("top"));
  EXPECT_FALSE(file("q/top"));
  EXPECT_FALSE(file("logs"));
  EXPECT_TRUE(ignore.Ignores("q/logs", true));
  EXPECT_TRUE(file("a/z"));
  EXPECT_TRUE(file("a/b/c/z"));
  EXPECT_FALSE(file("a/b/c/y"));
  EXPECT_TRUE(file("b/c"));
  EXPECT_FALSE(ignore.Ignores("b", true));
  EXPECT_TRUE(file("x1.c"));
  EXPECT_FALSE(file("z1.c"));
  EXPECT_TRUE(file("#x"));
  EXPECT_TRUE(file("d/e"));
  EXPECT_FALSE(ignore.Ignores("d", true));
  EXPECT_TRUE(file("sub/here"));
  EXPECT_FALSE(file("sub/q/here"));
  EXPECT_FALSE(file("here"));
  EXPECT_TRUE(file("sub/q/x.o"));
  EXPECT_FALSE(file("x.o"));
  EXPECT_TRUE(ignore.Ignores("data/.dvc", true));
  EXPECT_TRUE(file(".git"));
}

TEST(DvcCommand, PlainLinesAreTheirWordsAndOthersGoToAShell) {
  EXPECT_EQ(PlainWords("python3  train.py --lr=0.1 seed=7 'a b' \"c \\\"d\" e\\ f x#y"),
            (Words{"python3", "train.py", "--lr=0.1", "seed=7", "a b", "c \"d", "e f", "x#y"}));
  EXPECT_EQ(PlainWords("./run ''"), (Words{"./run", ""}));
  for (const char* line :
       {"a > b", "a | b", "a; b",     "a && b",   "a $X",     "a `b`", "a *.c", "A=1 b", "cd x",
        "a 'b",  "a \"b", "a \"$b\"", "a #b",     "~/a",      "a\\",   "{a,b}", "",      "  ",
        "''",    "a & ",  "a (b)",    "source x", "export A", "a\nb",  "[ a ]", "! a"}) {
    EXPECT_FALSE(PlainWords(line)) << line;
  }
  EXPECT_EQ(CommandOfLines({"a b"}), (Words{"a", "b"}));
  EXPECT_EQ(CommandOfLines({"a > b"}), (Words{"/bin/sh", "-c", "a > b"}));
  const Words two = CommandOfLines({"a", "b c"});
  ASSERT_THAT(two, SizeIs(6));
  EXPECT_THAT(two[2], HasSubstr("|| exit"));
  EXPECT_EQ(two[5], "b c");
  EXPECT_THAT(CommandOfLines({}), SizeIs(0));
}

TEST(DvcCommand, LinesRunOneAfterTheOtherUntilOneFails) {
  const auto run = [](const Words& lines) {
    ProcessSpec spec{.argv = CommandOfLines(lines), .environment = PickEnvironment({"PATH"})};
    return RunProcess(spec);
  };
  EXPECT_EQ(run({"echo a; false; echo b", "X=1", "echo c$X"}).stdout_text, "a\nb\nc\n");
  const ProcessResult failed = run({"echo a", "exit 3", "echo b"});
  EXPECT_EQ(failed.stdout_text, "a\n");
  EXPECT_EQ(failed.outcome.exit_code, 3);
}

TEST(DvcResults, ParametersThatDifferAreNamed) {
  const Json recorded =
      *ParseDvcValues(R"({"train.lr": 0.1, "seed": 7, "m": {"n": 1}, "gone": 1})", "a.json");
  const Json today = *ParseDvcValues("train: {lr: 0.2}\nseed: 7.0\nm: {n: 1}\n", "params.yaml");
  EXPECT_THAT(DifferingParams(recorded, today),
              ElementsAre("train.lr (0.2 there, 0.1 recorded)", "gone (not there, 1 recorded)"));
  EXPECT_EQ(ParseDvcValues("a = 1", "params.toml").error().code, ErrorCode::kUnsupported);
}

TEST(DvcResults, PlotsAreReadInTheFormsThatDvcHas) {
  const auto curve = [](std::string_view text, const char* file, const char* x = "") {
    const auto curves = ParseDvcPlot(text, file, x);
    EXPECT_TRUE(curves.ok()) << curves.error().ToString();
    return curves.ok() && !curves->empty() ? curves->front() : CurveSeries();
  };
  EXPECT_THAT(curve("step,loss\n1,0.5\n2,0.25\n", "p.csv").values, ElementsAre(0.5, 0.25));
  const CurveSeries tsv = curve("round\tloss\n3\t0.5\n5\t0.25\n", "p.tsv", "round");
  EXPECT_THAT(tsv.steps, ElementsAre(3, 5));
  EXPECT_EQ(tsv.name, "loss");
  EXPECT_THAT(curve(R"([{"loss": 1}, {"loss": 0.5}])", "p.json").steps, ElementsAre(0, 1));
  EXPECT_THAT(
      curve(R"({"train": [{"n": 2, "loss": 1}, {"n": 4, "loss": 0.5}]})", "p.json", "n").steps,
      ElementsAre(2, 4));
  EXPECT_FALSE(ParseDvcPlot("x", "p.png", "").ok());
  EXPECT_FALSE(ParseDvcPlot("[1]", "p.json", "").ok());
}

}  // namespace
}  // namespace rharness
