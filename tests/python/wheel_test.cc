// The wheel as a file: what wheel.py writes, and what it refuses. ./dev wheel makes the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/python/module_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class Wheel : public PythonModule {
 protected:
  ProcessResult With(const std::string& program) const {
    Write("use.py", "import sys\nsys.path.insert(0, '" RHARNESS_SOURCE_DIR
                    "/harness/package')\nimport wheel\n" +
                        program);
    return Execute({python_, "use.py"}, base_, {{"PYTHONDONTWRITEBYTECODE", "1"}});
  }
};

constexpr char kWrite[] = R"(
import base64, csv, hashlib, io, zipfile
info = "rharness-1.2.dist-info/"
entries = {"rharness/__init__.py": (b"", False), info + "METADATA": (b"Name: rharness\n", False),
           "rharness-1.2.data/scripts/rharness": (b"\x7fELF" + bytes(1000), True)}
for name in ("a.whl", "b.whl"):
    wheel.write(name, entries, info, (2026, 1, 2, 3, 4, 6))
print("equal", open("a.whl", "rb").read() == open("b.whl", "rb").read())
archive = zipfile.ZipFile("a.whl")
print("whole", archive.testzip() is None, "last", archive.namelist()[-1])
rows = list(csv.reader(io.StringIO(archive.read(info + "RECORD").decode("ascii"))))
print("all", sorted(row[0] for row in rows) == sorted(archive.namelist()))
for name, digest, size in rows:
    content = archive.read(name)
    if name != info + "RECORD":
        wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        assert digest == "sha256=" + wanted and int(size) == len(content), name
print(oct(archive.getinfo("rharness-1.2.data/scripts/rharness").external_attr >> 16))
)";

TEST_F(Wheel, IsAnArchiveWhoseRecordHasEveryFile) {
  const ProcessResult done = With(kWrite);
  EXPECT_EQ(done.stdout_text,
            "equal True\nwhole True last rharness-1.2.dist-info/RECORD\nall True\n0o100755\n")
      << done.stderr_text;
}

TEST_F(Wheel, IsNotMadeOfProgramsThatNeedASystemsLibraries) {
  const ProcessResult done = Execute({python_, RHARNESS_SOURCE_DIR "/harness/package/wheel.py",
                                      RHARNESS_BIN_DIR "/..", (base_ / "out").string()},
                                     base_);
  EXPECT_NE(done.outcome.exit_code, 0);
  EXPECT_THAT(done.stderr_text, HasSubstr("which a system may not have"));
  EXPECT_FALSE(fs::exists(base_ / "out"));
}

TEST_F(Wheel, IsNamedByTheNewestGlibcThatAProgramAsksFor) {
  // close_range came with glibc 2.34.
  const ProcessResult done = With(R"(
import pathlib, subprocess
pathlib.Path("new.c").write_text("#include <unistd.h>\nint main(void) { return close_range(9, 9, 0); }\n")
subprocess.run(["gcc", "new.c", "-o", "new"], check=True)
pathlib.Path("text").write_text("no program")
print(wheel.newest_glibc([pathlib.Path("text")]), wheel.newest_glibc([pathlib.Path("new"), pathlib.Path("text")]) >= 34)
)");
  EXPECT_EQ(done.stdout_text, "17 True\n") << done.stderr_text;
}

}  // namespace
}  // namespace rharness
