// Packages by name and version, found from what the processes of a run were made of.
#include "harness/records/manifest/packages.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/lock_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class Packages : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
    root_ = fs::canonical(folder_->path());
  }
  fs::path At(const std::string& path) const { return root_ / path; }
  void Write(const std::string& path, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(At(path), content).ok());
  }
  // A distribution with these files in the folder.
  void Install(const std::string& folder, const std::string& name, const std::string& version,
               const std::string& record) const {
    Write(folder + "/" + name + "-" + version + ".dist-info/RECORD", record);
  }
  SeenProgram Python(const std::string& executable, const std::string& invoked_as) const {
    return {.executable = At(executable).string(),
            .invoked_as = invoked_as,
            .working_directory = root_.string(),
            .variables = {}};
  }

 private:
  std::unique_ptr<ScopedTempDir> folder_;
  fs::path root_;
};

TEST_F(Packages, OfAVirtualEnvironmentAreFoundFromThePythonThatRan) {
  const std::string site = "venv/lib/python3.11/site-packages";
  Write("base/bin/python3.11", "");
  Install("base/lib/python3.11/site-packages", "outside", "1.0", "outside.py,,\n");
  Write("venv/pyvenv.cfg", "home = base/bin\ninclude-system-site-packages = false\n");
  fs::create_directories(At("venv/bin"));
  fs::create_symlink(At("base/bin/python3.11"), At("venv/bin/python"));
  Install(site, "numpy", "1.26.4", "numpy/core/_umath.so,sha256=x,1\nnumpy/a.py,,\n");
  Install(site, "ujson", "5.0", "ujson.cpython-311.so,,\n");
  Install(site, "Jax_Like", "0.4.35", "jax_like/__init__.py,,\n");
  Footprint footprint;
  footprint.programs.insert(Python("base/bin/python3.11", "venv/bin/python"));
  footprint.mapped.insert(At(site + "/numpy/core/_umath.so").string());
  const auto packages = CapturePackages(footprint, At("no dpkg here"));
  ASSERT_EQ(packages.size(), 1u);
  const PackageList& python = packages.at("python");
  ASSERT_EQ(python.size(), 3u);
  EXPECT_EQ(python.at("numpy").version, "1.26.4");
  EXPECT_EQ(python.at("numpy").use, PackageUse::kUsed);
  EXPECT_EQ(python.at("ujson").use, PackageUse::kNotUsed);
  EXPECT_EQ(python.at("jax-like").version, "0.4.35");
  EXPECT_EQ(python.at("jax-like").use, PackageUse::kNotKnown) << "pure Python leaves no trace";
}

TEST_F(Packages, AreSearchedInTheOrderOfThePython) {
  Write("base/bin/python3.11", "");
  Install("extra", "numpy", "2.4.6", "");
  Install("base/lib/python3.11/site-packages", "numpy", "1.26.4", "");
  Write("base/lib/python3.11/site-packages/PyYAML-6.0-py3.11.egg-info", "Name: PyYAML\n");
  Write("base/lib/python3.11/site-packages/six.egg-info/PKG-INFO",
        "Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n\nVersion: 9\n");
  Footprint footprint;
  SeenProgram python = Python("base/bin/python3.11", "python3");
  python.variables = {{"PATH", At("base/bin").string()}, {"PYTHONPATH", "extra:none"}};
  footprint.programs.insert(python);
  EXPECT_EQ(PackageFolders(footprint),
            (std::vector<fs::path>{At("extra"), At("base/lib/python3.11/site-packages")}));
  const PackageList list = CapturePackages(footprint, At("none")).at("python");
  EXPECT_EQ(list.at("numpy").version, "2.4.6");
  EXPECT_EQ(list.at("pyyaml").version, "6.0");
  EXPECT_EQ(list.at("six").version, "1.16.0");
}

class SeveralPythons : public Packages {
 protected:
  void SetUp() override {
    Packages::SetUp();
    Write("base/bin/python3.11", "");
    Install("base/lib/python3.11/site-packages", "outside", "1.0", "outside/x.so,,\n");
    for (const std::string name : {"venv", "tool"}) {
      Write(name + "/pyvenv.cfg", "home = base/bin\nversion = 3.11.2\n");
      fs::create_directories(At(name + "/bin"));
      fs::create_symlink(At("base/bin/python3.11"), At(name + "/bin/python"));
      Install(name + "/lib/python3.11/site-packages", "of-" + name, "1.0", "");
    }
    footprint_.programs.insert(Python("base/bin/python3.11", "venv/bin/python"));
  }
  void Add(const SeenProgram& program) { footprint_.programs.insert(program); }
  // Name of each package of the run's list.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const auto packages = CapturePackages(footprint_, At("none"));
    for (const auto& [name, package] : packages.at("python")) names.push_back(name);
    return names;
  }
  using Strings = std::vector<std::string>;

  Footprint footprint_;
};

TEST_F(SeveralPythons, ASampleWithinExecveNamesNoOtherPython) {
  Add(Python("base/bin/python3.11", ""));
  EXPECT_EQ(Names(), Strings{"of-venv"});
}

TEST_F(SeveralPythons, NorDoesOneAfterTheProcessLeftItsFolder) {
  SeenProgram elsewhere = Python("base/bin/python3.11", "venv/bin/python");
  elsewhere.working_directory = "/";
  Add(elsewhere);
  Add(Python("base/bin/python3.11", "trainer: step 7"));
  EXPECT_EQ(Names(), Strings{"of-venv"});
}

TEST_F(SeveralPythons, ALauncherInTheSystemsPythonLeavesTheRunToTheEnvironment) {
  Add(Python("base/bin/python3.11", At("base/bin/python3.11").string()));
  footprint_.mapped.insert(At("base/lib/python3.11/site-packages/outside/x.so").string());
  EXPECT_EQ(Names(), Strings{"of-venv"}) << "what the launcher mapped is not the run's";
  const auto python = FindPython(footprint_, At(""));
  ASSERT_TRUE(python);
  EXPECT_EQ(python->prefix, At("venv").string());
  EXPECT_EQ(python->place, "venv");
  EXPECT_EQ(python->program, "bin/python");
  EXPECT_EQ(python->interpreter, At("base/bin/python3.11").string());
}

TEST_F(SeveralPythons, AScriptThatChoosesAPythonIsNone) {
  Write("shims/python3", "#!/bin/sh\nexec python3.11\n");
  Footprint chosen;
  chosen.programs.insert(Python("shims/python3", At("shims/python3").string()));
  EXPECT_FALSE(FindPython(chosen, At("")));
  Write("versions/3.11.7/bin/python3.11", "");
  chosen.programs.insert(
      Python("versions/3.11.7/bin/python3.11", At("versions/3.11.7/bin/python3.11").string()));
  EXPECT_EQ(FindPython(chosen, At(""))->prefix, At("versions/3.11.7").string());
  EXPECT_EQ(FindPython(chosen, At(""))->kind, PythonKind::kPyenv);
}

TEST_F(SeveralPythons, OfTwoEnvironmentsTheOneIsMeantThatItsVariablesName) {
  SeenProgram tool = Python("base/bin/python3.11", "tool/bin/python");
  tool.variables = {{"VIRTUAL_ENV", At("venv").string()}};
  Add(tool);
  SeenProgram run = Python("base/bin/python3.11", "venv/bin/python");
  run.variables = tool.variables;
  Add(run);
  EXPECT_EQ(FindPython(footprint_, At(""))->prefix, At("venv").string());
  EXPECT_EQ(Names(), Strings{"of-venv"});
}

TEST_F(SeveralPythons, TheMakerOfAnEnvironmentIsReadFromItsSettings) {
  EXPECT_EQ(FindPython(footprint_, At(""))->kind, PythonKind::kVenv);
  Write("venv/pyvenv.cfg", "home = base/bin\nuv = 0.5.1\nversion_info = 3.11.2\n");
  EXPECT_EQ(FindPython(footprint_, At(""))->kind, PythonKind::kUv);
  Write("conda/conda-meta/history", "");
  Write("conda/bin/python3.12", "");
  Footprint conda;
  conda.programs.insert(Python("conda/bin/python3.12", At("conda/bin/python3.12").string()));
  EXPECT_EQ(FindPython(conda, At(""))->kind, PythonKind::kConda);
  EXPECT_FALSE(FindPython(Footprint{}, At("")));
}

TEST_F(Packages, OfAnEmbeddedPythonAreFoundFromWhatWasMapped) {
  Install("app/site-packages", "torch", "2.1.0", "torch/lib/libtorch.so,,\n");
  Footprint footprint;
  footprint.programs.insert(Python("app/server", "app/server"));
  footprint.mapped.insert(At("app/site-packages/torch/lib/libtorch.so").string());
  EXPECT_EQ(CapturePackages(footprint, At("none")).at("python").at("torch").use, PackageUse::kUsed);
}

TEST_F(Packages, AreNotKnownWhereNoProcessWasSeen) {
  const auto packages = CapturePackages(Footprint{}, At("none"));
  EXPECT_FALSE(packages.contains("python")) << "an empty list would say that there are none";
  Footprint shell;
  shell.programs.insert(Python("bin/sh", "sh"));
  EXPECT_TRUE(CapturePackages(shell, At("none")).at("python").empty());
}

TEST_F(Packages, OfTheHostAreInUseWhereAFileOfThemWasMapped) {
  const auto package = [](const std::string& name) {
    return "Package: " + name + "\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1-" +
           name + "\n\n";
  };
  Write("var/lib/dpkg/status", package("libblas3") + package("htop") + package("tzdata"));
  Write("var/lib/dpkg/info/libblas3:amd64.list", "/.\n/lib/x86_64-linux-gnu/libblas.so.3.11\n");
  Write("var/lib/dpkg/info/htop.list", "/.\n/usr/bin/htop\n");
  Write("var/lib/dpkg/info/tzdata.list", "/.\n/usr/share/zoneinfo/UTC\n");
  Footprint footprint;
  footprint.programs.insert(Python("bin/train", "train"));
  footprint.mapped = {"/usr/lib/x86_64-linux-gnu/libblas.so.3.11"};
  PackageList list = CapturePackages(footprint, At("")).at("dpkg");
  EXPECT_EQ(list.at("libblas3:amd64").version, "1-libblas3");
  EXPECT_EQ(list.at("libblas3:amd64").use, PackageUse::kUsed) << "/lib is /usr/lib";
  EXPECT_EQ(list.at("htop:amd64").use, PackageUse::kNotUsed);
  EXPECT_EQ(list.at("tzdata:amd64").use, PackageUse::kNotKnown) << "data is read, not mapped";
  list = CapturePackages(Footprint{}, At("")).at("dpkg");
  EXPECT_EQ(list.at("htop:amd64").use, PackageUse::kNotKnown) << "nothing was seen at all";
}

TEST_F(Packages, ComeBackFromJsonAndAreLeftOutWhereNotCaptured) {
  Environment environment;
  environment.packages["python"] = {{"numpy", {"1.26.4", PackageUse::kUsed}},
                                    {"jax", {"0.4.35", PackageUse::kNotKnown}},
                                    {"ujson", {"5", PackageUse::kNotUsed}}};
  environment.packages["dpkg"] = {};
  const Json json = ToJson(environment);
  Environment again;
  JsonReader reader(json, "e.json");
  ReadEnvironment(reader, &again);
  ASSERT_TRUE(reader.ok()) << reader.status().error().ToString();
  EXPECT_TRUE(again.packages.contains("dpkg"));
  EXPECT_EQ(again.packages.at("python").at("ujson").use, PackageUse::kNotUsed);
  EXPECT_EQ(again.packages.at("python").at("jax").version, "0.4.35");
  EXPECT_EQ(ToJson(again).Dump(), json.Dump());
  EXPECT_EQ(ToJson(Environment{}).Dump().find("packages"), std::string::npos);
}

TEST(PythonNames, AreNormalised) {
  EXPECT_EQ(NormalPythonName("Foo.Bar_baz"), "foo-bar-baz");
  EXPECT_EQ(NormalPythonName("a--_.b"), "a-b");
}

TEST_F(Packages, OfOneWheelHaveOneDigestWhereverItIsInstalled) {
  const std::string own =
      "numpy/core.py,sha256=abc,10\n\"numpy/a,b.py\",sha256=def,3\n"
      "numpy-1.26.4.dist-info/METADATA,sha256=ghi,5\n";
  const std::string info = "numpy-1.26.4.dist-info/";
  Install("one", "numpy", "1.26.4", own + info + "RECORD,,\n");
  Install("two", "numpy", "1.26.4",
          "../../../bin/f2py,sha256=shebang,200\n" + info + "INSTALLER,sha256=uv,2\n" + info +
              "REQUESTED,sha256=x,0\n" + info + "direct_url.json,sha256=y,9\n" +
              "numpy/__pycache__/core.cpython-311.pyc,,\n" + own);
  Install("rebuilt", "numpy", "1.26.4", "numpy/core.py,sha256=other,10\n");
  Install("bare", "numpy", "1.26.4", "numpy/core.py,,\n");
  Install("editable", "numpy", "1.26.4", own);
  Write("editable/numpy-1.26.4.dist-info/direct_url.json",
        R"({"url": "file:///src", "dir_info": {"editable": true}})");
  const auto digest = [&](const std::string& folder) {
    PackageMap packages;
    AddPythonPackages(At(folder), {}, &packages);
    return packages.at("numpy").digest;
  };
  EXPECT_TRUE(digest("one").starts_with("sha256:"));
  EXPECT_EQ(digest("one").size(), 7u + 64u);
  EXPECT_EQ(digest("two"), digest("one"));
  EXPECT_NE(digest("rebuilt"), digest("one"));
  EXPECT_EQ(digest("bare"), "");
  EXPECT_EQ(digest("editable"), "") << "its files lie elsewhere";
}

TEST_F(Packages, OfCondaAreThoseOfTheEnvironmentThatAProgramIsOf) {
  const std::string sha256(64, '1'), md5(32, '2');
  Write("env/conda-meta/numpy-1.26.4-py311h.json",
        R"({"name": "numpy", "version": "1.26.4", "build": "py311h", "sha256": ")" + sha256 +
            R"(", "md5": "x", "files": ["lib/python3.11/_umath.so"]})");
  Write("env/conda-meta/old-1.json", R"({"name": "old", "version": "1", "md5": ")" + md5 + "\"}");
  Write("env/conda-meta/broken.json", "{");
  Write("env/conda-meta/history", "");
  Footprint footprint;
  footprint.programs.insert(Python("env/bin/python3.11", "python"));
  footprint.mapped.insert(At("env/lib/python3.11/_umath.so").string());
  const auto packages = CapturePackages(footprint, At("no dpkg here"));
  const PackageList& conda = packages.at("conda");
  ASSERT_EQ(conda.size(), 2u);
  EXPECT_EQ(conda.at("numpy"), (Package{"1.26.4-py311h", PackageUse::kUsed, "sha256:" + sha256}));
  EXPECT_EQ(conda.at("old"), (Package{"1", PackageUse::kNotKnown, "md5:" + md5}));
}

TEST_F(Packages, KeepTheirDigestsInJson) {
  Environment environment;
  const std::string digest = "sha256:" + std::string(64, 'a');
  environment.packages["python"] = {{"jax", {"0.4", PackageUse::kNotKnown}},
                                    {"numpy", {"1.26", PackageUse::kUsed, digest}}};
  const std::string text = ToJson(environment).Dump();
  const auto read = [](const std::string& from) {
    const Json json = *ParseJson(from, "test");
    JsonReader reader(json, "test");
    Environment out;
    ReadEnvironment(reader, &out);
    return std::pair(reader.status(), out);
  };
  ASSERT_TRUE(read(text).first.ok()) << read(text).first.error().ToString();
  EXPECT_EQ(read(text).second.packages, environment.packages);
  EXPECT_FALSE(PackageList(environment.packages["python"]) ==
               PackageList({{"jax", {"0.4"}}, {"numpy", {"1.26", PackageUse::kUsed}}}));
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"sha256:a", "sha256:A"},
                                 {digest, "sha1:" + std::string(40, 'a')},
                                 {"\"numpy\":\"sha256", "\"nunpy\":\"sha256"}}) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), from.size(), to);
    EXPECT_FALSE(read(wrong).first.ok()) << wrong;
  }
}

TEST_F(Packages, AreReadAgainWhereTheFolderHasChanged) {
  Install("site", "numpy", "1.26.4", "numpy/a.py,sha256=a,1\n");
  PackageMap before, after;
  AddPythonPackages(At("site"), {}, &before);
  Install("site", "jax", "0.4", "jax/a.py,sha256=a,1\n");
  AddPythonPackages(At("site"), {}, &after);
  EXPECT_EQ(before.size(), 1u);
  EXPECT_EQ(after.size(), 2u);
}

TEST_F(Packages, LockFilesAreFoundFromTheCodesRootToTheWorkingDirectory) {
  Write("code/uv.lock", "abc");
  Write("code/requirements-dev.txt", "abc");
  Write("code/train/environment.yml", "abc");
  Write("code/train/notes.txt", "abc");
  Write("code/other/poetry.lock", "abc");
  fs::create_symlink("/etc/passwd", At("code/poetry.lock"));
  constexpr char kSha256OfAbc[] =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const std::map<std::string, std::string> expected = {{"requirements-dev.txt", kSha256OfAbc},
                                                       {"train/environment.yml", kSha256OfAbc},
                                                       {"uv.lock", kSha256OfAbc}};
  EXPECT_EQ(FindLockFiles(At("code"), "train"), expected);
  EXPECT_TRUE(FindLockFiles(At("nowhere"), "").empty());
}

}  // namespace
}  // namespace rharness
