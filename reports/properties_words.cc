// Words of properties.
#include "reports/properties_words.h"

#include <fmt/format.h>

#include "reports/text.h"

namespace rharness {

Verdict ToneOf(const PropertyResult& result) {
  switch (result.state) {
    case PropertyState::kHeld:
      return Verdict::kIdentical;
    case PropertyState::kHeldWithin:
      return Verdict::kEquivalent;
    case PropertyState::kLost:
      return Verdict::kDrifted;
    case PropertyState::kNotJudged:
      break;
  }
  return result.could_not ? Verdict::kInfra : Verdict::kInconclusive;
}

std::string StateWord(PropertyState state) {
  switch (state) {
    case PropertyState::kHeld:
      return "held";
    case PropertyState::kHeldWithin:
      return "within";
    case PropertyState::kLost:
      return "LOST";
    case PropertyState::kNotJudged:
      break;
  }
  return "not judged";
}

std::string BeforeWords(const PropertyResult& result) {
  if (result.last_state.empty()) return "";
  const std::string_view state = result.last_state == "held_within" ? "held within its margins"
                                 : result.last_state == "held"      ? "held"
                                                                    : "was lost";
  return fmt::format("it {} on {} (drill {})", state, FormatMinute(result.last_time),
                     SafeText(result.last_drill, 100));
}

}  // namespace rharness
