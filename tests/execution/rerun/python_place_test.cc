// Which environment a rerun gets, and what its job is given for it; no Python is run.
#include "harness/execution/rerun/python_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/files.h"
#include "harness/execution/rerun/make_python.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PythonPlaceTest : public testing::Test {
 protected:
  PythonPlaceTest() : folder_(*ScopedTempDir::Make()), base_(fs::canonical(folder_.path())) {
    places_.root = base_;
    MakeEnvironment("env");
    manifest_.command = {".venv/bin/python", "train.py"};
    manifest_.environment.python = PythonEnvironment{.kind = PythonKind::kVenv,
                                                     .prefix = At("env"),
                                                     .place = ".venv",
                                                     .program = "bin/python",
                                                     .interpreter = "/usr/bin/python3.11",
                                                     .version = "3.11.2"};
    fs::create_directories(base_ / "ws");
  }
  std::string At(const std::string& name) const { return (base_ / name).string(); }
  void Write(const std::string& name, const std::string& text, bool executable = false) const {
    fs::create_directories((base_ / name).parent_path());
    ASSERT_TRUE(WriteFileAtomic(base_ / name, text).ok());
    ASSERT_EQ(::chmod(At(name).c_str(), executable ? 0755 : 0644), 0);
  }
  void MakeEnvironment(const std::string& name) const {
    Write(name + "/pyvenv.cfg", "home = /usr/bin\n");
    Write(name + "/bin/python", "", true);
    Write(name + "/bin/torchrun", "#!/recorded/bin/python\n", true);
    Write(name + "/lib/python3.11/site-packages/numpy-1.26.4.dist-info/RECORD",
          "numpy/__init__.py,sha256=a,1\n");
  }
  PythonEnvironment& Recorded() { return *manifest_.environment.python; }
  PythonPlace Choose() const {
    auto place = ChoosePython(manifest_, places_, {});
    EXPECT_TRUE(place.ok());
    return place.ok() ? *place : PythonPlace();
  }
  Job Given(const EnvironmentOverrides& overrides = {}) const {
    Job job{.command = manifest_.command, .workspace = base_ / "ws"};
    job.environment = {{"PATH", "/usr/bin"}};
    GivePython(manifest_, Choose(), overrides, &job);
    return job;
  }

  const ScopedTempDir folder_;
  const fs::path base_;
  Places places_;
  Manifest manifest_;
};

TEST_F(PythonPlaceTest, TheRecordedInterpreterIsStartedByItsOwnPath) {
  EXPECT_THAT(Given().command, ElementsAre(At("env/bin/python"), "train.py"));
  EXPECT_EQ(Given().environment.at("PATH"), "/usr/bin") << "it was not activated";
  manifest_.command = {"bash", "train.sh"};
  EXPECT_THAT(Given().command, ElementsAre("bash", "train.sh"));
}

TEST_F(PythonPlaceTest, AnActivatedOneComesFirstUnlessTheDrillSaysOtherwise) {
  Recorded().activated = true;
  manifest_.command = {"torchrun", "train.py"};
  const Job job = Given();
  EXPECT_THAT(job.command, ElementsAre("torchrun", "train.py"));
  EXPECT_EQ(job.environment.at("PATH"), At("env/bin") + ":/usr/bin");
  EXPECT_EQ(job.environment.at("VIRTUAL_ENV"), At("env"));
  EXPECT_EQ(Given({{"PATH", "/own"}}).environment.at("PATH"), "/usr/bin") << "as it was set before";
  fs::create_directories(base_ / "env/conda-meta");
  Recorded().kind = PythonKind::kConda;
  EXPECT_EQ(Given().environment.at("CONDA_PREFIX"), At("env"));
}

TEST_F(PythonPlaceTest, AScriptOfAMovedOneIsStartedByItsPython) {
  manifest_.command = {".venv/bin/torchrun", "train.py"};
  EXPECT_THAT(Given().command, ElementsAre(At("env/bin/torchrun"), "train.py"));
  MakeEnvironment("other");
  places_.maps = {{At("env"), base_ / "other"}};
  EXPECT_THAT(Given().command,
              ElementsAre(At("other/bin/python"), At("other/bin/torchrun"), "train.py"));
  places_.maps = {{At("env"), base_ / "nothing"}};
  EXPECT_EQ(Choose().prefix, At("env")) << "where the map leads to nothing, it may have stayed";
}

TEST_F(PythonPlaceTest, OneThatIsGoneIsAnObstacleThatSaysWhatToDo) {
  fs::remove_all(base_ / "env");
  const PythonPlace place = Choose();
  ASSERT_TRUE(place.obstacle);
  EXPECT_EQ(place.obstacle->layer, Layer::kEnvironment);
  EXPECT_THAT(place.obstacle->reason, HasSubstr(At("env") + " is not here"));
  EXPECT_THAT(place.obstacle->reason, HasSubstr("--python-environment"));
  Recorded().kind = PythonKind::kSystem;
  EXPECT_FALSE(Choose().obstacle) << "another machine has its own";
  EXPECT_TRUE(Choose().prefix.empty());
}

TEST_F(PythonPlaceTest, OneWhoseInterpreterIsGoneIsAnObstacle) {
  fs::remove(base_ / "env/bin/python");
  fs::create_symlink("/no/such/python3.9", base_ / "env/bin/python");
  EXPECT_THAT(Choose().obstacle->reason, HasSubstr("leads to /no/such/python3.9"));
}

TEST_F(PythonPlaceTest, AnImageHasAPythonOfItsOwn) {
  manifest_.image.kind = ImageKind::kOci;
  fs::remove_all(base_ / "env");
  EXPECT_FALSE(Choose().obstacle);
  EXPECT_THAT(Given().command, ElementsAre(".venv/bin/python", "train.py"));
}

TEST_F(PythonPlaceTest, FoldersOfTheSearchPathAreThoseOfTheWorkspace) {
  Recorded().search_path = {"src", ".", "/opt/lib"};
  EXPECT_EQ(Given().environment.at("PYTHONPATH"), At("ws/src") + ":" + At("ws") + ":/opt/lib");
  manifest_.environment.variables["PYTHONPATH"] = "/named";
  EXPECT_FALSE(Given().environment.contains("PYTHONPATH"))
      << "the record's variable is set already";
}

TEST_F(PythonPlaceTest, ALinkIsPutWhereTheCommandFindsIt) {
  ASSERT_TRUE(LinkPython(manifest_, Choose(), base_ / "ws").ok());
  EXPECT_EQ(fs::read_symlink(base_ / "ws/.venv"), base_ / "env");
  EXPECT_FALSE(MissingProgram(manifest_, Choose(), base_ / "ws"));
  Write("ws/tools/env/kept", "");
  Recorded().place = "tools/env";
  ASSERT_TRUE(LinkPython(manifest_, Choose(), base_ / "ws").ok());
  EXPECT_TRUE(fs::exists(base_ / "ws/tools/env/kept")) << "what the code has there stays";
  fs::create_directories(base_ / "outside");
  fs::create_directory_symlink(base_ / "outside", base_ / "ws/link");
  Recorded().place = "link/env";
  ASSERT_TRUE(LinkPython(manifest_, Choose(), base_ / "ws").ok());
  EXPECT_TRUE(fs::is_empty(base_ / "outside")) << "nothing is put outside of the workspace";
}

TEST_F(PythonPlaceTest, AnInterpreterThatNobodyHasIsAnObstacleAndNoTroubleOfTheMachine) {
  manifest_.environment.python.reset();
  const auto obstacle = MissingProgram(manifest_, Choose(), base_ / "ws");
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->layer, Layer::kEnvironment);
  manifest_.command = {"python3", "train.py"};
  EXPECT_FALSE(MissingProgram(manifest_, Choose(), base_ / "ws"));
  manifest_.command = {"./train.sh"};
  EXPECT_FALSE(MissingProgram(manifest_, Choose(), base_ / "ws")) << "its own error says so";
}

TEST_F(PythonPlaceTest, PackagesThatAreOthersAreNamedByVersionAndContents) {
  const std::string digest = "sha256:" + std::string(64, '0');
  const auto list = [&](const std::string& version, const std::string& its) {
    manifest_.environment.packages["python"] =
        PackageMap{{"numpy", {.version = version, .digest = its}}};
  };
  EXPECT_THAT(OtherPackages(manifest_, base_ / "env"), IsEmpty()) << "no list, no difference";
  list("1.25.0", digest);
  EXPECT_THAT(OtherPackages(manifest_, base_ / "env"),
              ElementsAre("numpy 1.26.4 (recorded 1.25.0)"));
  list("1.26.4", digest);
  EXPECT_THAT(OtherPackages(manifest_, base_ / "env"),
              ElementsAre("numpy 1.26.4 with other contents"));
  list("1.26.4", "");
  EXPECT_THAT(OtherPackages(manifest_, base_ / "env"), IsEmpty());
  manifest_.environment.packages["python"] =
      PackageMap{{"numpy", {.version = "1.26.4"}}, {"jax", {.version = "0.4", .digest = digest}}};
  EXPECT_THAT(OtherPackages(manifest_, base_ / "env"), ElementsAre("no jax (recorded 0.4)"));
}

TEST_F(PythonPlaceTest, AKeyIsOfVersionAndPackagesAlone) {
  manifest_.environment.packages["python"] = PackageMap{{"numpy", {.version = "1.26.4"}}};
  const std::string key = EnvironmentKey(manifest_);
  Recorded().prefix = "/elsewhere";
  EXPECT_EQ(EnvironmentKey(manifest_), key);
  Recorded().version = "3.12.0";
  EXPECT_NE(EnvironmentKey(manifest_), key);
}

TEST_F(PythonPlaceTest, NamesThatAreOptionsOrAddressesAreNotGivenToAnInstaller) {
  Recorded().interpreter = "/no/such/python";
  for (const std::string name : {"-r/etc/passwd", "a @ https://x", "a\nb"}) {
    manifest_.environment.packages["python"] =
        PackageMap{{name, {.version = "1", .digest = "sha256:" + std::string(64, '0')}}};
    EXPECT_FALSE(MakePython(manifest_, base_ / "made", {}).ok()) << name;
  }
}

TEST(ReadPythonEnvironment, RefusesWhatIsNotSafeToHandle) {
  const auto read = [](const std::string& member) {
    Manifest manifest;
    manifest.run_id = "r";
    manifest.environment.python = PythonEnvironment{.prefix = "/env"};
    std::string text = ToJson(manifest).Dump();
    const std::string plain = R"("kind":"system","prefix":"/env")";
    const bool names_kind = member.find("kind") != member.npos;
    text.replace(text.find(plain), plain.size(), (names_kind ? "" : R"("kind":"venv",)") + member);
    return ParseManifest(*ParseJson(text, "m"), "m").ok();
  };
  EXPECT_TRUE(read(R"("prefix":"/env","kind":"uv")"));
  EXPECT_TRUE(read(R"("prefix":"/env","place":"a/.venv","search_path":["src",".","/opt"])"));
  EXPECT_FALSE(read(R"("prefix":"env")"));
  EXPECT_FALSE(read(R"("prefix":"/a:/b")"));
  EXPECT_FALSE(read(R"("prefix":"/env","place":"../out")"));
  EXPECT_FALSE(read(R"("prefix":"/env","program":"/bin/sh")"));
  EXPECT_FALSE(read(R"("prefix":"/env","search_path":["../out"])"));
  EXPECT_FALSE(read(R"("prefix":"/env","search_path":["a:b"])"));
  EXPECT_FALSE(read(R"("prefix":"/env","kind":"other")"));
}

}  // namespace
}  // namespace rharness
