// What a page costs over a history of many runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "harness/trends/trends.h"
#include "tests/serve/serve_world.h"

namespace rharness {
namespace {

int RunsAsked() {
  const char* asked = std::getenv("RHARNESS_SERVE_RUNS");
  return asked == nullptr ? 100'000 : std::max(1'000, std::atoi(asked));
}

double CpuMs() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e3 + static_cast<double>(spent.tv_nsec) / 1e6;
}

// Families of 250 runs; ten drills of a tenth of them each week, so that each run has ten verdicts.
void Fill(const std::filesystem::path& path, int runs) {
  {
    const std::unique_ptr<HistoryStore> store = OpenStoreAt(path);
    std::vector<NewRun> batch;
    for (int i = 0; i < runs; ++i) {
      Manifest manifest =
          MakeManifest(fmt::format("run-{:06}", i), kDay1,
                       fmt::format("team-{:02}/family-{:04}", i / 250 % 20, i / 250));
      manifest.started += std::chrono::minutes(i);
      manifest.code.commit = fmt::format("{:040x}", i / 40 * 2654435761U);
      manifest.image = {.kind = "oci",
                        .registry = "registry.example",
                        .repository = "ml/train",
                        .tag = fmt::format("v{}", i / 1000)};
      manifest.image.digest = fmt::format("sha256:{:064x}", i / 1000);
      batch.push_back(NewRunOf(manifest));
      if (batch.size() == 500 || i + 1 == runs) {
        ASSERT_TRUE(store->AddAll(batch, At(kDay1)).ok());
        batch.clear();
      }
    }
  }
  RawDatabase raw(path);
  // As drills would have entered them, in one go. n: a drill's number.
  const std::string text = fmt::format(
      "BEGIN; WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100) "
      "INSERT INTO drills (drill_id, started_ms, ended_ms, exit_code, sequence) SELECT "
      "printf('night-%04d', n), 1767571200000 + n * 302400000, 1767571200000 + n * 302400000 + "
      "3600000, n % 2, n FROM c;"
      "INSERT INTO verdicts (drill_id, run_id, verdict, decided_ms, reruns, reasons) SELECT "
      "d.drill_id, r.run_id, CASE WHEN (r.rowid * 7 + d.sequence) % 97 = 0 THEN 'drifted' WHEN "
      "r.rowid % 11 = 0 THEN 'equivalent' ELSE 'identical' END, d.started_ms + r.rowid % 3600000, "
      "1, '[{{\"message\": \"every declared tensor and metric is bit-equal\"}}]' FROM drills d "
      "JOIN "
      "runs r ON r.rowid % 10 = d.sequence % 10;"
      "INSERT INTO reruns (drill_id, run_id, rerun, outcome, wall_seconds, evidence_sha256) SELECT "
      "drill_id, run_id, 1, 'exited with 0', 60.0, 'e' FROM verdicts;"
      "UPDATE standing SET (last_verdict, judged_ms) = (SELECT v.verdict, v.decided_ms FROM "
      "verdicts "
      "v WHERE v.run_id = standing.run_id ORDER BY v.decided_ms DESC LIMIT 1);"
      "UPDATE standing SET verified_ms = judged_ms; COMMIT; ANALYZE;");
  ASSERT_EQ(raw.RunPastTriggers(text), "");
}

// What the server counts beside its pages.
void CountOnce(const std::filesystem::path& path, SiteCounted* counted) {
  counted->whole = true;
  auto opened = HistoryBrowser::Open(path.string(), {.answer = std::chrono::minutes(5)});
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  const std::unique_ptr<HistoryBrowser> browser = std::move(*opened);
  double began = CpuMs();
  while (CountNewVerdicts(browser.get(), WallTime{}, 50, &counted->weeks).value()) continue;
  std::printf("verdicts counted by week, once, in %.0f ms\n", CpuMs() - began);
  began = CpuMs();
  const auto report = MeasureTrends(&browser->store(), {.weeks = kSiteWeeks, .gone = {}},
                                    At("2026-12-30T00:00:00Z"));
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  counted->trends = std::make_shared<const TrendsReport>(*report);
  std::printf("trends measured, once, in %.0f ms\n", CpuMs() - began);
}

TEST(SiteSize, EveryPageOfAHundredThousandRunsTakesFewMilliseconds) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const std::filesystem::path path = folder.path() / "runs.db";
  const int runs = RunsAsked();
  const double began = CpuMs();
  Fill(path, runs);
  if (HasFatalFailure()) return;
  std::printf("history of %d runs made in %.0f ms\n", runs, CpuMs() - began);
  SiteCounted counted;
  CountOnce(path, &counted);
  if (HasFatalFailure()) return;
  const auto shared = std::make_shared<const SiteCounted>(counted);
  Site site({.history = path.string(),
             .hosts = AllowedHosts(*ParseListenAddress("127.0.0.1:8780"), {}),
             .now = [] { return At("2026-12-30T00:00:00Z"); },
             .counted = [shared] { return shared; }});
  const std::string middle = fmt::format("run-{:06}", runs / 2);
  const std::string family = fmt::format("{:04}", runs / 500);
  const std::string targets[] = {"/",
                                 "/families",
                                 "/families?after=team-10",
                                 "/family/team-00%2Ffamily-0000",
                                 "/run/" + middle,
                                 "/trends",
                                 "/trends/report",
                                 "/search?q=" + middle,
                                 "/search?q=family-" + family,
                                 "/search?q=nothing-has-this",
                                 "/search?q=0000000",
                                 "/search?by=commit&q=00000",
                                 "/search?by=image&q=v1",
                                 "/healthz"};
  for (const std::string& target : targets) {
    std::vector<double> spent;
    std::size_t bytes = 0;
    for (int round = 0; round < 5; ++round) {
      const double start = CpuMs();
      const HttpResponse page = site.Answer({.method = "GET",
                                             .target = target,
                                             .hosts = {"127.0.0.1:8780"},
                                             .if_none_match = {},
                                             .has_body = false});
      spent.push_back(CpuMs() - start);
      EXPECT_EQ(page.status, 200) << target;
      bytes = page.body.size();
    }
    std::sort(spent.begin(), spent.end());
    std::printf("%-34s %7.2f ms of CPU, %7zu bytes\n", target.c_str(), spent[2], bytes);
    // The goal is 50 ms; a list that is read whole, or sorted, takes many times as long.
    EXPECT_LT(spent.front(), 250.0) << target;
  }
}

}  // namespace
}  // namespace rharness
