// One node's side of a gang: it has a number of its own, waits for the others, and stops with them.
//
// Role: keeps the nodes of one attempt together over a folder that all of them see; nothing else
// connects them. Files there: taken-N (O_EXCL), beat-N (a count that grows while N lives),
// ready-N.json, start.json or stop.json (node 0's), failed-N-RANK.json, first.json (a link to the
// first of these), done (node 0's command ended), end-N.json. Clocks of nodes are never compared: a
// node is lost if another sees no new beat of it. Not here: what a node does (rerun.h).
//
// Cost: each node looks at five files five times a second; node 0 also at one per node.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_SESSION_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_SESSION_H_

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/gang_notes.h"

namespace rharness {

struct GangTimes {
  std::chrono::milliseconds poll{200};
  std::chrono::milliseconds beat{5'000};
  std::chrono::milliseconds lost{45'000};     // without a beat
  std::chrono::milliseconds gather{180'000};  // until all nodes have taken their numbers
};

// Takes a number of an attempt, by O_EXCL in its folder: this one or, empty, the next free one.
// None: another process has it, or all are taken. Errors: io.
Result<std::optional<int>> TakeNode(const std::filesystem::path& folder, std::optional<int> node,
                                    int nodes);

class GangSession {
 public:
  GangSession(std::filesystem::path folder, int node, int nodes, std::function<bool()> cancel,
              GangTimes times = {});
  GangSession(const GangSession&) = delete;
  GangSession& operator=(const GangSession&) = delete;

  // Begins to beat; the caller has taken the number. Errors: io.
  Status Join();

  Status TellReady(const NodeReady& ready);
  // Node 0: of all nodes, by number. Others: of node 0 alone. Errors, each naming the nodes:
  // timeout (they did not come up, or are silent), process (cancelled). `trouble`: asked while a
  // node is not up; its answer, if any, is why none is to come.
  using Trouble = std::function<std::string(std::chrono::nanoseconds waited)>;
  Result<std::vector<NodeReady>> WaitForReady(const Trouble& trouble = {});
  // Node 0 alone.
  Status Start(const Rendezvous& start);
  // Nobody starts, or goes on, for this reason.
  Status CallOff(const std::string& why);
  // Errors: as WaitForReady; process with the reason if node 0 called it off.
  Result<Rendezvous> WaitForStart();

  // A task of this node has failed, details follow: the first of a gang is its cause, however long
  // it takes to end what it started.
  void TellFailing(int rank, const std::string& host);
  // Of the tasks of this node. Only the first of a gang counts.
  void Tell(const FirstFailure& failure);
  // Whether its tasks must end: a task failed somewhere, a node is lost, or it is cancelled. Also
  // from other threads.
  bool MustStop() const { return stop_.load() || (cancel_ && cancel_()); }
  // The command of node 0 ended, for nodes without tasks of their own.
  Status TellDone();
  bool IsDone() const { return done_.load(); }

  Status TellEnd(const PartEnd& end);
  // Node 0: those of the others, by number; none for a lost node.
  Result<std::vector<std::optional<PartEnd>>> WaitForEnds();
  std::optional<FirstFailure> First() const;
  // Nodes that fell silent, as far as this node watches them.
  std::vector<int> Lost() const;

 private:
  std::filesystem::path File(std::string_view name) const { return folder_ / name; }
  std::filesystem::path Of(std::string_view what, int node, std::string_view end = "") const;
  // A disk that is full for a moment must not take away what a node has to say.
  Status Write(const std::filesystem::path& file, const Json& json) const;
  void Beat();
  void Watch();
  void WatchBeats();
  std::string Missing(std::string_view what, std::string_view end) const;  // "1, 5"
  std::string SilentNodes() const;
  std::string WhyCalledOff() const;

  const std::filesystem::path folder_;
  const int node_;
  const int nodes_;
  const std::function<bool()> cancel_;
  const GangTimes times_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  bool called_off_ = false;  // of the watching thread
  std::uint64_t beats_ = 0;  // likewise, after Join
  struct Pulse {
    std::string last;
    std::chrono::steady_clock::time_point since;
  };
  mutable std::mutex mutex_;
  std::map<int, Pulse> pulses_;  // of the watched nodes
  std::set<int> lost_;
  std::set<int> ended_;
  std::jthread watch_;  // last member: it uses the others
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_SESSION_H_
