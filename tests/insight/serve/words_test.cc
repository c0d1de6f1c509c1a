// What pages say where there is little or nothing to show, or something odd was asked for.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/insight/serve/serve_world.h"
#include "tests/reports/html_checker.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class Words : public ServeWorld {
 protected:
  std::string Page(const std::string& target, int status = 200) {
    const HttpResponse page = Get(target);
    EXPECT_EQ(page.status, status) << target;
    const HtmlFacts facts = CheckHtml(page.body);
    EXPECT_EQ(facts.error, "") << target;
    EXPECT_EQ(facts.elements.contains("script"), false) << target;
    EXPECT_THAT(page.body, HasSubstr("<html lang=\"en\">")) << target;
    return page.body;
  }
};

// It is the 20th of January 2026, a Tuesday.
TEST_F(Words, TrendsOfAHistoryWithoutVerdictsSaySo) {
  AddRun("a", kDay1, "one");
  const std::string page = Page("/trends");
  EXPECT_THAT(page, HasSubstr("No drill has judged a run in the last 52 weeks."));
  EXPECT_THAT(page, Not(HasSubstr("<table")));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

TEST_F(Words, TrendsThatCannotBeMeasuredSaySo) {
  AddRun("a", kDay1, "one");
  EXPECT_THAT(Page("/trends/report"), HasSubstr("They are within minutes."));
  EXPECT_EQ(Get("/healthz").body, "ok\n");
  counted_.trends_failed = At("2026-01-20T09:30:00Z");
  const std::string never = Page("/trends/report");
  EXPECT_THAT(never, HasSubstr("Trends are not measured yet."));
  EXPECT_THAT(never, HasSubstr("They could not be measured on 2026-01-20 09:30 UTC; the log says"));
  EXPECT_THAT(never, Not(HasSubstr("within minutes")));
  EXPECT_EQ(Get("/healthz").status, 200) << "all other pages are there";
  EXPECT_EQ(Get("/healthz").body, "ok, but trends cannot be measured; the log says why\n");
  counted_.trends = std::make_shared<const TrendsReport>(
      TrendsReport{.at = At(kDay1), .verdicts = 1, .headline = "All reproduced."});
  const std::string before = Page("/trends/report");
  EXPECT_THAT(before, HasSubstr("All reproduced."));
  EXPECT_THAT(before, HasSubstr("Here is what they were before."));
}

TEST_F(Words, TrendsOfAYoungHistoryHaveALegendAndNoRowsOfZeros) {
  AddRun("a", kDay1, "one");
  AddRun("b", kDay1, "two");
  AddRun("c", kDay1, "three");
  AddVerdict("d1", "a", "identical", "2026-01-06T03:00:00Z");
  AddVerdict("d2", "b", "drifted", "2026-01-13T03:00:00Z");
  AddVerdict("d0", "c", "identical", "2025-03-04T03:00:00Z");  // 46 weeks ago
  const std::string page = Page("/trends");
  EXPECT_THAT(page, HasSubstr("3 verdicts in the last 52 weeks"));
  EXPECT_THAT(page,
              HasSubstr("<ul class=\"legend\"><li class=\"identical\"><i></i>✓ identical: 2</li>"
                        "<li class=\"drifted\"><i></i>✗ drifted: 1</li></ul>"));
  EXPECT_THAT(page, HasSubstr("49 of these 52 weeks had no verdict and are left out."));
  EXPECT_THAT(page, HasSubstr("1 family had verdicts before that, and none since: left out."));
  EXPECT_THAT(page, Not(HasSubstr("/family/three")));
  const std::string table = page.substr(page.find("The same in numbers"));
  EXPECT_THAT(table, HasSubstr("2026-01-12"));
  EXPECT_THAT(table, Not(HasSubstr("2026-01-19"))) << "a week of zeros";
  EXPECT_THAT(table, Not(HasSubstr("inconclusive"))) << "a column of zeros";
}

TEST_F(Words, BarsBeginWhereTheHistoryDoes) {
  AddRun("a", kDay1, "one");
  AddVerdict("d1", "a", "identical", "2025-10-07T03:00:00Z");
  EXPECT_THAT(Page("/trends"), HasSubstr("from the one of 2025-10-06 to the one of 2026-01-19"));
  AddVerdict("d2", "a", "identical", "2025-03-04T03:00:00Z");
  site_.reset();
  EXPECT_THAT(Page("/trends"), HasSubstr("from the one of 2025-03-03 to the one of 2026-01-19"));
}

TEST_F(Words, ASearchWithoutATextAsksForOne) {
  for (const char* target : {"/search", "/search?q=", "/search?q=%20%20&by=commit"}) {
    const std::string page = Page(target);
    EXPECT_THAT(page, HasSubstr("<h1>Search the history</h1>")) << target;
    EXPECT_THAT(page, Not(HasSubstr("<table"))) << target;
  }
}

TEST_F(Words, ASearchThatFindsNothingSaysSoAndWhereElseToLook) {
  AddRun("mlp", kDay1, "one");
  EXPECT_THAT(Page("/search?q=zebra"), HasSubstr("<h1>Nothing has “zebra” in it</h1>"));
  const std::string page = Page("/search?q=mlp&by=family");
  EXPECT_THAT(page, HasSubstr("<h1>Nothing has “mlp” in it</h1>"));
  EXPECT_THAT(page, HasSubstr("href=\"/search?q=mlp\">Look for it among everything"));
  EXPECT_THAT(Page("/search?q=mlp&by=commit"), HasSubstr("A commit begins with 4 or more"));
  EXPECT_THAT(Page("/search?q=one"), HasSubstr("<h3>Runs</h3><p class=\"soft\">None.</p>"))
      << "the family was found, and no run";
}

TEST_F(Words, HostileTextIsShownAsItIsAndFindsWhatHasIt) {
  AddRun("a", kDay1, kHostileFamily);
  const std::string page = Page("/search?q=%3Cscript%3Ealert(1)%3C/script%3E/%22%26%27");
  EXPECT_THAT(page, HasSubstr("value=\"&lt;script&gt;alert(1)&lt;/script&gt;/&quot;&amp;&#39;\""));
  EXPECT_THAT(page, HasSubstr("<h3>Families</h3>"));
  for (const char* text : {"%27%20OR%201%3D1%20--", "%25", "_", "*", "%5C", "%C2%85", "%E2%80%AE",
                           "%F0%9F%A6%93", "%22%3E%3Cimg%20src%3Dx%20onerror%3D1%3E"}) {
    EXPECT_THAT(Page(std::string("/search?q=") + text), HasSubstr("<h1>Nothing has")) << text;
  }
  EXPECT_EQ(Get("/search?q=%FF").status, 400) << "no UTF-8";
  EXPECT_EQ(Get("/search?q=%00").status, 400);
}

TEST_F(Words, ALongTextIsCountedInCharactersAndRefusedInWords) {
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "%E2%89%A0";
  EXPECT_THAT(Page("/search?q=" + wide), HasSubstr("Nothing has"));
  const std::string page = Page("/search?q=" + wide + "a", 400);
  EXPECT_THAT(page, HasSubstr("has 201 characters; 200 at most"));
  EXPECT_THAT(Page("/search?q=a&by=all", 400),
              HasSubstr("any, run, family, commit, image or artifact"));
  EXPECT_EQ(Get("/search?q=" + std::string(5000, 'a')).status, 414);
  Page("/families?after=a&before=b", 400);
  Page("/family/one?t=now", 400);
}

TEST_F(Words, ManyImagesAreLookedThroughOnAPageOfTheirOwn) {
  std::vector<NewRun> runs;
  for (std::size_t i = 0; i <= kFewNames; ++i) {
    Manifest manifest = MakeManifest(fmt::format("r-{:04}", i), kDay1, "one");
    manifest.image = {
        .kind = ImageKind::kOci, .registry = "example", .repository = fmt::format("i-{}", i)};
    runs.push_back(NewRunOf(manifest));
  }
  ASSERT_TRUE(store_->AddAll(runs, At(kDay1)).ok());
  const std::string page = Page("/search?q=example%2Fi-77");
  EXPECT_THAT(page, HasSubstr("more than 1,000"));
  EXPECT_THAT(page, HasSubstr("by=image"));
  const std::string images = Page("/search?q=example%2Fi-77&by=image");
  EXPECT_THAT(images, HasSubstr(">example/i-777</a>"));
}

TEST_F(Words, EveryTableHasHeadsOfItsColumnsAndEveryPageATitle) {
  AddRun("a", kDay1, "one");
  AddVerdict("d1", "a", "drifted", "2026-01-06T03:00:00Z");
  for (const char* target :
       {"/", "/families", "/family/one", "/run/a", "/trends", "/trends/report", "/search?q=a"}) {
    const std::string page = Page(target);
    EXPECT_THAT(page, HasSubstr("<title>")) << target;
    EXPECT_THAT(page, Not(HasSubstr("<th>"))) << "a head says of what: " << target;
    EXPECT_THAT(page, Not(HasSubstr("<th class"))) << target;
    EXPECT_THAT(page, HasSubstr("href=\"#main\"")) << target;
    EXPECT_THAT(page, HasSubstr("id=\"main\"")) << target;
  }
}

}  // namespace
}  // namespace rharness
