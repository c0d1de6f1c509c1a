// How far a long piece of work is, said on stderr while it lasts.
//
// On a terminal one line is written over and is gone at the end; elsewhere, as in a log, a plain
// line comes now and then. What the work came to is told by whoever started it.
#ifndef RHARNESS_HARNESS_BASE_PROGRESS_H_
#define RHARNESS_HARNESS_BASE_PROGRESS_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Where the work stands; given to the display whenever it may have changed.
struct Progress {
  std::string_view what = "reruns done";  // of which `finished` out of `total` are
  int finished = 0;
  int running = 0;
  int total = 0;
  std::chrono::nanoseconds elapsed{0};
  std::optional<std::chrono::nanoseconds> remaining;  // estimate; empty: not known
  std::vector<std::string> jobs;                      // that run now
  bool stopping = false;                              // no more will start
};

// Of work whose parts take about as long as each other, one after another; `job` is under way.
Progress CountProgress(std::string_view what, std::size_t finished, std::size_t total,
                       std::chrono::nanoseconds elapsed, std::string_view job);

// "5/12 reruns done, 2 running, 0:42 elapsed, about 1:10 left: a.1 b.1", at most `columns` - 1
// wide, or 20 where that is less. Times are [h:]m:ss, what is left rounded up. What is left is not
// said when all is done, nor when stopping.
std::string FormatProgress(const Progress& progress, int columns);

// When a log gets a line: when another quarter of the first kind of work is done, but for all of
// it; and a minute after the last line, later on a tenth of the time elapsed. So a drill of a night
// leaves about forty lines.
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

// Of this process's stderr. Where control sequences are not wanted (`plain`, NO_COLOR) or not
// understood (TERM=dumb), a terminal is a log.
ProgressStyle ProgressStyleHere(bool quiet, bool plain);

// Width of the terminal behind a file descriptor; 100 where it is none.
int TerminalColumns(int fd);

// Shows progress on stderr, one at a time; takes its line away when cleared or destroyed.
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
