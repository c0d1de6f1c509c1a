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
    Record("a", {},
           {"sh", "train.sh", At("").string(), "--data-folder", "/srv/data", "--seed", "3",
            "--learning-rate", "0.003", "--a-word-that-is-longer-than-any-line-of-a-small-screen"});
    Record("b", {});
    Add();
    EXPECT_EQ(Drill().outcome.exit_code, 0);
    ASSERT_TRUE(Start()) << Log();
  }
  // The page as the browser made it out, and what it complained of on stderr.
  ProcessResult Load(const std::string& target) {
    return LoadUrl(fmt::format("http://127.0.0.1:{}{}", port(), target));
  }
  ProcessResult LoadUrl(const std::string& url) {
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
    argv.push_back(url);
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

// At every width of its line: words that are broken though they would fit on a line, and words that
// stick out.
constexpr char kLookAtWords[] = R"js(<script>
const line = [...document.querySelectorAll('dl.about dd')].find(d => d.innerText.includes('--seed'));
let broken = 0, outside = 0;
for (let width = 150; width < 900; width += 7) {
  line.style.width = width + 'px';
  for (const word of line.querySelectorAll('.w')) {
    const text = document.createRange();
    text.selectNodeContents(word);
    const parts = [...text.getClientRects()];
    const lines = new Set(parts.map(part => Math.round(part.top))).size;
    if (lines > 1 && parts.reduce((sum, part) => sum + part.width, 0) < width) ++broken;
    const end = word.getBoundingClientRect().right;
    if (end > line.getBoundingClientRect().right + 1) ++outside;
  }
}
document.title = line.querySelectorAll('.w').length + ' words, ' + (broken ? 'some' : 'none') +
    ' broken, ' + (outside ? 'some' : 'none') + ' outside';
</script>)js";

TEST_F(InABrowser, AnOptionOfACommandIsOnOneLine) {
  const std::string body = Ask(port(), "/run/a").body;
  const std::size_t link = body.find("/style-");
  ASSERT_NE(link, std::string::npos);
  const std::string style = Ask(port(), body.substr(link, body.find('"', link) - link)).body;
  const auto title = [&](const std::string& more) {
    Write("page.html", "<!doctype html><meta charset=\"utf-8\"><style>" + style + more +
                           "</style>" + body.substr(body.find("<main")) + kLookAtWords);
    const std::string dom = LoadUrl("file://" + At("page.html").string()).stdout_text;
    const std::size_t at = dom.find("<title>");
    return dom.substr(std::min(at, dom.size()), dom.find("</title>") - at);
  };
  EXPECT_THAT(title(""), HasSubstr(" words, none broken, none outside"));
  EXPECT_THAT(title(".w { display: inline }"), HasSubstr(" words, some broken, none outside"))
      << "the look can fail";
}

TEST_F(InABrowser, WhatIsInlineWouldHaveBeenToldOf) {
  // The check above can fail: this page asks for what its policy forbids.
  Write("page.html",
        "<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'\"><p style=\"color: red\">a</p><script>1</script>");
  const ProcessResult loaded = LoadUrl("file://" + At("page.html").string());
  EXPECT_THAT(loaded.stderr_text, HasSubstr("Content Security Policy"));
}

}  // namespace
}  // namespace rharness
