// Connections to one history, one for each request that is being answered.
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

  // One that waits, or a new one; of a file that was replaced always a new one. Errors: those of
  // HistoryBrowser::Open.
  Result<std::unique_ptr<HistoryBrowser>> Take();
  // Not to be called with one that failed, since its connection may be what failed.
  void GiveBack(std::unique_ptr<HistoryBrowser> browser);

 private:
  const std::string history_;
  std::mutex mutex_;
  std::pair<std::uint64_t, std::uint64_t> file_{};  // device and inode of those that wait
  std::vector<std::unique_ptr<HistoryBrowser>> waiting_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_BROWSERS_H_
