// The three parts of a risk, and their words.
#include "harness/drill/risk.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "harness/records/manifest/hardware_class.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

constexpr const char* kGpus = "GPUs";
constexpr const char* kDriver = "GPU driver";
constexpr const char* kCpu = "CPU";
constexpr const char* kSystem = "system";
constexpr const char* kPackages = "packages";
constexpr double kNotKnownDoubt = 0.5;
constexpr double kUndecidedFactor = 10.0;

// Several values of one kind: the differences among those that both sides know.
class Kind {
 public:
  explicit Kind(const char* name) : name_(name) {}
  void Compare(const std::string& what, const std::string& then, const std::string& now) {
    if (then.empty() || now.empty()) return;
    known_ = true;
    if (then != now) differences_.push_back(fmt::format("{} {} -> {}", what, then, now));
  }
  void AddTo(EnvironmentChange* change) const {
    if (!known_) change->not_known.emplace_back(name_);
    if (!differences_.empty()) {
      change->changed.push_back(fmt::format("{}", fmt::join(differences_, ", ")));
    }
  }

 private:
  const char* name_;
  bool known_ = false;
  std::vector<std::string> differences_;
};

void CompareGpus(const Hardware& then, const Hardware& now, EnvironmentChange* change) {
  if (then.gpus.empty()) return;
  Kind gpus(kGpus);
  gpus.Compare("GPUs", DescribeGpus(then), DescribeGpus(now));
  gpus.AddTo(change);
  Kind driver(kDriver);
  driver.Compare("GPU driver", then.gpu_driver, now.gpu_driver);
  driver.AddTo(change);
}

// Instruction sets that came or went: the lists are long.
std::string IsaChange(const std::vector<std::string>& then, const std::vector<std::string>& now) {
  std::vector<std::string> moved;
  const std::set<std::string> old_ones(then.begin(), then.end());
  const std::set<std::string> new_ones(now.begin(), now.end());
  for (const std::string& one : old_ones) {
    if (!new_ones.contains(one)) moved.push_back("without " + one);
  }
  for (const std::string& one : new_ones) {
    if (!old_ones.contains(one)) moved.push_back("with " + one);
  }
  constexpr std::size_t kMostNamed = 3;
  const std::size_t more = moved.size() > kMostNamed ? moved.size() - kMostNamed : 0;
  moved.resize(moved.size() - more);
  return fmt::format("{}{}", fmt::join(moved, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void CompareCpu(const Cpu& then, const Cpu& now, EnvironmentChange* change) {
  Kind cpu(kCpu);
  cpu.Compare("CPU", then.model.empty() ? then.architecture : then.model,
              now.model.empty() ? now.architecture : now.model);
  cpu.Compare("microcode", then.microcode, now.microcode);
  if (!then.isa.empty() && !now.isa.empty() && then.isa != now.isa) {
    cpu.Compare("instruction sets", "as recorded", IsaChange(then.isa, now.isa));
  }
  cpu.AddTo(change);
}

void CompareSystem(const std::map<std::string, std::string>& then,
                   const std::map<std::string, std::string>& now, EnvironmentChange* change) {
  const auto value = [](const auto& of, const char* name) {
    const auto found = of.find(name);
    return found == of.end() ? std::string() : found->second;
  };
  Kind system(kSystem);
  for (const char* name : {"os", "kernel", "glibc"}) {
    system.Compare(name, value(then, name), value(now, name));
  }
  system.AddTo(change);
}

// The packages that processes of the run used; all packages if that is not known.
void ComparePackages(const Environment& then, const Environment& now, EnvironmentChange* change) {
  const auto both = std::ranges::find_if(kSystemManagers, [&](const char* manager) {
    return then.packages.contains(manager) && now.packages.contains(manager);
  });
  if (both == std::end(kSystemManagers)) {
    change->not_known.emplace_back(kPackages);
    return;
  }
  const PackageList& before = then.packages.at(*both);
  const PackageList& today = now.packages.at(*both);
  const bool use_known = std::ranges::any_of(
      before, [](const auto& one) { return one.second.use == PackageUse::kUsed; });
  std::string first;
  std::size_t count = 0;
  for (const auto& [name, package] : before) {
    if (use_known && package.use != PackageUse::kUsed) continue;
    const auto found = today.find(name);
    const std::string version = found == today.end() ? "gone" : found->second.version;
    if (version == package.version) continue;
    if (count++ == 0) first = fmt::format("{} {} -> {}", name, package.version, version);
  }
  if (count == 0) return;
  change->changed.push_back(fmt::format("{} package{}{}, first {}", count, count == 1 ? "" : "s",
                                        use_known ? " in use" : "", first));
}

std::string Days(double days) { return fmt::format("{:.3g} day{}", days, days == 1.0 ? "" : "s"); }

double DaysBetween(WallTime from, WallTime to) {
  return std::max(0.0, std::chrono::duration<double, std::ratio<86400>>(to - from).count());
}

bool IsUndecidedSince(const HistoryEntry& entry) {
  return entry.judged && (!entry.verified || *entry.judged > *entry.verified);
}

}  // namespace

double EnvironmentChange::Doubt() const {
  return 1.0 + static_cast<double>(changed.size()) +
         kNotKnownDoubt * static_cast<double>(not_known.size());
}

EnvironmentChange NothingKnown() {
  return {.changed = {}, .not_known = {kGpus, kDriver, kCpu, kSystem, kPackages}};
}

EnvironmentChange CompareEnvironments(const Environment& then, const Environment& now,
                                      bool in_image) {
  EnvironmentChange change;
  CompareGpus(then.hardware, now.hardware, &change);
  CompareCpu(then.hardware.cpu, now.hardware.cpu, &change);
  CompareSystem(then.software, now.software, &change);
  if (!in_image) ComparePackages(then, now, &change);
  return change;
}

Result<Stakes> Stakes::Parse(const std::vector<Stake>& stakes) {
  Stakes parsed;
  for (const Stake& stake : stakes) {
    Result<Selection> selection = Selection::Parse(stake.runs);
    if (!selection.ok()) {
      return InvalidInput(selection.error().where + ": " + selection.error().message, stake.where);
    }
    if (!selection->Artifacts().empty()) {
      return InvalidInput("a stake uses facts of every run, not files: 'artifact' is for --select",
                          stake.where);
    }
    parsed.all_.push_back({stake, std::move(*selection)});
  }
  return parsed;
}

const Stake* Stakes::Of(const HistoryEntry& entry, WallTime now) const {
  for (const Parsed& one : all_) {
    if (one.selection.Matches(entry, now)) return &one.stake;
  }
  return nullptr;
}

double AgeDays(const HistoryEntry& entry, WallTime now) {
  const double age = DaysBetween(entry.verified.value_or(entry.started), now);
  if (!IsUndecidedSince(entry)) return age;
  return std::min(age, kUndecidedFactor * DaysBetween(*entry.judged, now));
}

RunRisk RiskOf(const HistoryEntry& entry, const Stake* stake, const EnvironmentChange& change,
               WallTime now) {
  constexpr std::size_t kDateLength = 10;
  const auto date = [](WallTime time) { return FormatTime(time).substr(0, kDateLength); };
  RunRisk risk{.run_id = entry.run_id,
               .age_days = AgeDays(entry, now),
               .stake = stake == nullptr ? 1.0 : stake->stake,
               .doubt = change.Doubt(),
               .change = change};
  // A missing part, or one that may be missing, makes a rerun impossible soonest.
  if (entry.rebuild == PartState::kGone) risk.doubt += 1.0;
  if (entry.rebuild == PartState::kUnknown) risk.doubt += kNotKnownDoubt;
  risk.risk_days = risk.age_days * risk.stake * risk.doubt;
  risk.age_words = entry.verified ? "last verified " + date(*entry.verified)
                                  : "never verified, recorded " + date(entry.started);
  if (IsUndecidedSince(entry)) {
    risk.age_words += fmt::format(", undecided ({}) {}",
                                  entry.last_verdict ? VerdictName(*entry.last_verdict) : "",
                                  date(*entry.judged));
  }
  if (entry.rebuild && *entry.rebuild != PartState::kHad) {
    risk.age_words +=
        entry.rebuild == PartState::kGone ? ", part of it is gone" : ", part of it may be gone";
  }
  if (stake != nullptr) risk.stake_words = fmt::format("{} ({})", stake->runs, stake->where);
  return risk;
}

std::string DescribeRisk(const RunRisk& risk) {
  std::string text =
      fmt::format("{}: risk {:.4g} = age {} × stakes {:.4g} × doubt {:.3g}: {}", risk.run_id,
                  risk.risk_days, Days(risk.age_days), risk.stake, risk.doubt, risk.age_words);
  text += "; " + (risk.stake_words.empty() ? "no stakes declared" : "stakes: " + risk.stake_words);
  const EnvironmentChange& change = risk.change;
  if (change.changed.empty() && change.not_known.empty()) text += "; nothing changed since";
  if (!change.changed.empty()) {
    text += fmt::format("; changed since: {}", fmt::join(change.changed, "; "));
  }
  if (!change.not_known.empty()) {
    text += fmt::format("; not known: {}", fmt::join(change.not_known, ", "));
  }
  return text;
}

Json ToJson(const RunRisk& risk) {
  const auto texts = [](const std::vector<std::string>& list) {
    Json array = Json::MakeArray();
    for (const std::string& text : list) array.Append(text);
    return array;
  };
  return Json::MakeObject({{"run_id", risk.run_id},
                           {"risk_days", risk.risk_days},
                           {"age_days", risk.age_days},
                           {"stake", risk.stake},
                           {"doubt", risk.doubt},
                           {"age", risk.age_words},
                           {"stake_of", risk.stake_words},
                           {"changed", texts(risk.change.changed)},
                           {"not_known", texts(risk.change.not_known)}});
}

void ReadRunRisk(JsonReader& reader, RunRisk* out) {
  reader.Read("run_id", &out->run_id);
  reader.Read("risk_days", &out->risk_days);
  reader.Read("age_days", &out->age_days);
  reader.Read("stake", &out->stake);
  reader.Read("doubt", &out->doubt);
  reader.Read("age", &out->age_words);
  reader.Read("stake_of", &out->stake_words);
  reader.ReadArray("changed", &out->change.changed);
  reader.ReadArray("not_known", &out->change.not_known);
}

}  // namespace rharness
