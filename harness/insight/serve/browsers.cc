// The pool of connections.
#include "harness/insight/serve/browsers.h"

#include <sys/stat.h>

#include "harness/history/location.h"
#include "harness/history/postgresql_url.h"

namespace rharness {
namespace {

// Device and inode; zeros for a missing file, or for no file.
std::pair<std::uint64_t, std::uint64_t> FileOf(const std::string& history) {
  if (IsPostgresqlUrl(history)) return {};
  const auto path = ParseHistoryUrl(history);
  struct stat status {};
  if (!path.ok() || ::stat(path->c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace

Result<std::unique_ptr<HistoryBrowser>> Browsers::Take() {
  std::unique_ptr<HistoryBrowser> browser;
  {
    const auto file = FileOf(history_);
    const std::lock_guard lock(mutex_);
    if (file != file_) waiting_.clear();
    file_ = file;
    if (!waiting_.empty()) {
      browser = std::move(waiting_.back());
      waiting_.pop_back();
    }
  }
  if (browser == nullptr) return HistoryBrowser::Open(history_);
  RETURN_IF_ERROR(browser->CheckWords());
  return browser;
}

void Browsers::GiveBack(std::unique_ptr<HistoryBrowser> browser) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(browser));
}

}  // namespace rharness
