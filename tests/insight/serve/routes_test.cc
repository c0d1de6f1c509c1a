// Which address is which page, what is on it, and with which headers it goes out.
#include "harness/insight/serve/routes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/insight/serve/serve_world.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class Pages : public ServeWorld {
 protected:
  // The addresses from this one on by links of this kind.
  std::vector<std::string> Follow(const std::string& first, const std::string& rel) {
    std::vector<std::string> targets = {first};
    while (targets.size() < 10) {
      const HttpResponse page = Get(targets.back());
      EXPECT_EQ(page.status, 200) << targets.back();
      const std::size_t at = page.body.find("rel=\"" + rel + "\"");
      if (at == std::string::npos) break;
      targets.push_back(LinksOf(page.body.substr(at)).front());
    }
    return targets;
  }
  // The runs and families that a page lists.
  std::vector<std::string> RowsOf(const std::string& target) {
    std::vector<std::string> rows;
    for (const std::string& link : LinksOf(Get(target).body)) {
      if (link.starts_with("/run/many-") || link.starts_with("/family/family")) {
        rows.push_back(link);
      }
    }
    return rows;
  }

  void SetUp() override {
    AddRun("good", kDay1);
    AddRun("bad", kDay2);
    AddRun("never", kDay3);
    AddRun("hostile", kDay3, kHostileFamily);
    AddRun("dots", kDay3, "..");
    AddVerdict("night-1", "good", "identical", "2026-01-05T03:00:00Z");
    AddVerdict("night-2", "bad", "identical", "2026-01-06T03:00:00Z");
    AddVerdict("night-3", "bad", "drifted", "2026-01-13T03:00:00Z",
               R"([{"message": "the loss <moved> by 0.3"}])");
  }
};

TEST_F(Pages, TheFleetIsCountedByLastVerdict) {
  const HttpResponse page = Get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("1 of 5 runs did not reproduce when last drilled."));
  EXPECT_THAT(page.body, HasSubstr("<li class=\"drifted\"><div><b>1</b> <span>✗ drifted</span>"));
  EXPECT_THAT(page.body, HasSubstr("<b>3</b> <span>· not drilled</span>"));
  EXPECT_THAT(page.body, HasSubstr("<a href=\"/run/bad\">bad</a>"));
  EXPECT_THAT(page.body, HasSubstr("night-3"));
  EXPECT_THAT(page.body, HasSubstr("history runs.db"));
  EXPECT_THAT(page.body, Not(HasSubstr(folder_.path().string()))) << "where it lies is not told";
}

TEST_F(Pages, AnOpenVerdictHidesNoRunThatDidNotReproduce) {
  AddVerdict("night-4", "bad", "infra", "2026-01-14T03:00:00Z");
  AddVerdict("night-4b", "never", "not_comparable", "2026-01-14T03:00:00Z");
  const std::string page = Get("/").body;
  const std::size_t at = page.find("Runs that did not reproduce, by their last conclusive verdict");
  ASSERT_NE(at, page.npos);
  const std::string table = page.substr(at, page.find("</table>", at) - at);
  EXPECT_THAT(table, HasSubstr("<th scope=\"col\">Last conclusive verdict</th>"));
  EXPECT_THAT(table, HasSubstr("/run/bad"));
  EXPECT_THAT(table, HasSubstr("✗ drifted</span></td><td data-l=\"Started\">2026-01-02</td><td "
                               "data-l=\"Judged\">2026-01-13</td>"));
  EXPECT_THAT(table, Not(HasSubstr("/run/never"))) << "it has no conclusive verdict";
  const std::string run = Get("/run/bad").body;
  EXPECT_THAT(run, HasSubstr("Last verdict: infra, 2026-01-14 03:00 UTC."));
  EXPECT_THAT(run, HasSubstr("drifted, 2026-01-13 03:00 UTC (drill night-3)"));
  EXPECT_THAT(Get("/run/never").body, HasSubstr("<dt>Last compared</dt><dd>never</dd>"));
}

TEST_F(Pages, ARunIsToldFromItsRecordToItsLastVerdict) {
  const HttpResponse page = Get("/run/bad");
  EXPECT_EQ(page.status, 200);
  for (const char* said :
       {"Last verdict: drifted, 2026-01-13 03:00 UTC.", "the loss &lt;moved&gt; by 0.3", "night-2",
        "night-3", "exited with 0 in 1 min 1 s, evidence eeeeeeeeeeee", "accuracy",
        "primary, higher is better, margin 0.005",
        "python3 train.py <span class=\"w\">--seed=3</span>"}) {
    EXPECT_THAT(page.body, HasSubstr(said));
  }
  const std::string drills = page.body.substr(page.body.find("Drills, the newest first"));
  EXPECT_LT(drills.find("night-3"), drills.find("night-2"));
  EXPECT_THAT(Get("/run/never").body, HasSubstr("Run never. No drill has judged it."));
}

TEST_F(Pages, AFamilyHasItsRunsNewestFirst) {
  const HttpResponse page = Get("/family/digits-mlp%2Fcpu");
  EXPECT_EQ(page.status, 200);
  EXPECT_LT(page.body.find("/run/never"), page.body.find("/run/bad"));
  EXPECT_LT(page.body.find("/run/bad"), page.body.find("/run/good"));
  EXPECT_EQ(Get("/family/digits-mlp/cpu").body, page.body);
  EXPECT_THAT(page.body, HasSubstr("week of 2026-01-12: 1 drifted"));
}

TEST_F(Pages, WhatIsNotThereIs404) {
  for (const char* target : {"/run/none", "/family/none", "/run", "/run/", "/family", "/index.html",
                             "/runs.db", "/run/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                             "/style-.css", "/..", "//", "/run/good/", "/healthz/"}) {
    const HttpResponse page = Get(target);
    EXPECT_EQ(page.status, 404) << target;
    EXPECT_THAT(page.body, Not(HasSubstr("root:"))) << target;
  }
}

TEST_F(Pages, TheSearchFindsRunsFamiliesCommitsAndImages) {
  EXPECT_THAT(Get("/search?q=goo").body, HasSubstr("/run/good"));
  EXPECT_THAT(Get("/search?q=goo").body, Not(HasSubstr("/run/bad")));
  EXPECT_THAT(Get("/search?q=digits").body, HasSubstr("/family/digits-mlp%2Fcpu"));
  EXPECT_THAT(Get("/search?q=aaaaaa").body, HasSubstr("/run/good")) << "the beginning of a commit";
  EXPECT_EQ(Get("/search?q=a&by=all").status, 400);
  EXPECT_EQ(Get("/search?q=" + std::string(201, 'a')).status, 400);
  EXPECT_EQ(Get("/search?q=%27%20OR%201%3D1%20--").status, 200);
}

TEST_F(Pages, TheSearchFindsTheRunThatMadeAFile) {
  Manifest manifest = MakeManifest("made", kDay1);
  Artifact artifact;
  artifact.role = "weights";
  artifact.path = "model.bin";
  artifact.sha256 = "0123456789abcdef" + std::string(48, '7');
  manifest.artifacts = {artifact};
  ASSERT_TRUE(store_->Add(manifest, At(kDay1)).ok());
  const std::string text = "0123456789ABCDEF" + std::string(48, '7');
  for (const std::string& target : {"/search?q=" + text, "/search?q=" + text + "&by=artifact"}) {
    const HttpResponse page = Get(target);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("/run/made")) << target;
    EXPECT_THAT(page.body, Not(HasSubstr("/run/good"))) << target;
  }
  EXPECT_THAT(Get("/search?q=" + std::string(64, '8')).body, HasSubstr("Nothing has"));
  EXPECT_THAT(Get("/search?q=0123&by=artifact").body, HasSubstr("has 64 of the digits"));
}

TEST_F(Pages, ListsGoOnWhereTheyStoppedAndBack) {
  for (int i = 0; i < 120; ++i) {
    AddRun(fmt::format("many-{:03}", i), kDay1, "many");
    AddRun(fmt::format("single-{:03}", i), kDay1, fmt::format("family {:03}", i));
  }
  for (const char* first : {"/family/many", "/families", "/search?q=many", "/search?q=many-&by=run",
                            "/search?q=aaaa&by=commit", "/search?q=family%20&by=family"}) {
    const std::vector<std::string> on = Follow(first, "next");
    ASSERT_GE(on.size(), 3U) << first;
    std::vector<std::string> back = Follow(on.back(), "prev");
    std::reverse(back.begin(), back.end());
    std::set<std::string> seen;
    ASSERT_EQ(back.size(), on.size()) << first;
    for (std::size_t i = 0; i < on.size(); ++i) {
      const std::vector<std::string> rows = RowsOf(on[i]);
      seen.insert(rows.begin(), rows.end());
      EXPECT_EQ(RowsOf(back[i]), rows) << "the same page from behind: " << back[i];
    }
    // By their commit all are found, with their families beside them.
    EXPECT_EQ(seen.size(), std::string_view(first).ends_with("commit") ? 240U : 120U) << first;
  }
}

// As an address that somebody kept, of a list that is shorter by now: the last page, and its way
// back.
TEST_F(Pages, BehindTheEndOfAListIsItsLastPage) {
  for (int i = 0; i < 120; ++i) {
    AddRun(fmt::format("one-{:03}", i),
           fmt::format("2026-01-{:02}T00:00:{:02}Z", 1 + i % 20, i / 20), "one");
    AddRun(fmt::format("own-{:03}", i), kDay1, fmt::format("many/{:03}", i));
    AddVerdict(fmt::format("d-{:03}", i), fmt::format("own-{:03}", i), "identical", kDay1);
  }
  for (int i = 0; i < 120; ++i) {
    AddVerdict(fmt::format("e-{:03}", i), "one-007", "identical",
               fmt::format("2026-01-{:02}T01:00:{:02}Z", 1 + i % 20, i / 20));
  }
  struct Past {
    const char* target;
    const char* last;  // the row at the end, and one that is long before it
    const char* before;
  };
  for (const Past& one : {
           Past{"/families?after=zzz", "/family/one", "/family/many%2F000"},
           Past{"/families?after=one", "/family/one", "/family/many%2F000"},
           Past{"/trends?after=one", "/family/one", "/family/many%2F000"},
           Past{"/family/one?t=0&after=one-000", "/run/one-000", "/run/one-019"},
           Past{"/family/one?t=1767225600000&after=one-000", "/run/one-000", "/run/one-019"},
           Past{"/run/one-007?t=0&after=e-000", ">e-000<", ">e-099<"},
           Past{"/search?q=own&after=zzz", "/run/own-119", "/run/own-000"},
           Past{"/search?q=own&after=own-119", "/run/own-119", "/run/own-000"},
           Past{"/search?q=aaaa&by=commit&after=zzz&commit=zzz", "/run/own-119", "/run/one-000"},
           Past{"/search?q=many&by=family&after=zzz", "/family/many%2F119", "/family/many%2F000"},
       }) {
    const HttpResponse page = Get(one.target);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr(one.last)) << one.target;
    EXPECT_THAT(page.body, Not(HasSubstr(one.before))) << one.target;
    EXPECT_THAT(page.body, HasSubstr("rel=\"prev\"")) << one.target;
    EXPECT_THAT(page.body, Not(HasSubstr("rel=\"next\""))) << one.target;
  }
  // Of a list of one page that page, and of none what it says of none.
  EXPECT_THAT(Get("/search?q=own-119&after=zzz").body, HasSubstr("/run/own-119"));
  EXPECT_THAT(Get("/search?q=nothing-has-this&after=zzz").body, HasSubstr("Nothing has"));
  EXPECT_EQ(Get("/family/none?t=0&after=a").status, 404);
}

TEST_F(Pages, EveryLinkLeadsSomewhereHoweverHostileTheName) {
  std::set<std::string> seen = {"/"};
  std::vector<std::string> open = {"/"};
  while (!open.empty()) {
    const std::string target = open.back();
    open.pop_back();
    const HttpResponse page = Get(target);
    EXPECT_EQ(page.status, 200) << target;
    EXPECT_THAT(page.body, Not(HasSubstr("<script"))) << target;
    for (const std::string& link : LinksOf(page.body)) {
      if (link.starts_with("#")) continue;
      EXPECT_EQ(link.front(), '/') << link;
      EXPECT_NE(link.substr(0, 2), "//") << link;
      if (seen.insert(link).second) open.push_back(link);
    }
  }
  EXPECT_TRUE(seen.contains("/family?name=.."));
  EXPECT_TRUE(seen.contains("/run/hostile"));
  EXPECT_GT(seen.size(), 9U);
}

TEST_F(Pages, AllAnswersHaveTheSameStrictHeaders) {
  const HttpRequest post{.method = "POST",
                         .target = "/",
                         .hosts = {"127.0.0.1:8780"},
                         .if_none_match = {},
                         .has_body = true};
  HttpRequest stranger = post;
  stranger.hosts = {"evil.example:8780"};
  HttpRequest nobody = post;
  nobody.hosts = {};
  HttpRequest two = post;
  two.hosts = {"127.0.0.1:8780", "127.0.0.1:8780"};
  HttpRequest body = post;
  body.method = "GET";
  const std::pair<int, HttpResponse> answers[] = {
      {200, Get("/")},
      {200, Get("/healthz")},
      {200, Get("/icon.svg")},
      {400, Get("/%zz")},
      {404, Get("/none")},
      {414, Get("/" + std::string(5000, 'a'))},
      {405, site().Answer(post)},
      {413, site().Answer(body)},
      {421, site().Answer(stranger)},
      {400, site().Answer(nobody)},
      {400, site().Answer(two)},
  };
  for (const auto& [status, answer] : answers) {
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(HeaderOf(answer, "Content-Security-Policy"),
              "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri "
              "'none'; frame-ancestors 'none'");
    EXPECT_EQ(HeaderOf(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(HeaderOf(answer, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(HeaderOf(answer, "X-Frame-Options"), "DENY");
    EXPECT_NE(HeaderOf(answer, "Cache-Control"), "");
    EXPECT_NE(HeaderOf(answer, "Content-Type"), "");
  }
  EXPECT_EQ(HeaderOf(site().Answer(post), "Allow"), "GET, HEAD");
  EXPECT_EQ(HeaderOf(Get("/"), "Cache-Control"), "no-store");
}

TEST_F(Pages, TheStyleIsAFileOfItsOwnAndNothingIsInline) {
  const std::string page = Get("/").body;
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
  EXPECT_THAT(Get("/trends").body, Not(HasSubstr(" style=")));
  EXPECT_THAT(Get("/run/bad").body, Not(HasSubstr(" style=")));
  const std::size_t at = page.find("rel=\"stylesheet\"");
  ASSERT_NE(at, std::string::npos);
  const HttpResponse style = Get(LinksOf(page.substr(at)).front());
  EXPECT_EQ(style.status, 200);
  EXPECT_EQ(HeaderOf(style, "Content-Type"), "text/css; charset=utf-8");
  EXPECT_THAT(HeaderOf(style, "Cache-Control"), HasSubstr("immutable"));
}

TEST_F(Pages, WhoHasTheStyleAlreadyIsTold) {
  const std::string page = Get("/").body;
  const std::string style = LinksOf(page.substr(page.find("rel=\"stylesheet\""))).front();
  for (const std::string& target : {style, std::string("/icon.svg")}) {
    const auto ask = [&](const std::string& held) {
      return site().Answer({.method = "GET",
                            .target = target,
                            .hosts = {"127.0.0.1:8780"},
                            .if_none_match = held,
                            .has_body = false});
    };
    const std::string tag = HeaderOf(Get(target), "ETag");
    ASSERT_EQ(tag.front(), '"') << target;
    for (const std::string& held : {tag, "\"a\", W/" + tag, std::string("*")}) {
      const HttpResponse answer = ask(held);
      EXPECT_EQ(answer.status, 304) << target << held;
      EXPECT_EQ(answer.body, "");
      EXPECT_EQ(HeaderOf(answer, "ETag"), tag);
      EXPECT_NE(HeaderOf(answer, "Cache-Control"), "");
    }
    EXPECT_EQ(ask("\"other\"").status, 200) << target;
  }
  EXPECT_EQ(HeaderOf(Get("/run/bad"), "ETag"), "") << "what may change is not kept";
}

TEST_F(Pages, ADamagedManifestIsSaidAndTheRestIsShown) {
  ASSERT_EQ(Get("/run/bad").status, 200);
  EXPECT_EQ(
      RawDatabase(Path()).RunPastTriggers("UPDATE manifests SET body = '{}' WHERE run_id = 'bad'"),
      "");
  const HttpResponse page = Get("/run/bad");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("Its manifest cannot be shown"));
  EXPECT_THAT(page.body, HasSubstr("night-3"));
}

TEST_F(Pages, ADrillThatEndsMeanwhileIsOnTheNextPage) {
  EXPECT_THAT(Get("/run/never").body, Not(HasSubstr("night-4")));
  AddVerdict("night-4", "never", "equivalent", "2026-01-14T03:00:00Z");
  EXPECT_THAT(Get("/run/never").body, HasSubstr("night-4"));
  EXPECT_THAT(Get("/").body, HasSubstr("≈ equivalent"));
}

TEST_F(Pages, AHistoryThatCannotBeReadIsNoCrashAndTellsNoPath) {
  store_.reset();
  ASSERT_EQ(Get("/healthz").body, "ok\n");
  site_.reset();
  site();
  std::filesystem::rename(Path(), folder_.path() / "away.db");
  const HttpResponse page = Get("/");
  EXPECT_EQ(page.status, 503);
  EXPECT_EQ(HeaderOf(page, "Retry-After"), "5");
  EXPECT_THAT(page.body, Not(HasSubstr(folder_.path().string())));
  EXPECT_EQ(Get("/healthz").status, 503);
  std::filesystem::rename(folder_.path() / "away.db", Path());
  EXPECT_EQ(Get("/").status, 200) << "it came back";
}

TEST_F(Pages, AnEmptyHistoryHasPagesToo) {
  const std::filesystem::path other = folder_.path() / "empty.db";
  OpenStoreAt(other).reset();
  Site empty({.history = other.string(),
              .hosts = AllowedHosts(*ParseListenAddress("127.0.0.1:8780"), {}),
              .now = [] { return At(kDay1); },
              .counted = [] { return std::make_shared<const SiteCounted>(); }});
  for (const char* target : {"/", "/families", "/trends", "/search?q=a"}) {
    const HttpResponse page = empty.Answer({.method = "GET",
                                            .target = target,
                                            .hosts = {"localhost:8780"},
                                            .if_none_match = {},
                                            .has_body = false});
    EXPECT_EQ(page.status, 200) << target;
    EXPECT_THAT(page.body, HasSubstr("still being counted")) << target;
  }
}

}  // namespace
}  // namespace rharness
