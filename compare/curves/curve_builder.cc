// Points to curves, with the rules of every format.
#include "compare/curves/curve_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace rharness {

constexpr std::size_t kMostNamedBytes = 200;  // of what is no curve, in an error

std::string NotCompared(std::string_view file, const NoNumbers& what) {
  constexpr std::size_t kMostNames = 10;
  std::vector<std::string> names;
  for (const auto& [name, kind] : what) {
    if (names.size() == kMostNames) break;
    names.push_back(fmt::format("{} ({})", QuoteForError(name), kind));
  }
  const std::size_t more = what.size() - names.size();
  return fmt::format("{}: what is no number is not compared: {}{}", file, fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

Result<std::size_t> CurveBuilder::IndexOf(std::string_view name) {
  if (const auto found = index_.find(name); found != index_.end()) return found->second;
  if (name.empty()) return InvalidInput("a curve without a name");
  if (name.size() > kMaxCurveNameBytes) {
    return InvalidInput(fmt::format("the name of a curve has {} bytes; at most {} are read",
                                    name.size(), kMaxCurveNameBytes));
  }
  if (curves_.size() >= kMaxCurves) {
    return InvalidInput(fmt::format("more than {} curves", kMaxCurves));
  }
  index_.emplace(name, curves_.size());
  curves_.push_back(CurveSeries{std::string(name), {}, {}, 0.0});
  places_.emplace_back();
  return curves_.size() - 1;
}

std::optional<std::string> CurveBuilder::Add(std::size_t curve, std::int64_t step,
                                             PrintedNumber number) {
  CurveSeries& series = curves_[curve];
  if (restarts_ != nullptr && !series.steps.empty() && step == series.steps.back()) {
    if (++points_ > kMaxCurvePoints) return fmt::format("more than {} points", kMaxCurvePoints);
    return AddAgain(curve, number.value);
  }
  if (const auto repeats = repeats_.find(curve); repeats != repeats_.end()) {
    repeats->second.at_step = 0;
    for (CurveSeries& level : repeats->second.levels) {
      while (!level.steps.empty() && level.steps.back() >= step) {
        level.steps.pop_back();
        level.values.pop_back();
      }
    }
  }
  if (!series.steps.empty() && step <= series.steps.back() && restarts_ != nullptr) {
    const auto first = std::ranges::lower_bound(series.steps, step);
    const auto again = series.steps.end() - first;
    const auto [dropped, is_new] = dropped_.try_emplace(curve, Dropped{0, step});
    dropped->second.points += static_cast<std::size_t>(again);
    dropped->second.first_step = std::min(dropped->second.first_step, step);
    series.steps.erase(first, series.steps.end());
    series.values.erase(series.values.end() - again, series.values.end());
  } else if (!series.steps.empty() && step <= series.steps.back()) {
    return fmt::format("step {} of {} {}; steps must increase", step, QuoteForError(series.name),
                       step == series.steps.back()
                           ? std::string("is there twice")
                           : fmt::format("comes after step {}", series.steps.back()));
  }
  if (++points_ > kMaxCurvePoints) return fmt::format("more than {} points", kMaxCurvePoints);
  series.steps.push_back(step);
  series.values.push_back(number.value);
  std::optional<int>& place = places_[curve];
  if (std::isfinite(number.value) && (!place || number.place < *place)) place = number.place;
  return std::nullopt;
}

std::string TooManyAtOneStep(std::string_view name, std::int64_t step) {
  return fmt::format("{} has more than {} values at step {}; expected a step that increases",
                     QuoteForError(name), kMaxValuesAtOneStep, step);
}

std::optional<std::string> CurveBuilder::AddAgain(std::size_t curve, double value) {
  const CurveSeries& series = curves_[curve];
  const double last = series.values.back();
  if (value == last || (std::isnan(value) && std::isnan(last))) return std::nullopt;
  Repeats& repeats = repeats_[curve];
  if (repeats.at_step + 2 > kMaxValuesAtOneStep) {
    return TooManyAtOneStep(series.name, series.steps.back());
  }
  if (repeats.levels.size() <= repeats.at_step) repeats.levels.emplace_back();
  CurveSeries& level = repeats.levels[repeats.at_step++];
  level.steps.push_back(series.steps.back());
  level.values.push_back(value);
  return std::nullopt;
}

void CurveBuilder::FinishRepeats(std::string_view file) {
  constexpr std::size_t kMostSentences = 20;
  for (auto& [curve, repeats] : repeats_) {
    std::size_t number = 1;
    for (CurveSeries& level : repeats.levels) {
      ++number;
      if (level.steps.empty()) continue;
      const std::string name = curves_[curve].name;
      if (level.steps.size() == 1 && repeats.levels.size() == 1) {
        CurveSeries& series = curves_[curve];
        const auto at = std::ranges::lower_bound(series.steps, level.steps[0]);
        series.values[static_cast<std::size_t>(at - series.steps.begin())] = level.values[0];
        const auto [dropped, is_new] = dropped_.try_emplace(curve, Dropped{0, level.steps[0]});
        ++dropped->second.points;
        continue;
      }
      level.name = fmt::format("{} #{}", name, number);
      while (Has(level.name)) level.name += "'";
      if (restarts_->size() < kMostSentences) {
        restarts_->push_back(
            fmt::format("{}: {} has several values at one step: further ones are "
                        "those of {}",
                        file, QuoteForError(name), QuoteForError(level.name)));
      }
      index_.emplace(level.name, curves_.size());
      curves_.push_back(std::move(level));
      const std::optional<int> place = places_[curve];
      places_.push_back(place);
    }
  }
}

void CurveBuilder::PassOver(std::string_view name, std::string_view what) {
  if (passed_over_.size() < kMaxCurves) passed_over_.try_emplace(std::string(name), what);
}

Result<std::vector<CurveSeries>> CurveBuilder::Finish(std::string_view file) && {
  if (!passed_over_.empty() && restarts_ != nullptr) {
    restarts_->push_back(NotCompared(file, passed_over_));
  }
  const auto is_none = [&](const CurveSeries& curve) { return IsPassedOver(curve.name); };
  if (std::ranges::all_of(curves_, is_none)) {
    std::string names;
    for (const auto& [name, what] : passed_over_) {
      if (names.size() > kMostNamedBytes) break;
      names +=
          fmt::format("{}{} ({})", names.empty() ? ", found " : ", ", QuoteForError(name), what);
    }
    return InvalidInput("no curve; expected numbers by step" + names, std::string(file));
  }
  FinishRepeats(file);
  constexpr std::size_t kMostSentences = 20;
  for (const auto& [curve, dropped] : dropped_) {
    if (restarts_->size() >= kMostSentences) break;
    restarts_->push_back(
        fmt::format("{}: {} goes back to step {}; of {} earlier values from there on none is read",
                    file, QuoteForError(curves_[curve].name), dropped.first_step, dropped.points));
  }
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    if (places_[i] && *places_[i] != kFullPrecision) {
      // strtod and not pow, because a power of ten must be the double nearest to it.
      curves_[i].quantum = std::strtod(fmt::format("1e{}", *places_[i]).c_str(), nullptr);
    }
  }
  std::erase_if(curves_, is_none);
  return std::move(curves_);
}

}  // namespace rharness
