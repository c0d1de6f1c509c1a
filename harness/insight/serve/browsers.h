// Connections to one history, one per request in progress.
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_BROWSERS_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_BROWSERS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/history/browser.h"

namespace rharness {

class Browsers {
 public:
  explicit Browsers(std::string history) : history_(std::move(history)) {}

  // An idle one, or a new one; for a replaced file always a new one. Errors: those of
  // HistoryBrowser::Open.
  Result<std::unique_ptr<HistoryBrowser>> Take();
  // Do not call it with a failed one, since its connection may be at fault.
  void GiveBack(std::unique_ptr<HistoryBrowser> browser);

 private:
  const std::string history_;
  std::mutex mutex_;
  std::pair<std::uint64_t, std::uint64_t> file_{};  // device and inode of those that wait
  std::vector<std::unique_ptr<HistoryBrowser>> waiting_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_BROWSERS_H_
