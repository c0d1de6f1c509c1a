// What a process tree is made of, from the text of the kernel and from a real child.
#include "harness/base/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/subprocess.h"
#include "tests/base/test_child.h"

namespace rharness {
namespace {

using Files = std::set<std::string>;

TEST(Footprint, KeepsTheFilesThatAreMappedAsCode) {
  EXPECT_EQ(MappedCode("55d0-55d1 r--p 00000000 08:01 12    /usr/bin/python3.11\n"
                       "55d1-55d2 r-xp 00001000 08:01 12    /usr/bin/python3.11\n"
                       "7f00-7f01 r-xp 00000000 08:01 13    /srv/my lib/libopenblas.so.0\n"
                       "7f02-7f03 r--p 00000000 08:01 14    /srv/data.npy\n"
                       "7f04-7f05 r-xp 00000000 08:01 15    /srv/old.so (deleted)\n"
                       "7f06-7f07 r-xp 00000000 00:00 0 \n"
                       "7f08-7f09 r-xp 00000000 00:01 9     /memfd:jit\n"
                       "7ffd-7ffe r-xp 00000000 00:00 0     [vdso]"),
            (Files{"/srv/my lib/libopenblas.so.0", "/usr/bin/python3.11"}));
  EXPECT_EQ(MappedCode(""), Files{});
}

TEST(Footprint, OfARunHoldsItsProgramsAndLibraries) {
  ProcessSpec spec = Child({"hang"});
  spec.environment["PATH"] = "/usr/bin:/bin";
  spec.environment["OTHER"] = "not asked for";
  ProcessLimits limits = Timeout();
  limits.footprint = true;
  limits.footprint_variables = {"PATH", "PYTHONPATH"};
  int asked = 0;
  const auto third_time = [&] { return ++asked % 3 == 0; };
  const Footprint footprint = RunProcess(spec, limits, {}, third_time).footprint;
  ASSERT_EQ(footprint.programs.size(), 1u);
  const SeenProgram& program = *footprint.programs.begin();
  EXPECT_EQ(std::filesystem::path(program.executable).filename(), "test_subprocess_child");
  EXPECT_EQ(program.invoked_as, spec.argv[0]);
  EXPECT_EQ(program.working_directory, std::filesystem::current_path());
  EXPECT_EQ(program.variables, (std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}}));
  EXPECT_TRUE(footprint.mapped.contains(program.executable));
  EXPECT_TRUE(std::ranges::any_of(footprint.mapped, [](const std::string& file) {
    return file.find("libc.so") != std::string::npos || file.find("libc-") != std::string::npos;
  }));
  EXPECT_TRUE(RunProcess(spec, Timeout(), {}, third_time).footprint.programs.empty())
      << "not asked for";
}

}  // namespace
}  // namespace rharness
