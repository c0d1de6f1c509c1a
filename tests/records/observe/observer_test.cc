// Real processes under observation, and what becomes of one whose notes are taken from it.
#include "harness/records/observe/observer.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/subprocess.h"
#include "harness/records/observe/files_seen.h"
#include "harness/records/observe/libc_symbols.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

class Observed : public testing::Test {
 protected:
  Observed() : folder_(*ScopedTempDir::Make()), base_(fs::canonical(folder_.path())) {
    fs::create_directory(base_ / "notes");
    Write("config.json", "{}");
    Write("data/a.csv", "1\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((base_ / name).parent_path());
    ASSERT_TRUE(WriteFileAtomic(base_ / name, text).ok());
  }
  // Runs it in the base folder; `declared` are data.
  Observation Run(std::vector<std::string> command, std::set<std::string> variables = {},
                  std::vector<fs::path> declared = {}) {
    ProcessSpec spec;
    spec.argv = command;
    spec.environment = PickEnvironment({"PATH"});
    spec.working_directory = base_;
    Observer observer(base_ / "notes", {.variables = std::move(variables),
                                        .command = std::move(command),
                                        .working_directory = base_,
                                        .base = base_,
                                        .declared = std::move(declared)});
    observer.AddTo(&spec.environment);
    ProcessLimits limits;
    limits.footprint = true;
    limits.timeout = std::chrono::seconds(60);
    // What was there before the run is older than a tick of the clock that stamps files.
    Write("stamp", "");
    while (IsChangedSince(base_ / "stamp", SystemClock().Now())) {
      SystemClock().SleepFor(std::chrono::milliseconds(1));
    }
    const WallTime started = SystemClock().Now();
    result_ = RunProcess(spec, limits);
    observer.Complete(&result_.footprint);
    return observer.Collect(result_.footprint, {}, started);
  }
  static std::vector<std::string> Paths(const Observation& seen) {
    std::vector<std::string> paths;
    if (!seen.inputs) return {"not known"};
    for (const SeenInput& input : *seen.inputs) paths.push_back(input.path);
    return paths;
  }

  const ScopedTempDir folder_;
  const fs::path base_;
  ProcessResult result_;
};

TEST_F(Observed, WhatTheRunReadAndThenWroteOver) {
  SystemClock().SleepFor(std::chrono::milliseconds(10));  // change times come in ticks
  const Observation seen = Run(
      {"sh", "-c", "cat config.json; echo x > config.json; echo 1 > own; cat own; echo 2 > own"});
  EXPECT_TRUE(result_.outcome.Succeeded()) << result_.stderr_text;
  EXPECT_THAT(seen.overwritten, ElementsAre("config.json"));
}

// It is compared with what it was.
TEST_F(Observed, ADeclaredFileThatTheRunWroteOver) {
  const std::string script = "cat config.json; echo y > config.json";
  EXPECT_THAT(Run({"sh", "-c", script}, {}, {base_ / "config.json"}).overwritten, IsEmpty());
}

class ObservedLinks : public Observed {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(base_ / "v1");
    ASSERT_TRUE(WriteFileAtomic(base_ / "v1/set.csv", "1").ok());
    std::filesystem::create_directory_symlink("v1", base_ / "current");
    SystemClock().SleepFor(std::chrono::milliseconds(10));  // change times come in ticks
  }
};

TEST_F(ObservedLinks, AreTheNamesOfWhatTheRunOpenedByThem) {
  std::filesystem::create_symlink("/etc/hostname", base_ / "system.csv");
  EXPECT_THAT(Paths(Run({"cat", "current/set.csv", "system.csv"})), ElementsAre("current/set.csv"));
}

TEST_F(ObservedLinks, StandBesideTheFilesOwnNameIfBothWereOpened) {
  const std::string roundabout = (base_ / "v1/../current/./set.csv").string();
  EXPECT_THAT(Paths(Run({"cat", roundabout, "v1/set.csv"})),
              ElementsAre("current/set.csv", "v1/set.csv"));
}

TEST_F(ObservedLinks, ThatLeadElsewhereByNowNameNothing) {
  const std::string script = "cat current/set.csv; ln -sfn data current";
  EXPECT_THAT(Paths(Run({"sh", "-c", script})), ElementsAre("v1/set.csv"));
}

// sort(1) asks for TMPDIR and opens its input.
TEST_F(Observed, NotesVariablesByNameAndFilesThatNothingDeclares) {
  const Observation seen = Run({"sort", "config.json", "data/a.csv", "/dev/null"},
                               {"TMPDIR", "TMPDUR"}, {base_ / "data"});
  EXPECT_TRUE(result_.outcome.Succeeded()) << result_.stderr_text;
  ASSERT_TRUE(seen.variables_read) << testing::PrintToString(seen.unseen);
  EXPECT_THAT(*seen.variables_read, Contains("TMPDIR"));
  EXPECT_THAT(*seen.variables_read, Not(Contains("TMPDUR")));
  ASSERT_THAT(Paths(seen), ElementsAre("config.json"));
  // SHA-256 of "{}" by sha256sum.
  EXPECT_EQ(seen.inputs->front().sha256,
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  EXPECT_THAT(seen.unseen, IsEmpty());
}

TEST_F(Observed, WhatTheRunWroteItselfIsNoInput) {
  const Observation seen = Run({"sh", "-c", "cat config.json > b; cat b"});
  EXPECT_THAT(Paths(seen), ElementsAre("config.json"));
  EXPECT_EQ(result_.stdout_text, "{}");
}

TEST_F(Observed, AShellReadsWhatItsScriptNames) {
  Write("run.sh", "echo $BATCH\n");
  const Observation seen = Run({"sh", "run.sh"}, {"BATCH", "BUTCH"});
  ASSERT_TRUE(seen.variables_read);
  EXPECT_THAT(*seen.variables_read, Contains("BATCH"));
  EXPECT_THAT(*seen.variables_read, Not(Contains("BUTCH")));
}

TEST_F(Observed, AScriptThatIsStartedAsAProgramIsItsInterpreter) {
  Write("run.sh", "#!/bin/sh\nsort config.json\n");
  fs::permissions(base_ / "run.sh", fs::perms::owner_all);
  const Observation seen = Run({"./run.sh"}, {"TMPDIR"});
  EXPECT_EQ(result_.stdout_text, "{}\n");
  ASSERT_TRUE(seen.variables_read) << testing::PrintToString(seen.unseen);
  EXPECT_THAT(*seen.variables_read, Contains("TMPDIR"));
}

TEST_F(Observed, LibrariesOfAProgramThatEndsAtOnceAreSeen) {
  const Observation seen = Run({"sort", "config.json"});
  const auto is_libc = [](const SeenLibrary& library) {
    return library.soname == "libc.so.6" && !library.build_id.empty() && library.size_bytes > 0;
  };
  EXPECT_TRUE(std::ranges::any_of(seen.libraries, is_libc));
  for (const SeenLibrary& library : seen.libraries) {
    EXPECT_THAT(library.path, Not(HasSubstr("rharness-observe")));
  }
}

// What lives for a moment is seen by its notes alone, whether or not a sample meets it: by the
// processes of a shell, by a program that becomes another, and of a Python how it was started.
TEST_F(Observed, WhatLivesForAMomentIsSeenWithoutSamples) {
  for (const char* name : {"python9", "pypy9"}) {
    Write(std::string("bin/") + name, *ReadFile("/usr/bin/true"));
    fs::permissions(base_ / "bin" / name, fs::perms::owner_all);
  }
  Write("run.sh", "cat config.json\n(cd data; ../bin/pypy9 -c pass)\nexec python9 -c pass\n");
  const std::string path = (base_ / "bin").string() + ":/usr/bin:/bin";
  const auto footprint_with = [&](const std::string& python_path) {
    ProcessSpec spec;
    spec.argv = {"bash", "run.sh"};
    spec.environment = {{"PATH", path}, {"HOME", "/home/x"}, {"PYTHONPATH", python_path}};
    spec.working_directory = base_;
    Observer observer(base_ / "notes",
                      {.command = spec.argv, .working_directory = base_, .base = base_});
    observer.AddTo(&spec.environment);
    EXPECT_TRUE(RunProcess(spec, {}).outcome.Succeeded());
    Footprint footprint;
    observer.Complete(&footprint);
    fs::remove_all(base_ / "notes");
    fs::create_directory(base_ / "notes");
    return footprint;
  };
  const Footprint seen = footprint_with("/p/q:/r");
  for (const char* file : {"/usr/bin/cat", "/usr/bin/bash"}) {
    EXPECT_THAT(seen.mapped, Contains(fs::canonical(file).string()));
  }
  // Only bash has it, which is no more when the run ends.
  EXPECT_THAT(seen.mapped, Contains(HasSubstr("/libtinfo.so.")));
  const auto started = [&](const char* name, const fs::path& folder, std::string invoked) {
    return SeenProgram{.executable = base_ / "bin" / name,
                       .invoked_as = std::move(invoked),
                       .working_directory = folder,
                       .variables = {{"HOME", "/home/x"}, {"PYTHONPATH", "/p/q:/r"}}};
  };
  EXPECT_THAT(seen.programs,
              UnorderedElementsAre(started("pypy9", base_ / "data", "../bin/pypy9"),
                                   started("python9", base_, base_ / "bin/python9")));
  for (const SeenProgram& one : footprint_with(std::string(600, 'p')).programs) {
    EXPECT_THAT(one.variables, ElementsAre(Pair("HOME", "/home/x"))) << one.executable;
  }
}

// The run takes away, replaces or spoils what its notes go into: it runs as it would have, and what
// is then not known is said.
TEST_F(Observed, ARunThatSpoilsItsNotesLosesNothingElse) {
  const std::vector<std::string> attacks = {
      "rm -rf notes",
      "chmod 0 notes; chmod 0 notes/*",
      "rm notes/seen; mkfifo notes/seen",
      "rm notes/seen; ln -s /etc/passwd notes/seen",
      "mv notes away; ln -s away notes",
      "dd if=/dev/zero of=notes/copy bs=1M count=64 2>/dev/null; mv notes/copy notes/seen"};
  for (const std::string& attack : attacks) {
    fs::remove_all(base_ / "notes");
    fs::remove_all(base_ / "away");
    fs::create_directory(base_ / "notes");
    const Observation seen =
        Run({"sh", "-c", attack + "; sort config.json; sort config.json; exit 7"}, {"TMPDIR"});
    EXPECT_EQ(result_.outcome.exit_code, 7) << attack;
    EXPECT_EQ(result_.stdout_text, "{}\n{}\n") << attack;
    EXPECT_EQ(result_.stderr_text, "") << attack;
    const bool known = seen.inputs.has_value();
    EXPECT_NE(known, !seen.unseen.empty()) << attack << testing::PrintToString(seen.unseen);
  }
}

TEST_F(Observed, ACutFileOfNotesDoesNotStopWhatHasItMapped) {
  // Only what touches a page that is gone is stopped by the kernel, and a shell touches none here.
  const Observation seen = Run({"sh", "-c", ": > notes/copy; mv notes/copy notes/seen; echo on"});
  EXPECT_EQ(result_.stdout_text, "on\n");
  EXPECT_FALSE(seen.inputs);
  EXPECT_THAT(seen.unseen, Contains(HasSubstr("the run changed it")));
}

TEST_F(Observed, ThousandsOfFilesAreTooManyToTellAndSaidToBe) {
  for (int i = 0; i < 300; ++i) Write("many/" + std::to_string(i), "x");
  const Observation seen = Run({"sh", "-c", "cat many/*"});
  ASSERT_TRUE(seen.inputs);
  EXPECT_EQ(seen.inputs->size(), kMostInputs);
  EXPECT_THAT(seen.unseen, Contains("236 more undeclared inputs"));
}

// Where a library is in a record and in a rerun of it, the path is one.
TEST_F(Observed, ALibraryThatComesAlongIsCalledByItsPlaceInTheRun) {
  const Observation seen = Run({"sort", "config.json"});
  const auto libc = std::ranges::find(seen.libraries, "libc.so.6", &SeenLibrary::soname);
  ASSERT_NE(libc, seen.libraries.end());
  fs::copy_file(libc->path, base_ / "libown.so");
  Footprint footprint;
  footprint.mapped = {libc->path, (base_ / "libown.so").string()};
  const auto paths = [&](const ObserveRequest& request, WallTime started) {
    std::vector<std::string> paths;
    for (const SeenLibrary& library : LibrariesOf(footprint, {}, request, started)) {
      paths.push_back(library.path);
    }
    std::ranges::sort(paths);
    return paths;
  };
  const WallTime later = SystemClock().Now() + std::chrono::hours(1);
  const std::string own = (base_ / "libown.so").string();
  using testing::UnorderedElementsAre;
  EXPECT_THAT(paths({.base = base_}, later), UnorderedElementsAre(own, libc->path));
  for (const ObserveRequest& request :
       {ObserveRequest{.base = base_, .declared = {base_ / "libown.so"}},
        ObserveRequest{.base = base_, .recorded = [](const auto& all) {
                         return std::set<std::string>(all.begin(), all.end());
                       }}}) {
    EXPECT_THAT(paths(request, later), UnorderedElementsAre("libown.so", libc->path));
  }
  EXPECT_THAT(paths({.base = base_}, WallTime{}), UnorderedElementsAre("libown.so", libc->path));
}

TEST_F(Observed, NamesThatNoRecordCanHoldAreLeftOut) {
  Write("bad\xff", "x");
  Write("es\x1b[31mc", "x");
  Write("li\nne", "x");
  const Observation seen = Run({"sh", "-c", "cat bad* es* li* config.json"});
  EXPECT_EQ(result_.stdout_text, "xxx{}");
  EXPECT_THAT(Paths(seen), ElementsAre("config.json"));
  const Json json = Json::MakeObject({{"observation", ToJson(seen)}});
  JsonReader reader(json, "seen");
  std::optional<Observation> again;
  ReadObservation(reader, &again);
  EXPECT_TRUE(reader.ok()) << reader.status().error().ToString();
}

TEST_F(Observed, WithoutThePartsNothingIsPutIntoTheRun) {
  std::map<std::string, std::string> environment = {{"PATH", "/bin"}};
  Observer observer(base_ / "notes", {.command = {"true"}}, NotFound("no parts"));
  observer.AddTo(&environment);
  EXPECT_EQ(environment.size(), 1U);
  EXPECT_THAT(observer.Collect({}, {}, {}).unseen, Contains(HasSubstr("no parts")));
}

TEST_F(Observed, WhatTheRunPreloadsItselfStaysFirst) {
  std::map<std::string, std::string> environment = {
      {"PATH", "/bin"}, {"LD_PRELOAD", "/own.so"}, {"PYTHONPATH", "/own"}};
  Observer observer(base_ / "notes", {.python_hooks = true, .command = {"true"}});
  observer.AddTo(&environment);
  EXPECT_THAT(environment["LD_PRELOAD"], testing::StartsWith("/own.so:/"));
  EXPECT_THAT(environment["PYTHONPATH"], testing::EndsWith("observe/python:/own"));
}

// In an image with an older C library the loader would end the program over one that it lacks.
TEST(Preload, AsksForNothingThatOldCLibrariesLack) {
  const auto parts = FindObserveParts();
  ASSERT_TRUE(parts.ok()) << parts.error().ToString();
  for (const fs::path& library : {parts->preload, parts->kernels}) {
    ProcessSpec spec;
    spec.argv = {"objdump", "-T", library};
    spec.environment = PickEnvironment({"PATH"});
    const ProcessResult result = RunProcess(spec);
    if (result.outcome.kind == OutcomeKind::kNotStarted) GTEST_SKIP() << "no objdump here";
    constexpr std::string_view kSign = "GLIBC_2.";
    int versions = 0;
    for (auto at = result.stdout_text.find(kSign); at != std::string::npos;
         at = result.stdout_text.find(kSign, at + 1), ++versions) {
      EXPECT_LE(std::atoi(result.stdout_text.c_str() + at + kSign.size()), 17)
          << result.stdout_text.substr(at, 60);
    }
    EXPECT_GT(versions, 10) << result.stdout_text;
  }
}

TEST_F(Observed, TheDriversLibraryOfAnotherToolKeepsItsPlace) {
  const ObserveRequest request{.kernels = true, .command = {"true"}};
  for (const char* own : {"", "/opt/nsight/injection.so"}) {
    const fs::path notes = base_ / ("notes" + std::to_string(*own));
    fs::create_directory(notes);
    std::map<std::string, std::string> environment = {{"PATH", "/bin"}};
    if (*own != 0) environment["CUDA_INJECTION64_PATH"] = own;
    Observer observer(notes, request);
    observer.AddTo(&environment);
    EXPECT_THAT(environment["CUDA_INJECTION64_PATH"],
                *own != 0 ? std::string(own) : FindObserveParts()->kernels.string());
    observer.ReadNotes();
    const Observation seen = observer.Collect({}, {}, {});
    EXPECT_TRUE(seen.Has(kSeenByKernels));
    EXPECT_FALSE(seen.kernels);
    EXPECT_THAT(seen.unseen, Contains(HasSubstr(*own != 0 ? "names a library of another tool"
                                                          : "no process started a CUDA driver")));
  }
}

TEST(LibcSymbols, AreFoundWithoutTheHelpOfTheLoader) {
  // Not RTLD_NEXT, which finds a sanitizer's own function.
  void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(libc, nullptr);
  EXPECT_EQ(FindInLibc("fopen"), ::dlsym(libc, "fopen"));
  EXPECT_EQ(FindInLibc("secure_getenv"), ::dlsym(libc, "secure_getenv"));
  EXPECT_EQ(FindInLibc("no_such_function"), nullptr);
}

}  // namespace
}  // namespace rharness
