// The pool of connections.
#include "harness/serve/browsers.h"

namespace rharness {

Result<std::unique_ptr<HistoryBrowser>> Browsers::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) {
      std::unique_ptr<HistoryBrowser> browser = std::move(waiting_.back());
      waiting_.pop_back();
      return browser;
    }
  }
  return HistoryBrowser::Open(history_);
}

void Browsers::GiveBack(std::unique_ptr<HistoryBrowser> browser) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(browser));
}

}  // namespace rharness
