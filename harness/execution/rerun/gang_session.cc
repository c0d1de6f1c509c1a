// Files that nodes write for each other, and the thread that watches them.
#include "harness/execution/rerun/gang_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kFirst = "first.json";
constexpr std::string_view kStart = "start.json";
constexpr std::string_view kStop = "stop.json";
constexpr std::string_view kDone = "done";
constexpr std::uint64_t kMostNote = std::uint64_t{64} << 20;

Result<Json> ReadNote(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostNote));
  return ParseJson(text, path.string());
}

}  // namespace

Result<std::optional<int>> TakeNode(const fs::path& folder, std::optional<int> node, int nodes) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  for (int number = node.value_or(0); number <= node.value_or(nodes - 1); ++number) {
    const fs::path claim = folder / fmt::format("taken-{}", number);
    const Descriptor file(
        ::open(claim.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.valid()) return std::optional(number);
    if (errno != EEXIST) return IoErrorFromErrno("cannot create", errno, claim.string());
  }
  return std::optional<int>();
}

GangSession::GangSession(fs::path folder, int node, int nodes, std::function<bool()> cancel,
                         GangTimes times)
    : folder_(std::move(folder)),
      node_(node),
      nodes_(nodes),
      cancel_(std::move(cancel)),
      times_(times) {}

fs::path GangSession::Of(std::string_view what, int node, std::string_view end) const {
  return folder_ / fmt::format("{}-{}{}", what, node, end);
}

Status GangSession::Join() {
  RETURN_IF_ERROR(MakeDirectories(folder_ / fmt::format("node-{}", node_)));
  Beat();
  watch_ = std::jthread([this](const std::stop_token& stop) {
    auto next = SteadyClock::now() + times_.beat;
    while (!stop.stop_requested()) {
      Watch();
      if (SteadyClock::now() >= next) {
        Beat();
        next = SteadyClock::now() + times_.beat;
      }
      std::this_thread::sleep_for(times_.poll);
    }
  });
  return {};
}

// A beat that cannot be written is missed by others, which is what they need to know.
void GangSession::Beat() { (void)WriteFileAtomic(Of("beat", node_), fmt::format("{}", ++beats_)); }

void GangSession::Watch() {
  // A stop that reached this node alone ends the others, too.
  if (!called_off_ && cancel_ && cancel_()) {
    called_off_ = CallOff(fmt::format("node {} was stopped", node_)).ok();
  }
  if (IsThere(File(kFirst)) || IsThere(File(kStop))) stop_ = true;
  if (IsThere(File(kDone))) done_ = true;
  WatchBeats();
}

// Node 0 watches all nodes, the others watch node 0.
void GangSession::WatchBeats() {
  const auto now = SteadyClock::now();
  const int first = node_ == 0 ? 1 : 0;
  const int last = node_ == 0 ? nodes_ - 1 : 0;
  for (int node = first; node <= last; ++node) {
    {
      const std::scoped_lock lock(mutex_);
      if (ended_.contains(node) || lost_.contains(node)) continue;
    }
    const auto text = ReadFile(Of("beat", node), 64);
    if (!text.ok()) continue;  // not up yet
    const std::scoped_lock lock(mutex_);
    Pulse& pulse = pulses_[node];
    if (pulse.last != *text) pulse = {*text, now};
    if (now - pulse.since < times_.lost) continue;
    if (node != 0 && IsThere(Of("end", node, ".json"))) {
      ended_.insert(node);
      continue;
    }
    lost_.insert(node);
    stop_ = true;
  }
}

std::string GangSession::Missing(std::string_view what, std::string_view end) const {
  std::vector<int> missing;
  for (int node = 0; node < nodes_; ++node) {
    if (!IsThere(Of(what, node, end))) missing.push_back(node);
  }
  if (missing.size() > 8) missing.resize(8);
  return fmt::format("{}", fmt::join(missing, ", "));
}

std::string GangSession::SilentNodes() const {
  const std::scoped_lock lock(mutex_);
  return fmt::format("{}", fmt::join(lost_, ", "));
}

std::string GangSession::WhyCalledOff() const {
  const auto json = ReadNote(File(kStop));
  const Json* why = json.ok() ? json->Find("why") : nullptr;
  const bool is_text = why != nullptr && why->kind() == Json::Kind::kString;
  return "was called off: " + (is_text ? TerminalSafe(why->AsString()) : "no reason is given");
}

Status GangSession::Write(const fs::path& file, const Json& json) const {
  const auto until = SteadyClock::now() + times_.lost / 2;
  for (;;) {
    Status told = WriteJsonFile(file, json);
    if (told.ok() || SteadyClock::now() >= until) return told;
    std::this_thread::sleep_for(times_.poll);
  }
}

Status GangSession::TellReady(const NodeReady& ready) {
  return Write(Of("ready", node_, ".json"), ToJson(ready));
}

Result<std::vector<NodeReady>> GangSession::WaitForReady(const Trouble& trouble) {
  const auto began = SteadyClock::now();
  const int wanted = node_ == 0 ? nodes_ : 1;
  std::vector<NodeReady> ready;
  while (static_cast<int>(ready.size()) < wanted) {
    const auto node = static_cast<int>(ready.size());
    const fs::path file = Of("ready", node, ".json");
    if (IsThere(file)) {
      ASSIGN_OR_RETURN(const Json json, ReadNote(file));
      ASSIGN_OR_RETURN(NodeReady one, ParseNodeReady(json, file.string()));
      ready.push_back(std::move(one));
      continue;
    }
    if (IsThere(Of("end", node, ".json")) && !IsThere(file)) {
      return ProcessError(fmt::format("node {} ended before the start", node));
    }
    if (cancel_ && cancel_()) return ProcessError("was stopped while its nodes gathered");
    if (const std::string silent = SilentNodes(); !silent.empty()) {
      return TimeoutError(fmt::format("node {} fell silent before the start", silent));
    }
    if (stop_) return ProcessError(WhyCalledOff());
    Refresh(folder_);
    const auto waited = SteadyClock::now() - began;
    if (!IsThere(Of("taken", node))) {
      const std::string why = trouble ? trouble(waited) : "";
      const std::string missing = fmt::format("node {} did not come up", Missing("taken", ""));
      if (!why.empty()) return TimeoutError(missing + ": " + why);
      if (waited >= times_.gather) {
        return TimeoutError(
            fmt::format("{} within {}", missing,
                        FormatDuration(std::chrono::duration_cast<Seconds>(times_.gather))));
      }
    }
    std::this_thread::sleep_for(times_.poll);
  }
  return ready;
}

Status GangSession::Start(const Rendezvous& start) { return Write(File(kStart), ToJson(start)); }

Status GangSession::CallOff(const std::string& why) {
  return WriteJsonFile(File(kStop), Json::MakeObject({{"why", why}}));
}

Result<Rendezvous> GangSession::WaitForStart() {
  for (;;) {
    if (IsThere(File(kStart))) {
      ASSIGN_OR_RETURN(const Json json, ReadNote(File(kStart)));
      return ParseRendezvous(json, File(kStart).string());
    }
    if (IsThere(File(kStop))) return ProcessError(WhyCalledOff());
    if (cancel_ && cancel_()) return ProcessError("was stopped before the start");
    if (!SilentNodes().empty()) return TimeoutError("node 0 fell silent before the start");
    Refresh(folder_);
    std::this_thread::sleep_for(times_.poll);
  }
}

void GangSession::TellFailing(int rank, const std::string& host) {
  FirstFailure failing{.node = node_, .rank = rank, .host = host, .outcome = {}, .last_line = {}};
  failing.outcome.detail = "it failed, and its node told no more";
  Tell(failing);
}

void GangSession::Tell(const FirstFailure& failure) {
  const fs::path mine = Of("failed", node_, fmt::format("-{}.json", failure.rank));
  if (!WriteJsonFile(mine, ToJson(failure)).ok()) return;
  (void)::link(mine.c_str(), File(kFirst).c_str());  // who comes second has no effect
  stop_ = true;
}

Status GangSession::TellDone() { return WriteFileAtomic(File(kDone), ""); }

Status GangSession::TellEnd(const PartEnd& end) {
  return Write(Of("end", node_, ".json"), ToJson(end));
}

Result<std::vector<std::optional<PartEnd>>> GangSession::WaitForEnds() {
  std::vector<std::optional<PartEnd>> ends(static_cast<std::size_t>(nodes_));
  for (int node = 1; node < nodes_; ++node) {
    const fs::path file = Of("end", node, ".json");
    const auto is_lost = [&] {
      const std::scoped_lock lock(mutex_);
      return lost_.contains(node);
    };
    while (!IsThere(file) && !is_lost()) {
      Refresh(folder_);
      std::this_thread::sleep_for(times_.poll);
    }
    if (!IsThere(file)) continue;
    ASSIGN_OR_RETURN(const Json json, ReadNote(file));
    ASSIGN_OR_RETURN(ends[static_cast<std::size_t>(node)], ParsePartEnd(json, file.string()));
    const std::scoped_lock lock(mutex_);
    ended_.insert(node);
  }
  return ends;
}

std::optional<FirstFailure> GangSession::First() const {
  const auto json = ReadNote(File(kFirst));
  if (!json.ok()) return std::nullopt;
  auto failure = ParseFirstFailure(*json, kFirst);
  if (!failure.ok()) return std::nullopt;
  // Written again since, with what became of it.
  const auto details =
      ReadNote(Of("failed", failure->node, fmt::format("-{}.json", failure->rank)));
  if (details.ok()) {
    auto whole = ParseFirstFailure(*details, kFirst);
    if (whole.ok() && whole->rank == failure->rank) failure = std::move(whole);
  }
  return std::move(*failure);
}

std::vector<int> GangSession::Lost() const {
  const std::scoped_lock lock(mutex_);
  return {lost_.begin(), lost_.end()};
}

}  // namespace rharness
