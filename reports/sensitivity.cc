// Rates in words, and the certificate as JSON.
#include "reports/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/stats/proportions.h"
#include "harness/base/json_member_reader.h"
#include "reports/sensitivity_members.h"
#include "reports/text.h"

namespace rharness {
namespace {

double FoundShare(const SensitivityRate& rate) {
  return rate.trials == 0 ? 0.0 : static_cast<double>(rate.found) / rate.trials;
}

bool IsHyperparameter(const SensitivityRate& rate) {
  return rate.name.starts_with("hyperparameter:");
}

}  // namespace

void CheckRead(JsonReader& reader, const SensitivityRate& rate) {
  const bool counts = rate.trials >= 0 && rate.found >= 0 && rate.undecided >= 0 &&
                      rate.trials - rate.found >= rate.undecided;
  if (!counts) reader.Fail("more were found and undecided than there were trials", "found");
  const double share = FoundShare(rate);
  const bool bounds =
      rate.low >= 0.0 && rate.low <= share && share <= rate.high && rate.high <= 1.0;
  if (rate.trials > 0 && !bounds) reader.Fail("found / trials is not between low and high", "low");
}

// Recomputes a rate from its trials: its interval must be theirs, and it is enough if that is as
// narrow as requested.
std::string WhyNotOf(const SensitivityRate& rate, const Sensitivity& told) {
  constexpr double kRounding = 1e-9;
  if (rate.trials == 0) return rate.enough ? "found that no trials are enough" : "";
  const stats::Interval held =
      stats::ClopperPearson(rate.found, rate.trials, 1.0 - told.confidence);
  if (std::abs(held.low - rate.low) > kRounding || std::abs(held.high - rate.high) > kRounding) {
    return fmt::format("{} of {} trials give {:.4g} to {:.4g}; found {:.4g} to {:.4g}", rate.found,
                       rate.trials, held.low, held.high, rate.low, rate.high);
  }
  const double wide = held.high - held.low;
  if (rate.enough == (wide <= told.width)) return "";
  if (!rate.enough && wide <= told.width + kRounding) return "";
  return fmt::format("{} trials give an interval {:.4g} wide, and {:.4g} was asked for; found {}",
                     rate.trials, wide, told.width,
                     rate.enough ? "that it is narrow enough" : "that it is too wide");
}

Status CheckRates(const Sensitivity& told, std::string_view file) {
  const auto refuse = [&](const std::string& why, const std::string& where) {
    return InvalidInput(why, fmt::format("{}: $.{}", file, where));
  };
  if (!(told.confidence > 0.0 && told.confidence < 1.0)) {
    return refuse("expected a share above 0 and below 1", "confidence");
  }
  for (std::size_t i = 0; i < told.families.size(); ++i) {
    const SensitivityFamily& family = told.families[i];
    for (const auto& [key, rates] :
         {std::pair("faults", &family.faults), std::pair("unchanged", &family.unchanged)}) {
      for (std::size_t k = 0; k < rates->size(); ++k) {
        const std::string why = WhyNotOf((*rates)[k], told);
        if (!why.empty()) return refuse(why, fmt::format("families[{}].{}[{}]", i, key, k));
      }
    }
  }
  return {};
}

Json ToJson(const Sensitivity& sensitivity) { return MemberWriter::Written(sensitivity); }

Result<Sensitivity> ParseSensitivity(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  Sensitivity sensitivity;
  MemberReader::ReadInto(reader, sensitivity);
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(CheckRates(sensitivity, file));
  return sensitivity;
}

// An interval is rounded outwards: it never looks narrower than it is.
std::string RateWords(const SensitivityRate& rate) {
  if (rate.trials == 0) return "no trials";
  return fmt::format("{:.0f} % ({:.0f}-{:.0f}) of {}", 100 * FoundShare(rate),
                     std::floor(100 * rate.low), std::ceil(100 * rate.high),
                     Counted(static_cast<std::uint64_t>(rate.trials), "trial"));
}

std::string Sentence(const SensitivityRate& rate) {
  return fmt::format("{} would have been found in {}", rate.words, RateWords(rate));
}

std::string ThinSentence(const SensitivityRate& rate) {
  if (!rate.cannot.empty()) return fmt::format("{}: {}", rate.words, rate.cannot);
  const std::string more =
      rate.more > 0 ? fmt::format("; {} of this configuration would do",
                                  Counted(static_cast<std::uint64_t>(rate.more), "more run"))
                    : "";
  return fmt::format("{}: {} is too few to say how often it would have been found{}", rate.words,
                     Counted(static_cast<std::uint64_t>(rate.trials), "trial"), more);
}

std::string WayWords(const SensitivityFamily& family) {
  const std::string planted =
      family.together == 1 ? "each drilled"
                           : fmt::format("{} with a fault drilled together", family.together);
  if (family.beside == 0) return family.together == 1 ? planted + " by itself" : planted;
  return fmt::format("{} beside {} without", planted,
                     Counted(static_cast<std::uint64_t>(family.beside), "run"));
}

std::string TellingSentence(const SensitivityFamily& family) {
  const SensitivityRate* found = nullptr;
  const SensitivityRate* missed = nullptr;
  const SensitivityRate* least = nullptr;
  for (const SensitivityRate& rate : family.faults) {  // of a hyperparameter the smallest first
    if (!rate.enough) continue;
    if (least == nullptr || FoundShare(rate) < FoundShare(*least)) least = &rate;
    if (!IsHyperparameter(rate) || found != nullptr) continue;
    (FoundShare(rate) > 0.5 ? found : missed) = &rate;
  }
  if (found != nullptr && missed != nullptr) {
    return fmt::format("{}, {} in {}", Sentence(*found), missed->words, RateWords(*missed));
  }
  if (found != nullptr || missed != nullptr) return Sentence(found != nullptr ? *found : *missed);
  return least == nullptr ? "" : Sentence(*least);
}

}  // namespace rharness
