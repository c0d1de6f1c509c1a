// Retirements as lines and as JSON, "rharness.retirements/v1".
#include <fmt/format.h>

#include "harness/base/result.h"
#include "reports/retirement_members.h"
#include "reports/retirements_report.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kDay = 10;
constexpr std::size_t kMostName = 200;

std::string Day(WallTime time) { return FormatTime(time).substr(0, kDay); }
std::string Day(const std::optional<WallTime>& time) { return time ? Day(*time) : "?"; }
std::string Name(const std::string& name) { return SafeText(name, kMostName); }

std::string Details(const RetirementTold& told) {
  switch (told.state) {
    case RetirementState::kAsked:
      return fmt::format(" (asked for by {} on {}; somebody else has until {} to approve)",
                         Name(told.asked_by), Day(told.asked), Day(told.expires));
    case RetirementState::kExpired:
      return fmt::format(" (asked for by {} on {}; nobody approved by {})", Name(told.asked_by),
                         Day(told.asked), Day(told.expires));
    case RetirementState::kWithdrawn:
      return fmt::format(
          " (asked for by {} on {}; {} by {} on {}{}{})", Name(told.asked_by), Day(told.asked),
          told.ended_by != told.asked_by && told.approved_by.empty() ? "rejected" : "taken back",
          Name(told.ended_by), Day(told.ended), told.ended_reason.empty() ? "" : ": ",
          SafeText(told.ended_reason));
    case RetirementState::kRetired:
      return fmt::format(
          " ({}asked for by {} on {}, approved by {} on {}{})",
          told.unsigned_since ? fmt::format("unsigned since {}, ", Day(told.unsigned_since)) : "",
          Name(told.asked_by), Day(told.asked), Name(told.approved_by), Day(told.approved),
          told.verified ? "; verified" : "");
    case RetirementState::kDoubtful:
      return ": " + SafeText(told.doubt);
    case RetirementState::kNone:
    case RetirementState::kUnsigned:
      return "";
  }
  Abort("no such state of a retirement");
}

}  // namespace

std::string_view RetirementStateName(RetirementState state) {
  switch (state) {
    case RetirementState::kNone:
      return "none";
    case RetirementState::kAsked:
      return "asked";
    case RetirementState::kExpired:
      return "expired";
    case RetirementState::kWithdrawn:
      return "withdrawn";
    case RetirementState::kRetired:
      return "retired";
    case RetirementState::kUnsigned:
      return "unsigned";
    case RetirementState::kDoubtful:
      return "doubtful";
  }
  Abort("no such state of a retirement");
}

std::string LineOf(const RetirementTold& told) {
  const std::string state = told.state == RetirementState::kUnsigned
                                ? "retired, unsigned"
                                : std::string(RetirementStateName(told.state));
  const std::string reason = told.reason.empty() ? "" : ": " + SafeText(told.reason);
  return fmt::format("{}: {}{}{}", Name(told.run_id), state, reason, Details(told));
}

std::string WriteTerminal(const std::vector<RetirementTold>& retirements) {
  std::string text;
  for (const RetirementTold& one : retirements) text += LineOf(one) + "\n";
  return text;
}

Json ToJson(const std::vector<RetirementTold>& retirements) {
  return MemberWriter::Written(RetirementsDocument{retirements});
}

std::string RetiredInWords(const std::string& reason, const std::optional<RunRetirement>& by) {
  if (!by) return fmt::format("{} (unsigned)", SafeText(reason));
  if (!by->doubt.empty()) return "doubtful: " + by->doubt;
  return fmt::format("{} (asked for by {} on {}, approved by {} on {})", SafeText(reason),
                     Name(by->asked_by), Day(by->asked), Name(by->approved_by), Day(by->approved));
}

}  // namespace rharness
