// Tables that the real delta-rs writes and reads, and objects of a server that checks signatures as
// S3 does (moto, by botocore's own code).
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it these tests say so and are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "harness/base/subprocess.h"
#include "harness/execution/fetch/pin.h"
#include "harness/execution/rebuild/rebuild.h"
#include "tests/execution/fetch/remote_world.h"
#include "tests/execution/tables/table_folder.h"

namespace rharness {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr char kPeerScripts[] = RHARNESS_SOURCE_DIR "/tests/execution/fetch/peers/";

class DataPeers : public RemoteWorld {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs delta-rs and moto; set RHARNESS_PEERS to their folder";
    }
    python_ = fs::path(folder) / "venv/bin/python";
  }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }
  ProcessSpec Spec(std::vector<std::string> argv) const {
    argv.insert(argv.begin(), python_);
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.working_directory = folder_.path();
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = folder_.path();
    return spec;
  }
  std::string Python(std::vector<std::string> argv) const {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(2);
    const ProcessResult result = RunProcess(Spec(std::move(argv)), limits);
    EXPECT_TRUE(result.outcome.Succeeded()) << result.outcome.ToString() << result.stderr_text;
    return result.stdout_text;
  }
  // What the server's script says of itself.
  Json ServeS3() {
    const std::string state = folder_.path() / "state.json";
    const ProcessSpec spec = Spec({std::string(kPeerScripts) + "s3_server.py", state});
    server_ = std::thread([this, spec] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(3);
      RunProcess(spec, limits, {}, [this] { return stop_.load(); });
    });
    for (int i = 0; i < 600 && !fs::exists(state); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const auto json = ReadJsonFile(state);
    EXPECT_TRUE(json.ok()) << "the server did not start";
    return json.ok() ? *json : Json();
  }

  fs::path python_;
  std::atomic<bool> stop_{false};
  std::thread server_;
};

TEST_F(DataPeers, EveryVersionOfATableIsWhatDeltaRsReadsAndSoIsItsCopy) {
  const fs::path made = folder_.path() / "made";
  Python({RHARNESS_SOURCE_DIR "/tests/execution/tables/make_tables.py", made});
  const auto table = DeltaTable::Open(made / "table");
  ASSERT_TRUE(table.ok()) << table.error().ToString();
  ASSERT_EQ(table->newest(), 5u);
  for (std::uint64_t number = 0; number <= 5; ++number) {
    const auto version = table->Read(number);
    ASSERT_TRUE(version.ok()) << version.error().ToString();
    std::ifstream in(made / "files.txt");
    EXPECT_THAT(FilesOf(version), ElementsAreArray(FilesIn(in, static_cast<int>(number))));
    const fs::path copy = folder_.path() / fmt::format("copy{}", number);
    ASSERT_TRUE(table->WriteTo(*version, copy, DeltaTable::Files::kLinked).ok());
    const std::string script = std::string(kPeerScripts) + "read_table.py";
    EXPECT_EQ(Python({script, copy}), Python({script, made / "table", std::to_string(number)}));
  }
}

TEST_F(DataPeers, AServerThatChecksSignaturesGivesTheVersionThatWasPinned) {
  const Json state = ServeS3();
  ASSERT_TRUE(state.IsObject());
  const auto of = [&](const char* name) { return state.Find(name)->AsString(); };
  variables_ = {{"AWS_ENDPOINT_URL", of("url")},
                {"AWS_ACCESS_KEY_ID", of("access")},
                {"AWS_SECRET_ACCESS_KEY", of("secret")}};
  const auto now = PinSource("s3://data/sets/train x.csv", Put("file", "two"), options_);
  ASSERT_TRUE(now.ok()) << now.error().ToString();
  EXPECT_EQ(now->source, "s3://data/sets/train x.csv?versionId=" + of("second"));
  EXPECT_EQ(now->grade, Grade::kExact) << now->how;
  const std::string first = "s3://data/sets/train x.csv?versionId=" + of("first");
  EXPECT_THAT(PinSource(first, Put("file", "two"), options_).error().ToString(),
              HasSubstr("has another content than"));
  const Fetched fetched = FetchFrom(first, "one");
  EXPECT_EQ(fetched.state, FetchState::kFetched) << fetched.detail;

  const std::string big = std::string(std::size_t{5} << 20, 'a') + "b";
  const auto parts = PinSource("s3://data/parts.bin", Put("big", big), options_);
  ASSERT_TRUE(parts.ok()) << parts.error().ToString();
  EXPECT_EQ(parts->grade, Grade::kHint) << "a digest of digests is none of the content";
  EXPECT_EQ(FetchFrom(parts->source, big).state, FetchState::kFetched);

  variables_["AWS_SECRET_ACCESS_KEY"] += "x";
  EXPECT_THAT(FetchFrom("s3://data/sets/train x.csv", "two").detail,
              HasSubstr("SignatureDoesNotMatch"));
}

// What is had, gone and unknown, as a server says that keeps versions.
TEST_F(DataPeers, ARebuildAsksForTheVersionThatWasRecorded) {
  const Json state = ServeS3();
  ASSERT_TRUE(state.IsObject());
  const auto of = [&](const char* name) { return state.Find(name)->AsString(); };
  ::setenv("AWS_ENDPOINT_URL", of("url").c_str(), 1);
  ::setenv("AWS_ACCESS_KEY_ID", of("access").c_str(), 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", of("secret").c_str(), 1);
  const auto ask = [&](const std::string& source) {
    Manifest manifest;
    manifest.run_id = "r";
    manifest.command = {"true"};
    manifest.data = {DataItem{.name = "a", .path = "a", .size_bytes = 3, .source = source}};
    RebuildOptions options;
    options.network = true;
    options.places.root = folder_.path();
    Part data;
    for (const Part& part : Rebuilder(options).Ask(manifest).parts) {
      if (part.kind == "data") data = part;
    }
    EXPECT_EQ(data.why.find(of("secret")), std::string::npos);
    return data;
  };
  const std::string first = "s3://data/sets/train x.csv?versionId=" + of("first");
  EXPECT_EQ(ask(first).state, PartState::kHad) << ask(first).why;
  EXPECT_EQ(ask("s3://data/sets/train x.csv").state, PartState::kHad);
  EXPECT_EQ(ask("s3://data/gone.csv?versionId=" + of("gone")).state, PartState::kGone);
  EXPECT_EQ(ask("s3://data/marked.csv?versionId=" + of("marked")).state, PartState::kHad);
  EXPECT_EQ(ask("s3://data/marked.csv").state, PartState::kGone);
  EXPECT_EQ(ask("s3://data/parts.bin").state, PartState::kGone) << "of another size";
  ::setenv("AWS_SECRET_ACCESS_KEY", "another", 1);
  EXPECT_EQ(ask(first).state, PartState::kUnknown);
  for (const char* name : {"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace rharness
