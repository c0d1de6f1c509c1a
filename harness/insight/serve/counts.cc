// The counting thread.
#include "harness/insight/serve/counts.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/insight/trends/tracks.h"
#include "harness/insight/trends/trends.h"

namespace rharness {
namespace {

constexpr BrowserLimits kCountingLimits = {.lock = std::chrono::seconds(10),
                                           .answer = std::chrono::minutes(2),
                                           .gone = std::chrono::seconds(10)};
// Limits the measuring of trends to a twentieth of a core.
constexpr int kRestPerWork = 20;

}  // namespace

SiteCounter::SiteCounter(std::string history, SiteFilesAsked files, const CountLimits& limits)
    : history_(std::move(history)),
      asked_(std::move(files)),
      limits_(limits),
      current_(std::make_shared<SiteCounted>()) {
  LookAtFiles();  // before the first page
  thread_ = std::thread([this] { Run(); });
}

SiteCounter::~SiteCounter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const SiteCounted> SiteCounter::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

bool SiteCounter::Ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

void SiteCounter::Publish(bool whole) {
  auto counted = std::make_shared<SiteCounted>(
      SiteCounted{totals_, open_bad_, whole, trends_, trends_failed_, measurements_, files_});
  const std::lock_guard lock(mutex_);
  current_ = std::move(counted);
}

// Logged when it changes: the fault of a file lasts for a while.
void SiteCounter::LookAtFiles() {
  const auto now = std::chrono::steady_clock::now();
  if (!asked_.any() || (looked_ && now < *looked_ + limits_.files)) return;
  looked_ = now;
  files_ = std::make_shared<const SiteFiles>(ReadSiteFiles(asked_, SystemClock().Now()));
  std::string trouble;
  for (const SignedFile* file : files_->all()) {
    if (!file->trouble.empty()) trouble += (trouble.empty() ? "" : "; ") + file->trouble;
  }
  if (trouble != told_of_files_ && !trouble.empty()) LogWarning(trouble);
  told_of_files_ = std::move(trouble);
  Publish(Current()->whole);
}

void SiteCounter::Run() {
  std::string told;
  for (;;) {
    LookAtFiles();
    const Status status = Round();
    if (status.ok()) {
      told.clear();
    } else {
      browser_.reset();
      const std::string text = status.error().ToString();
      if (text != told) LogWarning("verdicts are not counted now: " + text);
      told = text;
    }
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, limits_.every, [this] { return ending_; })) return;
  }
}

Status SiteCounter::Round() {
  if (browser_ == nullptr) {
    ASSIGN_OR_RETURN(browser_, HistoryBrowser::Open(history_, kCountingLimits));
  }
  RETURN_IF_ERROR(browser_->CheckWords());
  RETURN_IF_ERROR(CountWeeks());
  if (!Ending()) Measure();
  return {};
}

Status SiteCounter::CountWeeks() {
  const WallTime oldest = StartOf(WeekOf(SystemClock().Now()) - kSiteWeeks + 1);
  const bool first = !Current()->whole;
  bool any = first;
  for (int steps = 1; !Ending(); ++steps) {
    ASSIGN_OR_RETURN(const bool more,
                     CountNewVerdicts(browser_.get(), oldest, limits_.drills, &totals_));
    if (!more) break;
    any = true;
    // The first time takes seconds: partial data are shown meanwhile.
    if (first && steps % 20 == 0) Publish(false);
  }
  if (Ending() || (!any && open_bad_of_ == totals_.sequence)) return {};
  ASSIGN_OR_RETURN(open_bad_, browser_->OpenBadRuns(kOpenBadRuns));
  open_bad_of_ = totals_.sequence;
  Publish(true);
  return {};
}

// Trouble with trends affects only trends: counting weeks continues, and the next attempt waits as
// long as after a successful one.
void SiteCounter::Measure() {
  const auto began = std::chrono::steady_clock::now();
  if (totals_.sequence == measured_ || (measure_after_ && began < *measure_after_)) return;
  const WallTime now = SystemClock().Now();
  auto report = MeasureTrends(&browser_->store(), {.weeks = kSiteWeeks, .gone = {}}, now);
  const auto took = std::chrono::steady_clock::now() - began;
  measure_after_ =
      began + took +
      std::max<std::chrono::steady_clock::duration>(limits_.trends, took * kRestPerWork);
  ++measurements_;
  if (report.ok()) {
    report->version = kVersion;
    measured_ = totals_.sequence;
    trends_ = std::make_shared<const TrendsReport>(std::move(*report));
    trends_failed_.reset();
    told_of_trends_.clear();
  } else {
    browser_.reset();  // it may be its connection that is broken
    trends_failed_ = now;
    const std::string text = report.error().ToString();
    if (text != told_of_trends_) LogWarning("trends are not measured now: " + text);
    told_of_trends_ = text;
  }
  Publish(true);
}

}  // namespace rharness
