// A history with runs, drills and hostile names, and the site over it without a socket.
#ifndef RHARNESS_TESTS_INSIGHT_SERVE_SERVE_WORLD_H_
#define RHARNESS_TESTS_INSIGHT_SERVE_SERVE_WORLD_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/insight/serve/routes.h"
#include "tests/history/store_fixture.h"

namespace rharness {

inline constexpr char kHostileFamily[] = "<script>alert(1)</script>/\"&'..";

class ServeWorld : public testing::Test {
 protected:
  ServeWorld() : store_(OpenStoreAt(Path())) {}

  std::filesystem::path Path() const { return folder_.path() / "runs.db"; }
  void AddRun(const std::string& run_id, const std::string& started,
              const std::string& family = "digits-mlp/cpu") {
    ASSERT_TRUE(store_->Add(MakeManifest(run_id, started, family), At(kDay1)).ok());
  }
  void AddVerdict(const std::string& drill_id, const std::string& run_id,
                  const std::string& verdict, const std::string& decided,
                  const std::string& reasons = R"([{"message": "because"}])") {
    VerdictRecord record = MakeVerdict(drill_id, run_id, verdict, decided);
    record.reasons = reasons;
    const RerunRecord rerun{.drill_id = drill_id,
                            .run_id = run_id,
                            .rerun = 1,
                            .outcome = "exited with 0",
                            .wall_seconds = 61.0,
                            .evidence_sha256 = std::string(64, 'e')};
    const Status added =
        store_->AddDrill(DrillRecord{drill_id, At(decided), At(decided), 0}, {rerun}, {record});
    ASSERT_TRUE(added.ok()) << added.error().ToString();
  }

  Site& site() {
    if (site_ == nullptr) {
      auto browser = HistoryBrowser::Open(Path().string());
      EXPECT_TRUE(browser.ok()) << browser.error().ToString();
      counted_.whole = true;
      if (browser.ok()) {
        EXPECT_TRUE(CountNewVerdicts(browser->get(), WallTime{}, 1000, &counted_.weeks).ok());
        counted_.open_bad = (*browser)->OpenBadRuns(kOpenBadRuns).value();
      }
      site_ = std::make_unique<Site>(SiteSettings{
          .history = Path().string(),
          .hosts = AllowedHosts(*ParseListenAddress("127.0.0.1:8780"), {}),
          .now = [] { return At("2026-01-20T12:00:00Z"); },
          .counted = [this] { return std::make_shared<const SiteCounted>(counted_); }});
    }
    return *site_;
  }
  HttpResponse Get(const std::string& target) {
    return site().Answer({.method = "GET",
                          .target = target,
                          .hosts = {"127.0.0.1:8780"},
                          .if_none_match = {},
                          .has_body = false});
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
  std::unique_ptr<HistoryStore> store_;
  SiteCounted counted_;
  std::unique_ptr<Site> site_;
};

inline std::string HeaderOf(const HttpResponse& answer, const std::string& name) {
  std::string values;
  for (const auto& [one, value] : answer.headers) {
    if (one == name) values += (values.empty() ? "" : "|") + value;
  }
  return values;
}

// The addresses that a page leads to, as they stand in it but for &amp;.
inline std::vector<std::string> LinksOf(const std::string& page) {
  std::vector<std::string> links;
  const std::string mark = "href=\"";
  for (std::size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at)) {
    at += mark.size();
    std::string link = page.substr(at, page.find('"', at) - at);
    for (std::size_t amp = link.find("&amp;"); amp != std::string::npos;
         amp = link.find("&amp;", amp + 1)) {
      link.replace(amp, 5, "&");
    }
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_INSIGHT_SERVE_SERVE_WORLD_H_
