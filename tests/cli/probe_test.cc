// `rharness probe` as a user meets it: the real programs, here and in a real image.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "tests/execution/launch/container_world.h"
#include "tests/reports/schema_validator.h"
#include "tests/sanitized.h"

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

// A program for a shell, in place of rharness-probe; its path.
std::string MakeScript(const fs::path& path, const std::string& body,
                       const std::string& shell = "/bin/sh") {
  EXPECT_TRUE(WriteFileAtomic(path, "#!" + shell + "\n" + body + "\n").ok());
  fs::permissions(path, fs::perms{0755});
  return path;
}

// The program, and that of its other verbs, in this folder; the path of the former.
fs::path CopyOfProgram(const fs::path& folder) {
  fs::copy_file(RHARNESS_BIN_DIR "/rharness-more", folder / "rharness-more");
  fs::copy_file(kProgram, folder / "rharness");
  return folder / "rharness";
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
  const ProcessResult result =
      Probe({"run", "--probe", "env_*", "--repeat", "1", "--processes", "1", "--out", path});
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
  const ProcessResult result = Probe({"run", "--probe", "env_ident", "--probe", "own_reduce_tree",
                                      "--probe", "symv_bits", "--probe", "conv_tree", "--probe",
                                      "atomic_spread", "--repeat", "2", "--processes", "1"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Json json = Parsed(result);
  ASSERT_TRUE(json.IsObject());
  Validator(*schema).Check(json, *schema, "$");
}

TEST(ProbeVerb, RefusesALibraryPathThatIsNoFolderAndAProgramThatIsNoProbe) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const std::string out = folder.path() / "f.json";
  ASSERT_TRUE(WriteFileAtomic(out, "the last one").ok());
  const ProcessResult misspelt =
      Probe({"run", "--probe", "env_ident", "--library-path", "/nowhere", "--out", out});
  EXPECT_EQ(misspelt.outcome.exit_code, 2);
  EXPECT_THAT(misspelt.stderr_text, HasSubstr("--library-path '/nowhere'"));
  const ProcessResult other =
      Probe({"run", "--probe", "env_ident", "--program", "/bin/true", "--out", out});
  EXPECT_EQ(other.outcome.exit_code, 4);
  EXPECT_THAT(other.stderr_text, HasSubstr("wrote no fingerprint"));
  EXPECT_EQ(ReadFile(out).value(), "the last one");
}

TEST(ProbeVerb, SaysWhatItWroteAndWhatWorked) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const std::string out = folder.path() / "f.json";
  EXPECT_EQ(Probe({"run", "--probe", "convert_*", "--repeat", "1", "--out", out}).stdout_text,
            fmt::format("1 probe: 1 ok; written to {}\n", out));
  const ProcessResult absent =
      Probe({"run", "--device", "cuda:999", "--probe", "env_ident_cuda", "--out", out});
  EXPECT_EQ(absent.outcome.exit_code, 4);
  EXPECT_EQ(absent.stdout_text, fmt::format("1 probe: 1 absent; written to {}\n", out));
}

TEST(ProbeVerb, SearchesTheFoldersThatAPythonsPackagesBring) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const fs::path site = folder.path() / "site";
  for (const char* library :
       {"nccl/lib/libnccl.so.2", "cudnn/lib/libcudnn.so.9", "notes/lib/README",
        "cudnn/include/cudnn.h", "../numpy/__init__.py", "../numpy.libs/libopenblas-1.so"}) {
    const fs::path file = site / "nvidia" / library;
    fs::create_directories(file.parent_path());
    ASSERT_TRUE(WriteFileAtomic(file, "").ok());
  }
  const std::string program = MakeScript(folder.path() / "program", "echo $* >&2; exit 2");
  const auto run = [&](const std::string& packages, const std::string& python) {
    auto environment = ProcessEnvironment();
    environment["PYTHONPATH"] = packages;
    // What lies where it runs is none of its packages.
    const fs::path here = folder.path() / "here/nvidia/cublas/lib";
    fs::create_directories(here);
    EXPECT_TRUE(WriteFileAtomic(here / "libcublas.so.13", "").ok());
    return RunProcess({.argv = {kProgram, "probe", "run", "--program", program, "--python", python,
                                "--library-path", "named"},
                       .environment = environment,
                       .working_directory = folder.path() / "here"});
  };
  const std::string nvidia = (site / "nvidia").string();
  const ProcessResult with = run(site, "python3");
  if (with.stderr_text.find("cannot execute 'python3'") != std::string::npos) {
    GTEST_SKIP() << with.stderr_text;
  }
  EXPECT_THAT(with.stderr_text,
              HasSubstr("--library-path named --also-search " + nvidia +
                        "/cudnn/lib --also-search " + nvidia + "/nccl/lib --also-search " +
                        (site / "numpy.libs").string() + " --python python3"));
  EXPECT_THAT(with.stderr_text, Not(HasSubstr("notes")));
  // A distribution's NumPy has the system's libraries.
  const fs::path plain = folder.path() / "plain";
  fs::create_directories(plain / "numpy");
  ASSERT_TRUE(WriteFileAtomic(plain / "numpy/__init__.py", "").ok());
  EXPECT_THAT(run(plain, "python3").stderr_text,
              AllOf(HasSubstr("--python python3"), Not(HasSubstr("plain"))));
  EXPECT_EQ(run(folder.path() / "no-python", folder.path() / "no-python").outcome.exit_code, 4);
  const std::string bare = MakeScript(folder.path() / "bare", "exit 0");
  const ProcessResult without = run(site, bare);
  EXPECT_EQ(without.outcome.exit_code, 2);
  EXPECT_THAT(without.stderr_text, HasSubstr("nvidia-cudnn-cu13"));
  const std::string image = "example.org/a@sha256:" + std::string(64, 'a');
  EXPECT_EQ(Probe({"run", "--python", "python3", "--image", image}).outcome.exit_code, 2);
}

TEST(ProbeVerb, SaysThatThereIsNothingToProbe) {
  const ProcessResult result = Probe({"run", "--device", "cuda:999", "--probe", "env_ident_cuda"});
  if (result.outcome.exit_code == 2) GTEST_SKIP() << "built without GPU probes";
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_THAT(result.stderr_text, HasSubstr("nothing is here to probe"));
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
  const fs::path alone = CopyOfProgram(folder.path());
  const ProcessResult result =
      RunProcess({.argv = {alone, "probe", "list"}, .environment = ProcessEnvironment()});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr((folder.path() / "rharness-probe").string()));
}

TEST(ProbeVerb, StartsTheProgramThatIsNamed) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const std::string named = MakeScript(folder.path() / "named", "echo named $*");
  EXPECT_EQ(Probe({"list", "--program", named}).stdout_text, "named list\n");
  const ProcessResult result =
      RunProcess({.argv = {kProgram, "probe", "list"}, .environment = {{"RHARNESS_PROBE", named}}});
  EXPECT_EQ(result.stdout_text, "named list\n") << result.stderr_text;
  const ProcessResult gone = Probe({"list", "--program", named + "-gone"});
  EXPECT_EQ(gone.outcome.exit_code, 2);
  EXPECT_THAT(gone.stderr_text, HasSubstr(named + "-gone"));
}

// The portable program is for images: here the stack is this machine's.
TEST(ProbeVerb, LeavesThePortableProgramToImages) {
  const ScopedTempDir folder = ScopedTempDir::Make("probe-").value();
  const fs::path program = CopyOfProgram(folder.path());
  MakeScript(folder.path() / "rharness-probe", "echo default");
  MakeScript(folder.path() / "rharness-probe-portable", "echo portable");
  const ProcessResult result =
      RunProcess({.argv = {program, "probe", "list"}, .environment = ProcessEnvironment()});
  EXPECT_EQ(result.stdout_text, "default\n") << result.stderr_text;
}

// What an image must have: the loader and the C library.
class ProbeInImage : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ContainerWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  void SetUp() override {
    if (!world_->ready()) GTEST_SKIP() << "no containers here: " << world_->problem();
  }

  // An image with these files of the folder `root`, pushed; its reference with the digest.
  static std::string MakeImage(const std::string& name, const fs::path& root,
                               const std::vector<std::string>& files) {
    std::string container = Demand({"buildah", "from", "scratch"});
    container.erase(container.find_last_not_of('\n') + 1);
    for (const std::string& file : files) {
      Demand({"buildah", "copy", container, fs::canonical(root / file), "/" + file});
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

constexpr char kShell[] = "/bin/busybox sh";  // of the image "tiny"
constexpr char kLoader[] = "lib64/ld-linux-x86-64.so.2";

// What either program needs of an image; in glibc since 2.34 the last three are empty.
std::vector<std::string> GlibcFiles() {
  std::vector<std::string> files = {kLoader};
  for (const char* library :
       {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}) {
    files.push_back(std::string("lib/x86_64-linux-gnu/") + library);
  }
  return files;
}

TEST_F(ProbeInImage, FingerprintsTheImagesOwnStack) {
  if (!fs::exists(fs::path("/") / kLoader)) GTEST_SKIP() << "no " << kLoader << " to copy";
  if (kSanitized) GTEST_SKIP() << "a sanitizer's libraries are not in the image";
  const std::string image = MakeImage("glibc", "/", GlibcFiles());
  const fs::path out = world_->folder() / "fingerprint.json";
  const ProcessResult result =
      Probe({"run", "--image", image, "--probe", "env_ident", "--out", out});
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(result.stdout_text, fmt::format("1 probe: 1 ok; written to {}\n", out.string()));
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

TEST_F(ProbeInImage, SaysWhatToDoWhereTheImagesGlibcIsTooOld) {
  const std::string image =
      fmt::format("{}/ml/tiny@{}", world_->registry(), world_->first().digest);
  // What the loader of Debian 11 says of a program that Debian 12 linked.
  const std::string old = MakeScript(
      world_->folder() / "old",
      "for v in 2.4 2.34 2.33; do echo \"/rharness-probe: /lib/x86_64-linux-gnu/libc.so.6: "
      "version \\`GLIBC_$v' not found (required by /rharness-probe)\" >&2; done; exit 1",
      kShell);
  const ProcessResult result = Probe({"run", "--image", image, "--program", old});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("needs glibc 2.34 or newer; './dev probe-portable'"));
}

// The portable build, where somebody made it, in an image of the C library that it was made for;
// and there what this machine's own build meets.
TEST_F(ProbeInImage, FingerprintsAnImageWithAnOlderGlibcByThePortableProgram) {
  const fs::path built = fs::path(RHARNESS_SOURCE_DIR) / "build-portable";
  const fs::path portable = built / "bin" / "rharness-probe";
  const fs::path sysroot = built / "sysroot";
  if (!fs::exists(portable) || !fs::exists(sysroot / kLoader)) {
    GTEST_SKIP() << "no " << portable << "; ./dev probe-portable makes it";
  }
  const std::string image = MakeImage("debian11", sysroot, GlibcFiles());
  const auto run = [&](const fs::path& program) {
    return Probe({"run", "--image", image, "--probe", "math_bits", "--program", program});
  };
  const ProcessResult result = run(portable);
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  const Json json = Parsed(result);
  EXPECT_EQ(json.Find("suite")->AsString(), "ok");
  EXPECT_EQ(json.Find("stack")->Find("glibc")->AsString(), "2.31");
  EXPECT_EQ(json.Find("probes")->AsArray()[0].Find("status")->AsString(), "ok");
  if (kSanitized) GTEST_SKIP() << "this build: a sanitizer's libraries are not in the image";
  const ProcessResult own = run(RHARNESS_BIN_DIR "/rharness-probe");
  EXPECT_EQ(own.outcome.exit_code, 2);
  EXPECT_THAT(own.stderr_text, HasSubstr("the image's glibc is too old"));
}

TEST_F(ProbeInImage, PrefersThePortableProgramBesideIt) {
  const std::string image =
      fmt::format("{}/ml/tiny@{}", world_->registry(), world_->first().digest);
  const fs::path folder = world_->folder() / "beside";
  fs::create_directory(folder);
  CopyOfProgram(folder);
  MakeScript(folder / "rharness-probe", "echo default >&2; exit 1", kShell);
  // A link, as ./dev probe-portable leaves it.
  MakeScript(folder / "elsewhere", "echo portable >&2; exit 1", kShell);
  fs::create_symlink("elsewhere", folder / "rharness-probe-portable");
  const ProcessResult result =
      RunProcess({.argv = {folder / "rharness", "probe", "run", "--image", image},
                  .environment = ProcessEnvironment()});
  EXPECT_EQ(result.outcome.exit_code, 4);
  EXPECT_THAT(result.stderr_text, HasSubstr("exited with 1: portable"));
}

}  // namespace
}  // namespace rharness
