// Time as an interface, so that code that waits or stamps can be tested with a fake.
#ifndef RHARNESS_HARNESS_BASE_CLOCK_H_
#define RHARNESS_HARNESS_BASE_CLOCK_H_

#include <chrono>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

using Seconds = std::chrono::duration<double>;
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime Now() = 0;                        // UTC
  virtual std::chrono::nanoseconds Monotonic() = 0;  // for durations
  virtual void SleepFor(std::chrono::nanoseconds span) = 0;
};

// The machine's clock. One instance, never destroyed.
Clock& SystemClock();

// A clock that moves only by Advance and by sleeping, which returns at once.
class FakeClock : public Clock {
 public:
  explicit FakeClock(WallTime start = WallTime{}) : now_(start) {}
  WallTime Now() override {
    return now_ + std::chrono::duration_cast<std::chrono::milliseconds>(spent_);
  }
  std::chrono::nanoseconds Monotonic() override { return spent_; }
  void SleepFor(std::chrono::nanoseconds span) override { spent_ += span; }
  void Advance(std::chrono::nanoseconds span) { spent_ += span; }

 private:
  WallTime now_;
  std::chrono::nanoseconds spent_{0};
};

// RFC 3339 in UTC with milliseconds: "2026-11-20T08:03:00.000Z".
std::string FormatTime(WallTime time);
// Reads what FormatTime writes; fractions of any length (cut to milliseconds), "Z" or a numeric
// offset, a leap second :60 as the next minute's :00. Else invalid_input.
Result<WallTime> ParseTime(std::string_view text);
// For people; "unknown" when negative, NaN or infinite: "17 ms", "0.4 s", "12 s", "3 min 5 s", "2 h
// 10 min", "3 d 4 h".
std::string FormatDuration(Seconds seconds);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_CLOCK_H_
