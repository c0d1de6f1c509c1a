// Whether attempts fail one after the other for one reason that is not theirs: then starting more
// of them spends a cluster on nothing.
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
  // Looks at the last `window` attempts; 0: at none.
  explicit StormWatch(int window) : window_(window) {}

  // One attempt ended. `reason`: of infrastructure that failed; empty: it did not.
  void Add(const std::string& run_id, std::string_view reason);
  // Once the window is full: how at least four fifths of it, of three runs and more, failed in the
  // same way, as a sentence with the last reason. Two reasons are the same that differ only in
  // numbers and in the run's id.
  std::optional<std::string> Raging() const;

 private:
  struct Ended {
    std::string run_id;
    std::string reason;  // as given; empty: none
    std::string way;     // without what differs from run to run
  };
  int window_;
  std::deque<Ended> last_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_STORM_WATCH_H_
