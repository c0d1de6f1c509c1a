// What servers are asked: sources of data, a package index, a repository behind git's own daemon.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rebuild/rebuild.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RebuildServers : public testing::Test {
 protected:
  void SetUp() override {
    manifest_.run_id = "r";
    manifest_.command = {"true"};
    options_.network = true;
    options_.packages = true;
    options_.places.root = folder_.path();
  }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
    ::unsetenv("PIP_INDEX_URL");
  }
  void Write(const std::string& relative, const std::string& content) {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / relative, content).ok());
  }
  void Start(std::vector<std::string> argv) {
    server_ = std::thread([this, argv = std::move(argv)] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(2);
      RunProcess({argv, PickEnvironment({"PATH"}), folder_.path()}, limits, {},
                 [this] { return stop_.load(); });
    });
  }
  // Serves `served` and counts requests in the file `asked`; its address.
  std::string Serve() {
    Write("serve.py",
          "import functools, http.server, os\n"
          "class H(http.server.SimpleHTTPRequestHandler):\n"
          "  def log_message(self, *a):\n"
          "    open('asked', 'a').write(self.command + ' ' + self.path + '\\n')\n"
          "s = http.server.HTTPServer(('127.0.0.1', 0), functools.partial(H, directory='served'))\n"
          "open('port.new', 'w').write(str(s.server_port))\n"
          "os.rename('port.new', 'port')\n"
          "s.serve_forever()\n");
    Start({"python3", "serve.py"});
    for (int i = 0; i < 600 && !ReadFile(folder_.path() / "port").ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const auto port = ReadFile(folder_.path() / "port");
    return port.ok() ? "http://127.0.0.1:" + *port : "";
  }
  std::vector<Part> Parts(const std::string& kind) {
    std::vector<Part> parts = Rebuilder(options_).Ask(manifest_).parts;
    std::erase_if(parts, [&](const Part& part) { return part.kind != kind; });
    return parts;
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  RebuildOptions options_;
  Manifest manifest_;
  std::atomic<bool> stop_{false};
  std::thread server_;
};

TEST_F(RebuildServers, ASourceIsAskedByHeadAndOnceForAllRuns) {
  Write("served/train.csv", "1,2,3\n");
  const std::string address = Serve();
  if (address.empty()) GTEST_SKIP() << "no python3 here";
  manifest_.data = {{.name = "a", .path = "a", .source = address + "/train.csv"},
                    {.name = "b", .path = "b", .source = address + "/gone.csv"},
                    {.name = "c", .path = "c", .source = "gs://bucket/key"}};
  Rebuilder rebuilder(options_);
  const auto state = [](const RunParts& run, std::size_t i) { return run.parts.at(i + 1).state; };
  for (int i = 0; i < 2; ++i) {
    const RunParts run = rebuilder.Ask(manifest_);  // the first part is the commit
    EXPECT_EQ(state(run, 0), PartState::kHad) << run.parts[1].why;
    EXPECT_EQ(state(run, 1), PartState::kGone) << run.parts[2].why;
    EXPECT_EQ(state(run, 2), PartState::kUnknown);
  }
  const std::string asked = *ReadFile(folder_.path() / "asked");
  EXPECT_EQ(std::ranges::count(asked, '\n'), 3) << asked;  // with the server's own line of the 404
  EXPECT_THAT(asked, HasSubstr("HEAD /train.csv"));
}

// One that says 200 to everything, such as a page to sign in.
TEST_F(RebuildServers, ThatAnswerOtherThanARegistryDoNotHaveTheImage) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  Write("served/v2/ml/manifests/" + digest, "<html>sign in</html>");
  const std::string address = Serve();
  if (address.empty()) GTEST_SKIP() << "no python3 here";
  manifest_.image = {.kind = ImageKind::kOci,
                     .registry = address.substr(std::string("http://").size()),
                     .repository = "ml",
                     .tag = "1",
                     .digest = digest};
  const Part image = Parts("image").at(0);
  EXPECT_EQ(image.state, PartState::kUnknown) << image.why;
  EXPECT_THAT(image.why, HasSubstr("which is no image's manifest"));
}

TEST_F(RebuildServers, ThatAreNotThereAnswerNothing) {
  manifest_.data = {{.name = "a", .path = "a", .source = "http://127.0.0.1:9/a"}};
  EXPECT_EQ(Parts("data").at(0).state, PartState::kUnknown);
}

TEST_F(RebuildServers, AnIndexIsAskedForTheRecordedVersions) {
  Write("served/simple/numpy/index.html",
        "<a href=\"x/numpy-1.26.4-cp311-cp311-manylinux.whl#sha256=1\">numpy-1.26.4-cp311.whl</a>");
  Write("served/simple/foo-bar/index.html",
        "<a href=\"foo_bar-2.0.tar.gz\">foo_bar-2.0.tar.gz</a>"
        "<a href=\"my-foo-bar-3.0.tar.gz\">x</a>");
  const std::string address = Serve();
  if (address.empty()) GTEST_SKIP() << "no python3 here";
  ::setenv("PIP_INDEX_URL", (address + "/simple/").c_str(), 1);
  const std::string wheel = "sha256:" + std::string(64, 'a');
  const auto answer = [&](const std::string& name, const std::string& version,
                          const std::string& digest) {
    manifest_.environment.packages["python"] = {{name, {version, PackageUse::kNotKnown, digest}}};
    const auto parts = Parts("python packages");
    return parts.back().state;
  };
  EXPECT_EQ(answer("numpy", "1.26.4", wheel), PartState::kHad);
  EXPECT_EQ(answer("foo-bar", "2.0", wheel), PartState::kHad);
  EXPECT_EQ(answer("numpy", "1.26", wheel), PartState::kGone) << "another version";
  EXPECT_EQ(answer("foo-bar", "3.0", wheel), PartState::kGone) << "another project's file";
  EXPECT_EQ(answer("nobody", "1.0", wheel), PartState::kGone);
  EXPECT_EQ(answer("nobody", "1.0", ""), PartState::kUnknown) << "it may be the system's";
  options_.packages = false;
  EXPECT_TRUE(Parts("python packages").empty());
}

TEST_F(RebuildServers, AnIndexWithCredentialsIsNeitherAskedNorNamed) {
  ::setenv("PIP_INDEX_URL", "http://ada:hunter2@127.0.0.1:9/simple", 1);
  manifest_.environment.packages["python"] = {{"numpy", {"1.26.4"}}};
  const auto parts = Parts("python packages");
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].state, PartState::kUnknown);
  EXPECT_THAT(parts[0].why, testing::Not(HasSubstr("hunter2")));
}

TEST_F(RebuildServers, ARemoteRepositoryTellsOfItsTips) {
  const ProcessResult made = RunProcess(
      {{"sh", "-c",
        "mkdir -p repos/a && cd repos/a && git init -q . && "
        "git -c user.name=a -c user.email=b commit -q --allow-empty -m 1 && git rev-parse HEAD && "
        "git -c user.name=a -c user.email=b commit -q --allow-empty -m 2 && git rev-parse HEAD"},
       PickEnvironment({"PATH"}),
       folder_.path()});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "git is not installed";
  const int port = 20000 + static_cast<int>(std::hash<std::string>()(folder_.path()) % 20000);
  Start({"git", "daemon", "--listen=127.0.0.1", fmt::format("--port={}", port), "--export-all",
         "--reuseaddr", "--base-path=" + (folder_.path() / "repos").string()});
  manifest_.code.repository = fmt::format("git://127.0.0.1:{}/a", port);
  manifest_.code.commit = made.stdout_text.substr(41, 40);
  Part tip;
  for (int i = 0; i < 100 && tip.state != PartState::kHad; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    tip = Parts("commit").at(0);
  }
  if (tip.state != PartState::kHad) GTEST_SKIP() << "no git daemon here: " << tip.why;
  manifest_.code.commit = made.stdout_text.substr(0, 40);
  EXPECT_EQ(Parts("commit").at(0).state, PartState::kUnknown) << "an older commit";
  EXPECT_THAT(Parts("commit").at(0).why, HasSubstr("tips"));
}

// Programs of these names before all others on PATH.
class RebuildPrograms : public RebuildServers {
 protected:
  void SetUp() override {
    RebuildServers::SetUp();
    path_ = ::getenv("PATH");
    ::setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    RebuildServers::TearDown();
  }
  void PutProgram(const std::string& name, const std::string& script) {
    Write("bin/" + name, "#!/bin/sh\n" + script);
    fs::permissions(folder_.path() / "bin" / name, fs::perms::owner_all);
  }
  std::string path_;
};

TEST_F(RebuildPrograms, AptIsAskedForThePackagesThatWereUsed) {
  PutProgram("apt-cache", "echo \"$@\" > " + (folder_.path() / "asked").string() +
                              "; echo ' libc6 | 2.36-9 | http://d.example Packages'\n");
  manifest_.environment.packages["dpkg"] = {{"libc6:amd64", {"2.36-9", PackageUse::kUsed}},
                                            {"libm:amd64", {"1.0", PackageUse::kUsed}},
                                            {"docs:all", {"9", PackageUse::kNotKnown}}};
  const auto parts = Parts("dpkg packages");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "1 of 2 versions");
  EXPECT_EQ(parts[0].state, PartState::kHad);
  EXPECT_EQ(parts[1].name, "libm:amd64 1.0");
  EXPECT_EQ(parts[1].state, PartState::kGone);
  EXPECT_EQ(*ReadFile(folder_.path() / "asked"), "madison -- libc6 libm\n");
  PutProgram("apt-cache", "exit 100\n");
  EXPECT_EQ(Parts("dpkg packages").at(0).state, PartState::kUnknown);
  PutProgram("apt-cache", "exit 0\n");
  EXPECT_EQ(Parts("dpkg packages").at(0).state, PartState::kUnknown) << "no archive is known";
}

TEST_F(RebuildPrograms, SkopeoIsAskedForImagesWhereItIs) {
  for (const char* engine : {"podman", "docker"}) PutProgram(engine, "echo '[]'; exit 1\n");
  manifest_.image = {.kind = ImageKind::kOci,
                     .registry = "r.example",
                     .repository = "ml/train",
                     .digest = "sha256:" + std::string(64, 'a')};
  const auto answer = [&](const std::string& script) {
    PutProgram("skopeo", script);
    return Parts("image").at(0);
  };
  EXPECT_EQ(answer("echo '{}'\n").state, PartState::kHad);
  EXPECT_EQ(answer("echo 'reading manifest: manifest unknown' >&2; exit 2\n").state,
            PartState::kGone);
  const Part refused = answer("echo 'unauthorized: authentication required' >&2; exit 1\n");
  EXPECT_EQ(refused.state, PartState::kUnknown);
  EXPECT_THAT(refused.why, HasSubstr("unauthorized"));
  options_.limit = std::chrono::milliseconds(300);
  EXPECT_EQ(answer("exec sleep 20\n").state, PartState::kUnknown) << "held to its time limit";
}

}  // namespace
}  // namespace rharness
