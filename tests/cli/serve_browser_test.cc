// The pages in a real browser, which applies their policy and follows their links.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/serve_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class InABrowser : public ServeProgram {
 protected:
  void SetUp() override {
    if (!Run({"sh", "-c", "command -v chromium"}).outcome.Succeeded()) {
      GTEST_SKIP() << "chromium is not installed";
    }
    RecordRuns(2);
    EXPECT_EQ(Drill().outcome.exit_code, 0);
    ASSERT_TRUE(Start()) << Log();
  }
  // The page as the browser made it out, and what it complained of on stderr.
  ProcessResult Load(const std::string& target, const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {"chromium",
                                     "--headless=new",
                                     "--no-sandbox",
                                     "--disable-gpu",
                                     "--disable-dev-shm-usage",
                                     "--no-first-run",
                                     "--enable-logging=stderr",
                                     "--timeout=20000",
                                     "--user-data-dir=" + At("profile").string(),
                                     "--dump-dom"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(fmt::format("http://127.0.0.1:{}{}", port(), target));
    return Run(std::move(argv));
  }
};

TEST_F(InABrowser, PagesShowWithTheirStyleAndBreakNoPolicy) {
  for (const char* target : {"/", "/families", "/family/tiny", "/run/a", "/trends", "/search?q=a",
                             "/search?q=%3Cscript%3Edocument.title%3D1%3C/script%3E", "/none"}) {
    const ProcessResult loaded = Load(target);
    ASSERT_TRUE(loaded.outcome.Succeeded()) << loaded.stderr_text;
    EXPECT_THAT(loaded.stdout_text, HasSubstr("read only, times are UTC")) << target;
    EXPECT_THAT(loaded.stderr_text, Not(HasSubstr("CONSOLE"))) << target;
    EXPECT_THAT(loaded.stderr_text, Not(HasSubstr("Content Security Policy"))) << target;
  }
  EXPECT_THAT(Load("/run/a").stdout_text, HasSubstr("Last verdict: identical"));
}

TEST_F(InABrowser, WhatIsInlineWouldHaveBeenToldOf) {
  // The check above can fail: this page asks for what its policy forbids.
  Write("page.html",
        "<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'\"><p style=\"color: red\">a</p><script>1</script>");
  std::vector<std::string> argv = {"chromium",
                                   "--headless=new",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--enable-logging=stderr",
                                   "--user-data-dir=" + At("profile").string(),
                                   "--dump-dom",
                                   "file://" + At("page.html").string()};
  const ProcessResult loaded = Run(argv);
  EXPECT_THAT(loaded.stderr_text, HasSubstr("Content Security Policy"));
}

}  // namespace
}  // namespace rharness
