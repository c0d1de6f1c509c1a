// Shows the progress of long work on stderr.
//
// On a terminal it rewrites one line and clears it at the end; elsewhere, as in a log, it prints a
// plain line now and then. The caller reports the result of the work.
#ifndef RHARNESS_HARNESS_BASE_PROGRESS_H_
#define RHARNESS_HARNESS_BASE_PROGRESS_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The current state of the work; passed to the display whenever it may have changed.
struct Progress {
  std::string_view what = "reruns done";  // unit of `finished` and `total`
  int finished = 0;
  int running = 0;
  int total = 0;
  std::chrono::nanoseconds elapsed{0};
  std::optional<std::chrono::nanoseconds> remaining;  // estimate; empty: not known
  std::vector<std::string> jobs;                      // that run now
  bool stopping = false;                              // no more will start
};

// For work whose parts take about equally long, one after another; `job` is the current one.
Progress CountProgress(std::string_view what, std::size_t finished, std::size_t total,
                       std::chrono::nanoseconds elapsed, std::string_view job);

// "5/12 reruns done, 2 running, 0:42 elapsed, about 1:10 left: a.1 b.1", at most `columns` - 1
// wide, or 20 if that is less. Times are [h:]m:ss; the remaining time is rounded up, and left out
// when all is done and when stopping.
std::string FormatProgress(const Progress& progress, int columns);

// When a log gets a line: when another quarter of the first kind of work is done, except at its
// end; and a minute after the last line, later on a tenth of the time elapsed. So a drill of a
// night leaves about forty lines.
class ProgressPace {
 public:
  bool Due(const Progress& progress);

 private:
  std::string_view what_;
  int quarters_ = 0;
  std::chrono::nanoseconds last_{0};
};

enum class ProgressStyle {
  kNone,     // --quiet
  kRewrite,  // a line on a terminal that is written over
  kLog,      // plain lines now and then
};

// The style of this process's stderr. If control sequences are not wanted (`plain`, NO_COLOR) or
// not understood (TERM=dumb), a terminal counts as a log.
ProgressStyle ProgressStyleHere(bool quiet, bool plain);

// Width of the terminal behind a file descriptor; 100 if it is none.
int TerminalColumns(int fd);

// Shows progress on stderr, one at a time; removes its line when cleared or destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressStyle style) : style_(style) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void Show(const Progress& progress);
  void Clear();

 private:
  ProgressStyle style_;
  ProgressPace pace_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_PROGRESS_H_
