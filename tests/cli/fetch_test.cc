// rharness fetch and drill --data-cache: data that moved, changed or went.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "harness/base/digest.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class Fetch : public DrillProgram {
 protected:
  void SetUp() override { Record("a", {}); }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }
  // Serves `folder`; skips where there is no python3.
  void Serve(const std::string& folder) {
    if (std::system("python3 -c '' 2> /dev/null") != 0) GTEST_SKIP() << "no python3 here";
    Write("serve.py",
          "import functools, http.server, os, sys\n"
          "h = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])\n"
          "s = http.server.HTTPServer(('127.0.0.1', 0), h)\n"
          "open('port.new', 'w').write(str(s.server_port))\n"
          "os.rename('port.new', 'port')\n"
          "s.serve_forever()\n");
    server_ = std::thread([this, folder] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(2);
      RunProcess(ProcessSpec{{"python3", "serve.py", folder}, environment_, folder_.path()}, limits,
                 {}, [this] { return stop_.load(); });
    });
    for (int i = 0; i < 600 && !ReadFile(At("port")).ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_TRUE(ReadFile(At("port")).ok()) << "the server did not start";
  }
  void SetSource(const std::string& source) {
    auto manifest = LoadManifest(At("runs/a.json"));
    ASSERT_TRUE(manifest.ok());
    manifest->data.at(0).source = source;
    ASSERT_TRUE(WriteJsonFile(At("runs/a.json"), ToJson(*manifest)).ok());
  }
  std::string ServedSource() const { return "http://127.0.0.1:" + Read(At("port")) + "/value"; }
  ProcessResult FetchRun(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "fetch", "--cache", "cache", "runs"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  std::filesystem::path Cached() const {
    const std::string hash = Sha256HexOf("0.75");
    return At("cache/sha256/" + hash.substr(0, 2) + "/" + hash);
  }

  std::atomic<bool> stop_{false};
  std::thread server_;
};

TEST_F(Fetch, BringsWhatIsGoneFromItsSourceForADrill) {
  Write("served/value", "0.75");
  Serve("served");
  SetSource(ServedSource());
  Add();
  EXPECT_THAT(FetchRun().stdout_text, HasSubstr("1 in place; brought 0 bytes"));
  Write("value", "0.5!!");  // others lie there now
  const ProcessResult fetched = FetchRun();
  EXPECT_EQ(fetched.outcome.exit_code, 0) << fetched.stdout_text << fetched.stderr_text;
  EXPECT_THAT(fetched.stdout_text, HasSubstr("1 fetched; brought 4 bytes"));
  EXPECT_EQ(Read(Cached()), "0.75");
  EXPECT_THAT(FetchRun().stdout_text, HasSubstr("1 cached"));
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 not comparable"));
  std::filesystem::remove_all(At("out"));
  const ProcessResult drill = Drill({"--data-cache", "cache"});
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
}

TEST_F(Fetch, KeepsNothingThatIsNotWhatWasRecorded) {
  Write("served/value", "0.7!");
  Serve("served");
  SetSource(ServedSource());
  std::filesystem::remove(At("value"));
  const ProcessResult result = FetchRun();
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_THAT(result.stdout_text, HasSubstr("value of a: failed: "));
  EXPECT_THAT(result.stdout_text, HasSubstr("expected " + Sha256HexOf("0.75")));
  EXPECT_FALSE(std::filesystem::exists(Cached()));
  EXPECT_TRUE(std::filesystem::is_empty(At("cache/incoming")));
  SetSource(ServedSource() + "-gone");
  EXPECT_THAT(FetchRun().stdout_text, HasSubstr("404"));
}

TEST_F(Fetch, ARecordHoldsAStatedSourceToItsFile) {
  Write("served/value", "0.75");
  Serve("served");
  const auto record = [&](const std::string& source) {
    return Run({kRharness, "record", "--overwrite", "--out", "runs/b.json", "--data", "value",
                "--source", source, "--", "touch", "ran"});
  };
  const ProcessResult recorded = record("value=" + ServedSource());
  EXPECT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  const Manifest manifest = *LoadManifest(At("runs/b.json"));
  EXPECT_EQ(manifest.data.at(0).source, ServedSource());
  ASSERT_TRUE(manifest.origin.has_value());
  EXPECT_EQ(manifest.origin->fields.at(0).grade, Grade::kHint);
  std::filesystem::remove(At("ran"));
  Write("served/value", "0.7");
  EXPECT_THAT(record("value=" + ServedSource()).stderr_text, HasSubstr("has 3 bytes"));
  EXPECT_THAT(record("valve=" + ServedSource()).stderr_text,
              HasSubstr("with the name of a --data"));
  EXPECT_FALSE(std::filesystem::exists(At("ran")));
}

TEST_F(Fetch, CopiesWhatIsInPlaceBeforeItChanges) {
  Add();
  EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr("1 fetched; brought 4 bytes"));
  EXPECT_EQ(Read(Cached()), "0.75");
  std::filesystem::remove(At("value"));
  EXPECT_EQ(Drill({"--data-cache", "cache"}).outcome.exit_code, 0);
}

TEST_F(Fetch, NamesWhatCannotBeHadOrCostsTooMuch) {
  EXPECT_EQ(FetchRun({"--copy", "--budget", "3B"}).outcome.exit_code, 3);
  EXPECT_THAT(FetchRun({"--copy", "--budget", "3B"}).stdout_text, HasSubstr("1 over budget"));
  std::filesystem::remove(At("value"));
  EXPECT_THAT(FetchRun().stdout_text, HasSubstr("value of a: nowhere: not at its location, and the "
                                                "record has no source of it"));
  SetSource("gs://bucket/value");
  EXPECT_THAT(FetchRun().stdout_text, HasSubstr("its source gs://bucket/value cannot be asked"));
  SetSource("https://ada:pw@host/value");
  EXPECT_EQ(FetchRun().outcome.exit_code, 2);
}

TEST_F(Fetch, TakesNothingElseInTheCacheForTheData) {
  const std::string other = "failed: the cached file is a different one";
  std::filesystem::create_directories(Cached().parent_path());
  ASSERT_EQ(::mkfifo(Cached().c_str(), 0600), 0);
  EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr(other));
  std::filesystem::remove(Cached());
  for (const char* target : {"/dev/zero", "/etc/passwd"}) {
    std::filesystem::create_symlink(target, Cached());
    EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr(other)) << target;
    std::filesystem::remove(Cached());
  }
  std::filesystem::create_directory(Cached());
  EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr(other));
  std::filesystem::remove(Cached());
  Write(Cached().lexically_relative(At("")), "0.7");
  const ProcessResult shorter = FetchRun({"--copy"});
  EXPECT_THAT(shorter.stdout_text, HasSubstr(other));
  EXPECT_EQ(shorter.outcome.exit_code, 3);
  std::filesystem::remove(Cached());
  EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr("1 fetched"));
  EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr("1 cached"));
}

// Of a fetch that was killed; what is younger may be another's that goes on.
TEST_F(Fetch, ClearsWhatWasLeftHalfWrittenADayAgo) {
  const std::string name = "cache/incoming/" + Sha256HexOf("0.75");
  Write(name + ".1", "0.");
  Write(name + ".2", "0.");
  std::filesystem::last_write_time(
      At(name + ".1"), std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_THAT(FetchRun({"--copy"}).stdout_text, HasSubstr("1 fetched"));
  EXPECT_FALSE(std::filesystem::exists(At(name + ".1")));
  EXPECT_TRUE(std::filesystem::exists(At(name + ".2")));
}

// The MD5s are md5sum's.
TEST_F(Fetch, TakesFromACacheOfDvcsWhatHasTheRecordedHash) {
  std::filesystem::remove(At("value"));
  const auto set = [&](const std::string& digest, DataKind kind, const std::string& sha256,
                       std::uint64_t bytes) {
    auto manifest = LoadManifest(At("runs/a.json"));
    ASSERT_TRUE(manifest.ok());
    DataItem& item = manifest->data.at(0);
    item.other_digest = digest;
    item.kind = kind;
    item.sha256 = sha256;
    item.size_bytes = bytes;
    ASSERT_TRUE(WriteJsonFile(At("runs/a.json"), ToJson(*manifest)).ok());
  };
  const std::string value = "md5:4c8d9ac7c62b7fbf21fb2f2ae14dd65b";
  set(value, DataKind::kFile, Sha256HexOf("0.75"), 4);
  EXPECT_THAT(FetchRun({"--dvc-cache", "dvc"}).stdout_text, HasSubstr("nowhere"));
  Write("dvc/files/md5/4c/8d9ac7c62b7fbf21fb2f2ae14dd65b", "0.7!");
  EXPECT_THAT(FetchRun({"--dvc-cache", "dvc"}).stdout_text, HasSubstr("failed: "));
  Write("dvc/files/md5/4c/8d9ac7c62b7fbf21fb2f2ae14dd65b", "0.75!");
  EXPECT_THAT(FetchRun({"--dvc-cache", "dvc"}).stdout_text, HasSubstr("more bytes than recorded"));
  EXPECT_TRUE(std::filesystem::is_empty(At("cache/incoming")));
  Write("dvc/files/md5/4c/8d9ac7c62b7fbf21fb2f2ae14dd65b", "0.75");
  EXPECT_THAT(FetchRun({"--dvc-cache", "dvc"}).stdout_text, HasSubstr("1 fetched"));
  EXPECT_EQ(Read(Cached()), "0.75");

  Write("tree/a", "x");
  Write("tree/s/b", "0.75");
  const std::string tree = HashTree(At("tree"))->sha256;
  set("md5-dos2unix:00000000000000000000000000000001.dir", DataKind::kDirectory, tree, 5);
  const auto list = [&](const std::string& second) {
    Write("old/00/000000000000000000000000000001.dir",
          R"([{"md5": "9dd4e461268c8034f5c8564e155c67a6", "relpath": "a"}, {"md5": ")" +
              value.substr(4) + R"(", "relpath": ")" + second + R"("}])");
  };
  list("s/b");
  const std::vector<std::string> both = {"--dvc-cache", "dvc", "--dvc-cache", "old"};
  EXPECT_THAT(FetchRun(both).stdout_text,
              HasSubstr("9dd4e461268c8034f5c8564e155c67a6: is in no --dvc-cache"));
  Write("old/9d/d4e461268c8034f5c8564e155c67a6", "x");
  list("../b");
  EXPECT_THAT(FetchRun(both).stdout_text, HasSubstr("stays in its folder"));
  list("a/b");
  const ProcessResult both_ways = FetchRun(both);
  EXPECT_THAT(both_ways.stdout_text, HasSubstr("'a' is a file and a folder"));
  EXPECT_EQ(both_ways.outcome.exit_code, 3) << both_ways.stderr_text;
  list("s/c");
  EXPECT_THAT(FetchRun(both).stdout_text, HasSubstr("expected " + tree));
  list("s/b");
  EXPECT_THAT(FetchRun(both).stdout_text, HasSubstr("1 fetched; brought 5 bytes"));
  EXPECT_EQ(Read(At("cache/sha256/" + tree.substr(0, 2) + "/" + tree + "/s/b")), "0.75");
}

TEST_F(Fetch, WritesNothingInADryRun) {
  EXPECT_THAT(FetchRun({"--copy", "--dry-run"}).stdout_text, HasSubstr("would bring 4 bytes"));
  EXPECT_FALSE(std::filesystem::exists(At("cache")));
}

}  // namespace
}  // namespace rharness
