// Reruns in real containers under observation: what is seen of a stranger's image, and that it is
// only seen.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/rerun.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

// Files of this machine as an image: $1 is its new root, $2 a Python; shells, sort(1) and what they
// are linked with at the paths that they have here. dpkg's lists are those of the image alone. A
// wheel brings a library, which is libm by another name.
constexpr char kMakeRoot[] = R"sh(set -e
root=$1 python=$2
mkdir -p "$root/tmp" "$root/proc" "$root/opt" "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64"
for link in bin lib lib64; do [ ! -L /$link ] || ln -s usr/$link "$root/$link"; done
add() {
  real=$(realpath "$1")
  mkdir -p "$root$(dirname "$real")" "$root$(realpath "$(dirname "$1")")"
  [ -e "$root$real" ] || cp "$real" "$root$real"
  named=$(realpath "$(dirname "$1")")/$(basename "$1")
  [ -e "$root$named" ] || ln -s "$real" "$root$named"
}
closure() {
  add "$1"
  for file in $(ldd "$1" | grep -o '/[^ ]*'); do add "$file"; done
}
for program in sh sort cat dd ln rm sleep; do closure "$(command -v $program)"; done
libc=$(ldd /bin/cat | grep -o '/[^ ]*libc\.so\.6')
if [ -n "$python" ]; then
  closure "$python"
  stdlib=$("$python" -c 'import os; print(os.path.dirname(os.__file__))')
  mkdir -p "$root$stdlib"
  (cd "$stdlib" && tar -cf - --exclude=test --exclude=__pycache__ --exclude=site-packages \
    --exclude=dist-packages --exclude='config-*' --exclude=idlelib --exclude=lib2to3 .) |
    tar -xf - -C "$root$stdlib"
  for file in $("$python" -c 'import _ctypes; print(getattr(_ctypes, "__file__", ""))'); do
    closure "$file"
  done
  wheel=$root/opt/wheels/lib/python3/site-packages
  mkdir -p "$wheel/numerics" "$wheel/Numerics-4.2.dist-info"
  cp "$(realpath "$(dirname "$libc")/libm.so.6")" "$wheel/numerics/libnumblas.so"
  echo 'numerics/libnumblas.so,sha256=x,1' >"$wheel/Numerics-4.2.dist-info/RECORD"
fi
mkdir -p "$root/var/lib/dpkg/info"
printf 'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-ofimage\n\n' \
  >"$root/var/lib/dpkg/status"
{ realpath "$libc"; echo "$libc"; } >"$root/var/lib/dpkg/info/libc6:amd64.list"
echo 'gamma: 2' >"$root/opt/settings.yaml"
)sh";

class ObservedImage : public testing::TestWithParam<const char*> {
 protected:
  struct Done {
    RerunResult result;
    std::string output;
    const Observation& seen() const { return *result.evidence.observation; }
    std::vector<std::string> unseen() const { return seen().unseen; }
  };

  static void SetUpTestSuite() {
    world_ = std::make_unique<ContainerWorld>();
    problem_ = world_->problem();
    if (!problem_.empty()) return;
    python_ = Demand({"sh", "-c",
                      "command -v python3 >/dev/null || exit 0; "
                      "python3 -c 'import os, sys; print(os.path.realpath(sys.executable))'"});
    python_.erase(python_.find_last_not_of('\n') + 1);
    root_ = world_->folder() / "root";
    Demand({"sh", "-c", kMakeRoot, "make", root_, python_});
    image_ = Push(root_, {});
    docker_ = world_->StartDocker();
  }
  static void TearDownTestSuite() { world_.reset(); }

  void SetUp() override {
    if (!problem_.empty()) GTEST_SKIP() << "no containers here: " << problem_;
    if (std::string(GetParam()) == "docker" && !docker_) {
      GTEST_SKIP() << "no docker here: " << world_->problem();
    }
    folder_ = std::make_unique<ScopedTempDir>(*ScopedTempDir::Make("rharness-observed-"));
    manifest_.run_id = "r";
    manifest_.code.repository = ".";
    manifest_.environment.variables["BATCH"] = "32";
    manifest_.environment.variables["UNREAD"] = "1";
    manifest_.image = ImageOf(image_);
    manifest_.observation.emplace().means = {std::string(kSeenByMaps), std::string(kSeenByPreload),
                                             std::string(kSeenByPython)};
    fs::create_directories(folder_->path() / "root");
  }

  static std::string Demand(const std::vector<std::string>& argv) {
    if (!problem_.empty()) return {};
    ProcessResult result = ContainerWorld::Run(argv);
    if (!result.outcome.Succeeded()) {
      problem_ =
          fmt::format("{}: {} {}", argv.front(), result.outcome.ToString(), result.stderr_text);
    }
    return result.stdout_text;
  }

  // An image of a folder; its digest. `config`: options of `buildah config`.
  static std::string Push(const fs::path& root, std::vector<std::string> config) {
    std::string container = Demand({"buildah", "from", "scratch"});
    container.erase(container.find_last_not_of('\n') + 1);
    Demand({"buildah", "copy", "--quiet", container, root.string(), "/"});
    if (!config.empty()) {
      config.insert(config.begin(), {"buildah", "config"});
      config.push_back(container);
      Demand(config);
    }
    const std::string digest_file = world_->folder() / "observed-digest";
    Demand(
        {"buildah", "commit", "--quiet", "--rm", "--format=oci", container, "localhost/observed"});
    Demand({"podman", "push", "--quiet", "--tls-verify=false", "--digestfile=" + digest_file,
            "localhost/observed", world_->registry() + "/ml/observed:1"});
    const auto digest = ReadFile(digest_file);
    return digest.ok() ? *digest : std::string();
  }
  static Image ImageOf(const std::string& digest) {
    Image image;
    image.kind = ImageKind::kOci;
    image.registry = world_->registry();
    image.repository = "ml/observed";
    image.digest = digest;
    return image;
  }

  Done Rerun(std::vector<std::string> command, bool can_start = true) {
    manifest_.command = std::move(command);
    const fs::path drill = folder_->path() / fmt::format("drill{}", ++drills_);
    fs::create_directories(drill);
    const auto launcher = MakeLauncher(GetParam());
    const auto executor = MakeLocalExecutor();
    RerunContext context{
        .folder = drill, .executor = executor.get(), .cache = &cache_, .clock = &SystemClock()};
    if (launcher.ok()) context.launchers[GetParam()] = launcher->get();
    Ticket ticket{.launcher = GetParam(), .manifest = manifest_};
    ticket.places.root = folder_->path() / "root";
    ticket.resources.timeout_seconds = 60;
    auto result = CarryOut(ticket, context);
    EXPECT_TRUE(result.ok()) << result.error().ToString();
    Done done{.result = std::move(*result), .output = {}};
    const Evidence& evidence = done.result.evidence;
    EXPECT_TRUE(!can_start || evidence.obstacle.empty()) << evidence.obstacle;
    for (const std::string& log : {evidence.stdout_path, evidence.stderr_path}) {
      if (!log.empty()) done.output += ReadFile(drill / log).value();
    }
    EXPECT_EQ(evidence.observation.has_value(), manifest_.observation.has_value());
    return done;
  }
  Done Shell(const std::string& script) { return Rerun({"sh", "-c", script}); }
  void NeedsPython() const {
    if (python_.empty()) GTEST_SKIP() << "no python3 here";
  }

  static std::unique_ptr<ContainerWorld> world_;
  static std::string problem_;
  static std::string python_;
  static fs::path root_;
  static std::string image_;
  static bool docker_;
  std::unique_ptr<ScopedTempDir> folder_;
  Manifest manifest_;
  ContentCache cache_;
  int drills_ = 0;
};

std::unique_ptr<ContainerWorld> ObservedImage::world_;
std::string ObservedImage::problem_;
std::string ObservedImage::python_;
fs::path ObservedImage::root_;
std::string ObservedImage::image_;
bool ObservedImage::docker_ = false;

auto LibraryOf(const std::string& path, const std::string& manager, const std::string& package,
               const std::string& version) {
  return AllOf(Field("path", &SeenLibrary::path, HasSubstr(path)),
               Field("manager", &SeenLibrary::manager, manager),
               Field("package", &SeenLibrary::package, package),
               Field("version", &SeenLibrary::version, version));
}

// sort(1) asks for TMPDIR and nothing for the rest.
TEST_P(ObservedImage, NamesLibrariesByTheImagesPackagesAndVariablesThatAreRead) {
  const Done done = Rerun({"sort", "/opt/settings.yaml"});
  EXPECT_EQ(done.output, "gamma: 2\n");
  const Observation& seen = done.seen();
  EXPECT_THAT(seen.libraries,
              Contains(LibraryOf("libc.so.6", "dpkg", "libc6:amd64", "2.36-ofimage")))
      << testing::PrintToString(seen.unseen);
  for (const SeenLibrary& library : seen.libraries) {
    // As the image has it, which has it from here.
    EXPECT_EQ(library.size_bytes, fs::file_size(library.path)) << library.path;
    EXPECT_NE(library.build_id, "") << library.path;
  }
  manifest_.environment.variables["TMPDIR"] = "/tmp";
  const Done again = Rerun({"sort", "/opt/settings.yaml"});
  ASSERT_TRUE(again.seen().variables_read) << testing::PrintToString(again.unseen());
  EXPECT_THAT(*again.seen().variables_read, Contains("TMPDIR"));
  EXPECT_THAT(*again.seen().variables_read, Not(Contains("UNREAD")));
}

TEST_P(ObservedImage, TellsAFileOfTheImageThatNothingDeclares) {
  const Done done = Rerun({"cat", "/opt/settings.yaml"});
  ASSERT_TRUE(done.seen().inputs);
  // SHA-256 of "gamma: 2\n" by sha256sum.
  EXPECT_THAT(*done.seen().inputs,
              ElementsAre(AllOf(Field(&SeenInput::path, "/opt/settings.yaml"),
                                Field(&SeenInput::size_bytes, 9u),
                                Field(&SeenInput::sha256, Sha256HexOf("gamma: 2\n")))));
}

TEST_P(ObservedImage, SeesSeedsVariablesAndAWheelInPython) {
  NeedsPython();
  const Done done =
      Rerun({python_, "-c",
             "import ctypes, os, random; random.seed(3); print(os.environ.get('BATCH')); "
             "ctypes.CDLL('/opt/wheels/lib/python3/site-packages/numerics/libnumblas.so')"});
  EXPECT_EQ(done.output, "32\n");
  const Observation& seen = done.seen();
  EXPECT_THAT(seen.seeds, Contains(Pair("random.seed", ElementsAre("3"))))
      << testing::PrintToString(seen.unseen);
  EXPECT_THAT(seen.libraries, Contains(LibraryOf("libnumblas.so", "python", "numerics", "4.2")));
  ASSERT_TRUE(seen.variables_read) << testing::PrintToString(seen.unseen);
  EXPECT_THAT(*seen.variables_read, Contains("BATCH"));
  EXPECT_THAT(*seen.variables_read, Not(Contains("UNREAD")));
  const auto& variables = done.result.evidence.environment.variables;
  for (const char* name : {"LD_PRELOAD", "PYTHONPATH", "RHARNESS_OBSERVE"}) {
    const auto found = variables.find(name);
    EXPECT_TRUE(found == variables.end() || !found->second) << name;
  }
}

TEST_P(ObservedImage, IsNotLookedAtWhereItsRecordWasNot) {
  manifest_.observation.reset();
  EXPECT_EQ(Shell("echo \"[$LD_PRELOAD$PYTHONPATH$RHARNESS_OBSERVE]\"").output, "[]\n");
}

TEST_P(ObservedImage, KeepsWhatTheImagePutsBeforeItsPrograms) {
  const std::string digest = Push(root_, {"--env=LD_PRELOAD=/opt/own.so", "--env=PYTHONPATH=/opt"});
  ASSERT_EQ(problem_, "");
  manifest_.image = ImageOf(digest);
  const Done done = Shell("echo \"$LD_PRELOAD $PYTHONPATH\"");
  EXPECT_THAT(done.output, HasSubstr("/opt/own.so:/run/rharness-observe/parts/librharness-observe"
                                     ".so /run/rharness-observe/parts/python:/opt\n"));
}

TEST_P(ObservedImage, HasTheLibraryForItsDriverWhereItsRecordNotedKernels) {
  EXPECT_EQ(Shell("echo \"[$CUDA_INJECTION64_PATH]\"").output, "[]\n");
  manifest_.observation->means.emplace(kSeenByKernels);
  const Done done =
      Shell("echo $CUDA_INJECTION64_PATH; [ -s $RHARNESS_OBSERVE/kernels ] && echo notes");
  EXPECT_EQ(done.output, "/run/rharness-observe/parts/librharness-kernels.so\nnotes\n");
  EXPECT_THAT(done.unseen(), Contains(HasSubstr("no process started a CUDA driver")));
  EXPECT_TRUE(done.seen().Has(kSeenByKernels));
}

// Nothing of it is loaded there, and nothing of it stands in the way.
TEST_P(ObservedImage, ThatIsOneStaticProgramRunsUnharmed) {
  manifest_.image.repository = "ml/tiny";
  manifest_.image.digest = world_->first().digest;
  const Done done = Rerun({"/bin/busybox", "sh", "-c", "echo $BATCH; exit 3"});
  EXPECT_EQ(done.output, "32\n");
  EXPECT_EQ(done.result.evidence.outcome.exit_code, 3);
  EXPECT_THAT(done.unseen(), Contains(HasSubstr("busybox is statically linked")));
  EXPECT_FALSE(done.seen().variables_read);
}

TEST_P(ObservedImage, WhoseCommandIsMissingEndsAsItWouldHave) {
  const Outcome seen = Rerun({"no-such-program"}, false).result.evidence.outcome;
  manifest_.observation.reset();
  const Outcome bare = Rerun({"no-such-program"}, false).result.evidence.outcome;
  EXPECT_EQ(seen.kind, OutcomeKind::kExited);
  EXPECT_EQ(seen.exit_code, 127);
  // Podman behind docker's command line says 1 for whatever it could not start.
  EXPECT_EQ(bare.exit_code, std::string(GetParam()) == "podman" ? 127 : 1);
  EXPECT_THAT(seen.detail, HasSubstr("No such file or directory"));
}

// A loader that is not glibc's gets nothing before its libraries, also where the first program is
// none of its own; what is mapped is seen from outside.
TEST_P(ObservedImage, ThatIsLinkedWithMuslRunsUnharmed) {
  if (!ContainerWorld::Run({"sh", "-c", "command -v musl-gcc"}).outcome.Succeeded()) {
    GTEST_SKIP() << "no musl-gcc here (musl-tools)";
  }
  const fs::path root = folder_->path() / "musl";
  fs::create_directories(root / "bin");
  ASSERT_TRUE(WriteFileAtomic(root / "reads.c", R"(#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  printf("%s %d\n", getenv("BATCH"), fopen("/reads.c", "r") != NULL);
  usleep(400000);
  return 0;
}
)")
                  .ok());
  Demand({"sh", "-c",
          "cd \"$1\" && musl-gcc -o bin/reads reads.c && cp /bin/busybox bin/ && "
          "mkdir lib && cp -L /lib/ld-musl-* lib/",
          "make", root});
  manifest_.image = ImageOf(Push(root, {}));
  ASSERT_EQ(problem_, "");
  const Done done = Rerun({"/bin/reads"});
  EXPECT_EQ(done.output, "32 1\n");
  EXPECT_THAT(done.unseen(), Contains("what reads variables and files: reads is not linked with "
                                      "glibc"));
  EXPECT_FALSE(done.seen().inputs);
  EXPECT_FALSE(done.seen().variables_read);
  EXPECT_THAT(done.seen().libraries, Contains(LibraryOf("/lib/ld-musl-", "", "", "")))
      << "of what is mapped";
  EXPECT_EQ(Rerun({"/bin/busybox", "sh", "-c", "/bin/reads; echo $?"}).output, "32 1\n0\n");
}

// With all packages of this machine in the image, whose lists are read while the run goes on.
TEST_P(ObservedImage, TakesLittleMoreTimeThanOneThatIsNotLookedAt) {
  if (std::string(GetParam()) != "podman") GTEST_SKIP() << "measured with podman alone";
  const fs::path root = folder_->path() / "packages";
  Demand({"sh", "-c",
          "cp -a \"$1\" \"$2\" && cd \"$2/var/lib/dpkg\" && cp /var/lib/dpkg/status . && "
          "cp /var/lib/dpkg/info/*.list info/ 2>/dev/null",
          "copy", root_, root});
  manifest_.image = ImageOf(Push(root, {}));
  if (!problem_.empty()) GTEST_SKIP() << "no packages here: " << std::exchange(problem_, "");
  const auto observation = manifest_.observation;
  Seconds least[2] = {Seconds(1e9), Seconds(1e9)};
  for (int turn = 0; turn < 6; ++turn) {
    manifest_.observation = turn % 2 == 0 ? std::nullopt : observation;
    const auto begin = SystemClock().Monotonic();
    Shell("sleep 1");
    least[turn % 2] = std::min(least[turn % 2], Seconds(SystemClock().Monotonic() - begin));
  }
  const double more_ms = 1e3 * (least[1] - least[0]).count();
  fmt::print("a rerun of a second takes {:.0f} ms, looked at {:.0f} ms more\n",
             1e3 * least[0].count(), more_ms);
  // A machine with other work to do tells no more than this.
  EXPECT_LT(more_ms, 1000);
}

// Junk where the notes are, a note that is a link, more than the folder holds, more programs.
TEST_P(ObservedImage, WhoseRunWritesIntoTheNotesGainsARemarkAndNoMore) {
  const std::string secret = folder_->path() / "secret";
  ASSERT_TRUE(WriteFileAtomic(secret, "seed\trandom.seed\t99\n").ok());
  const Done done = Shell(fmt::format(
      "cd /run/rharness-observe/notes; rm seen; ln -s {} seen; ln -s {} python-1.txt; "
      "echo 'seed\trandom.seed\t5' >python-2.txt; echo junk >>python-2.txt; "
      "dd if=/dev/zero of=python-3.txt bs=1048576 count=64 2>/dev/null && echo 'has room for all'; "
      "echo x >../door/x; echo x >../parts/x; echo done",
      secret, secret));
  EXPECT_TRUE(done.result.evidence.outcome.Succeeded());
  EXPECT_THAT(done.output, HasSubstr("done\n"));
  EXPECT_THAT(done.output, Not(HasSubstr("has room for all")));
  EXPECT_THAT(done.output, AllOf(HasSubstr("../door/x: Read-only file system"),
                                 HasSubstr("../parts/x: Read-only file system")));
  EXPECT_THAT(done.seen().seeds, Contains(Pair("random.seed", ElementsAre("5"))));
  EXPECT_FALSE(done.seen().variables_read);
  EXPECT_THAT(done.unseen(), AllOf(Contains(HasSubstr("symbolic link")),
                                   Contains(HasSubstr("lines that no hook writes"))));
}

INSTANTIATE_TEST_SUITE_P(Engines, ObservedImage, testing::Values("podman", "docker"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace rharness
