// `rharness probe` as a user meets it: the real programs, here and in a real image.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/manifest/environment.h"
#include "tests/launch/container_world.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr char kProgram[] = RHARNESS_BIN_DIR "/rharness";

ProcessResult Probe(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {kProgram, "probe"});
  return RunProcess({.argv = std::move(arguments), .environment = ProcessEnvironment()});
}

Json Parsed(const ProcessResult& result) {
  auto json = ParseJson(result.stdout_text, "stdout");
  EXPECT_TRUE(json.ok()) << result.outcome.ToString() << result.stderr_text;
  return json.ok() ? *json : Json();
}

TEST(ProbeVerb, ListsWhatTheProgramBesideItHas) {
  const ProcessResult result = Probe({"list", "--json"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Parsed(result).Find("schema")->AsString(), "rharness.probes/v1");
  EXPECT_THAT(Probe({"list"}).stdout_text, HasSubstr("env_ident "));
}

TEST(ProbeVerb, PassesOptionsOnAndWritesTheFingerprint) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const std::string path = folder.path() / "new" / "f.json";
  const ProcessResult result = Probe({"run", "--probe", "env_*", "--repeat", "1", "--processes",
                                      "1", "--library-path", "/nowhere", "--out", path});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Json json = ReadJsonFile(path).value();
  ASSERT_EQ(json.Find("probes")->AsArray().size(), 1U);
  EXPECT_EQ(json.Find("probes")->AsArray()[0].Find("status")->AsString(), "ok");
}

TEST(ProbeVerb, WritesWhatTheSchemaDescribes) {
  const Result<Json> schema =
      ReadJsonFile(RHARNESS_SOURCE_DIR "/compare/fingerprints/fingerprint.schema.json");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  // Choices, trees, bits, counts and notes, and a probe that does not repeat.
  const ProcessResult result =
      Probe({"run", "--probe", "env_ident", "--probe", "own_reduce_tree", "--probe", "symv_bits",
             "--probe", "atomic_spread", "--repeat", "2", "--processes", "1"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Json json = Parsed(result);
  ASSERT_TRUE(json.IsObject());
  Validator(*schema).Check(json, *schema, "$");
}

TEST(ProbeVerb, HandsTheExitCodeOn) {
  EXPECT_EQ(Probe({"run", "--probe", "nothing_like_it"}).outcome.exit_code, 2);
  EXPECT_EQ(Probe({"run", "--device", "tpu"}).outcome.exit_code, 2);
  EXPECT_EQ(Probe({}).outcome.exit_code, 2);
}

TEST(ProbeVerb, WantsAnImageThatIsPinned) {
  const ProcessResult result = Probe({"run", "--image", "example.org/ml/train:1"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("not pinned"));
}

TEST(ProbeVerb, SaysThatTheProgramBesideItIsMissing) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const fs::path alone = folder.path() / "rharness";
  fs::copy_file(kProgram, alone);
  const ProcessResult result =
      RunProcess({.argv = {alone, "probe", "list"}, .environment = ProcessEnvironment()});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr((folder.path() / "rharness-probe").string()));
}

// What an image must have: the loader and the C library.
class ProbeInImage : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ContainerWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  void SetUp() override {
    if (!world_->ready()) GTEST_SKIP() << "no containers here: " << world_->problem();
  }

  // An image with these files of this machine, pushed; its reference with the digest.
  static std::string MakeImage(const std::string& name, const std::vector<std::string>& files) {
    std::string container = Demand({"buildah", "from", "scratch"});
    container.erase(container.find_last_not_of('\n') + 1);
    for (const std::string& file : files) {
      Demand({"buildah", "copy", container, fs::canonical(file), file});
    }
    Demand({"buildah", "commit", "--quiet", "--rm", "--format=oci", container, name});
    const fs::path digest = world_->folder() / (name + ".digest");
    Demand({"podman", "push", "--quiet", "--tls-verify=false", "--digestfile=" + digest.string(),
            name, fmt::format("{}/ml/{}:1", world_->registry(), name)});
    return fmt::format("{}/ml/{}@{}", world_->registry(), name, ReadFile(digest).value());
  }

  static std::string Demand(std::vector<std::string> argv) {
    const std::string line = fmt::format("{}", fmt::join(argv, " "));
    ProcessResult result = ContainerWorld::Run(std::move(argv));
    EXPECT_TRUE(result.outcome.Succeeded()) << line << ": " << result.stderr_text;
    return std::move(result.stdout_text);
  }

  static std::unique_ptr<ContainerWorld> world_;
};
std::unique_ptr<ContainerWorld> ProbeInImage::world_;

TEST_F(ProbeInImage, FingerprintsTheImagesOwnStack) {
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  if (!fs::exists(loader)) GTEST_SKIP() << "no " << loader << " to make an image of";
  const std::string libraries = "/lib/x86_64-linux-gnu/";
  const std::string image =
      MakeImage("glibc", {loader, libraries + "libc.so.6", libraries + "libm.so.6"});
  const fs::path out = world_->folder() / "fingerprint.json";
  const ProcessResult result =
      Probe({"run", "--image", image, "--probe", "env_ident", "--out", out});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Json json = ReadJsonFile(out).value();
  EXPECT_EQ(json.Find("suite")->AsString(), "ok");
  // The image has no os-release, this machine has one.
  EXPECT_EQ(json.Find("stack")->Find("os"), nullptr);
  EXPECT_EQ(json.Find("context")->Find("host")->AsString(), "job");
  EXPECT_TRUE(image.ends_with("@" + json.Find("context")->Find("image")->AsString()));
  EXPECT_EQ(json.Find("probes")->AsArray()[0].Find("status")->AsString(), "ok");
}

TEST_F(ProbeInImage, SaysWhenTheImageCannotRunIt) {
  const std::string image =
      fmt::format("{}/ml/tiny@{}", world_->registry(), world_->first().digest);
  const ProcessResult result = Probe({"run", "--image", image, "--probe", "env_ident"});
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_EQ(result.stdout_text, "");
  EXPECT_THAT(result.stderr_text, HasSubstr("rharness-probe in the image"));
}

}  // namespace
}  // namespace rharness
