// Detects that attempts fail one after the other for one reason that is not theirs: then starting
// more of them wastes a cluster.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_STORM_WATCH_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_STORM_WATCH_H_

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace rharness {

// Pure.
class StormWatch {
 public:
  // Watches the last `window` attempts; 0: off.
  explicit StormWatch(int window) : window_(window) {}

  // An attempt ended. `reason`: of an infrastructure failure; empty: it did not fail.
  void Add(const std::string& run_id, std::string_view reason);
  // Once the window is full and at least four fifths of it, of three runs and more, failed in the
  // same way: a sentence with the last reason. Reasons that differ only in numbers and in the run's
  // id are the same.
  std::optional<std::string> Raging() const;

 private:
  struct Ended {
    std::string run_id;
    std::string reason;  // as given; empty: none
    std::string way;     // without the parts that differ from run to run
  };
  int window_;
  std::deque<Ended> last_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_STORM_WATCH_H_
