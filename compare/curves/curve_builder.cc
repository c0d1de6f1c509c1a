// Points to curves, with the rules of every format.
#include "compare/curves/curve_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace rharness {

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

Result<std::vector<CurveSeries>> CurveBuilder::Finish(std::string_view file) && {
  if (curves_.empty()) return InvalidInput("no curve; expected numbers by step", std::string(file));
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
  return std::move(curves_);
}

}  // namespace rharness
