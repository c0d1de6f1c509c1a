// First come, first served with reservation for the head (EASY backfilling; Lifka 1995).
#include "harness/execution/dispatch/queue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rharness {
namespace {

MonotonicTime Expected(const PlannedRerun& rerun) {
  return std::chrono::duration_cast<MonotonicTime>(Seconds(rerun.expected_seconds));
}

}  // namespace

JobQueue::JobQueue(std::vector<PlannedRerun> reruns, Slots slots, int jobs, RetryPolicy retry)
    : free_(slots),
      memory_limited_(slots.memory_bytes > 0),
      jobs_(jobs > 0 ? jobs : std::numeric_limits<int>::max()),
      retry_(retry),
      gpu_taken_(static_cast<std::size_t>(std::max(0, slots.gpus)), false) {
  for (PlannedRerun& rerun : reruns) Add(std::move(rerun));
}

std::size_t JobQueue::Add(PlannedRerun rerun) {
  entries_.push_back(Entry{.rerun = std::move(rerun)});
  return entries_.size() - 1;
}

bool JobQueue::Fits(const Resources& needs) const {
  return running_ < jobs_ && needs.cpus <= free_.cpus && needs.gpus <= free_.gpus &&
         (!memory_limited_ || needs.memory_bytes <= free_.memory_bytes);
}

MonotonicTime JobQueue::ReservedFrom(const Resources& needs, MonotonicTime now) const {
  std::vector<const Entry*> running;
  for (const Entry& entry : entries_) {
    if (entry.state == State::kRunning) running.push_back(&entry);
  }
  const auto end = [](const Entry* entry) { return entry->started + Expected(entry->rerun); };
  std::sort(running.begin(), running.end(),
            [&](const Entry* a, const Entry* b) { return end(a) < end(b); });
  Slots free = free_;
  for (const Entry* entry : running) {
    free.cpus += entry->rerun.Whole().cpus;
    free.gpus += entry->rerun.Whole().gpus;
    free.memory_bytes += entry->rerun.Whole().memory_bytes;
    if (needs.cpus <= free.cpus && needs.gpus <= free.gpus &&
        (!memory_limited_ || needs.memory_bytes <= free.memory_bytes)) {
      return std::max(now, end(entry));
    }
  }
  return now;
}

std::optional<Start> JobQueue::Next(MonotonicTime now) {
  std::optional<MonotonicTime> reserved_from;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.state != State::kWaiting || entry.not_before > now) continue;
    const bool overtakes_in_time = !reserved_from || now + Expected(entry.rerun) <= *reserved_from;
    if (overtakes_in_time && Fits(entry.rerun.Whole())) return Take(i, now);
    if (!reserved_from) reserved_from = ReservedFrom(entry.rerun.Whole(), now);
  }
  return std::nullopt;
}

Start JobQueue::Take(std::size_t index, MonotonicTime now) {
  Entry& entry = entries_[index];
  const Resources& needs = entry.rerun.Whole();
  entry.state = State::kRunning;
  entry.started = now;
  ++entry.attempt;
  ++running_;
  free_.cpus -= needs.cpus;
  free_.gpus -= needs.gpus;
  if (memory_limited_) free_.memory_bytes -= needs.memory_bytes;
  for (std::size_t gpu = 0; gpu < gpu_taken_.size(); ++gpu) {
    if (static_cast<int>(entry.gpus.size()) == needs.gpus) break;
    if (gpu_taken_[gpu]) continue;
    gpu_taken_[gpu] = true;
    entry.gpus.push_back(static_cast<int>(gpu));
  }
  return Start{index, entry.attempt, entry.gpus};
}

void JobQueue::Release(Entry* entry) {
  const Resources& needs = entry->rerun.Whole();
  free_.cpus += needs.cpus;
  free_.gpus += needs.gpus;
  if (memory_limited_) free_.memory_bytes += needs.memory_bytes;
  for (const int gpu : entry->gpus) gpu_taken_[static_cast<std::size_t>(gpu)] = false;
  entry->gpus.clear();
  --running_;
}

void JobQueue::Finish(std::size_t index) {
  Entry& entry = entries_[index];
  Release(&entry);
  entry.state = State::kFinished;
  ++finished_;
}

bool JobQueue::Retry(std::size_t index, MonotonicTime now, bool counts) {
  Entry& entry = entries_[index];
  if (!counts && entry.preempted < retry_.preemptions) ++entry.preempted;
  const int failures = entry.attempt - entry.preempted;
  if (failures >= retry_.attempts) {
    Finish(index);
    return false;
  }
  Release(&entry);
  entry.state = State::kWaiting;
  const double wait = static_cast<double>(retry_.first_wait.count()) *
                      std::pow(retry_.factor, std::max(0, failures - 1));
  entry.not_before = now + MonotonicTime(static_cast<std::int64_t>(wait));
  return true;
}

void JobQueue::Stop() {
  stopped_ = true;
  for (Entry& entry : entries_) {
    if (entry.state != State::kWaiting) continue;
    entry.state = State::kFinished;
    ++finished_;
    ++dropped_;
  }
}

bool JobQueue::Done() const { return finished_ == total(); }

std::optional<MonotonicTime> JobQueue::NextWakeUp() const {
  std::optional<MonotonicTime> next;
  for (const Entry& entry : entries_) {
    if (entry.state != State::kWaiting || entry.not_before == MonotonicTime(0)) continue;
    if (!next || entry.not_before < *next) next = entry.not_before;
  }
  return next;
}

MonotonicTime JobQueue::RanFor(std::size_t index, MonotonicTime now) const {
  return now - entries_[index].started;
}

void JobQueue::Learn(double expected_seconds, MonotonicTime took) {
  const double seconds = Seconds(took).count();
  ++learned_.reruns;
  learned_.all_seconds += seconds;
  if (expected_seconds <= 0) return;
  learned_.expected_seconds += expected_seconds;
  learned_.took_seconds += seconds;
}

MonotonicTime JobQueue::Estimate(const PlannedRerun& rerun) const {
  double seconds = rerun.expected_seconds;
  if (seconds > 0 && learned_.expected_seconds > 0) {
    seconds *= learned_.took_seconds / learned_.expected_seconds;
  } else if (seconds <= 0 && learned_.reruns > 0) {
    seconds = learned_.all_seconds / learned_.reruns;
  }
  return std::chrono::duration_cast<MonotonicTime>(Seconds(seconds));
}

MonotonicTime JobQueue::Remaining(MonotonicTime now) const {
  MonotonicTime work{0};
  MonotonicTime longest{0};
  int at_once = 0;
  for (const Entry& entry : entries_) {
    if (entry.state == State::kFinished) continue;
    MonotonicTime left = Estimate(entry.rerun);
    if (entry.state == State::kRunning) {
      const MonotonicTime ran = now - entry.started;
      left = std::max(left - ran, ran / 10);
      ++at_once;
    }
    work += left;
    longest = std::max(longest, left);
  }
  return std::max(longest, work / std::max(1, at_once));
}

}  // namespace rharness
