// The effect of accepted upgrades on published loss curves, and the limits that follow.
//
// Role: constants and names; single_pair.h measures by them.
#ifndef RHARNESS_COMPARE_CURVES_UPGRADE_RECORD_H_
#define RHARNESS_COMPARE_CURVES_UPGRADE_RECORD_H_

#include <array>
#include <string_view>
#include <vector>

namespace rharness {

// Limits of the four questions. A score is a share of its limit: all scores of the accepted
// upgrades below are under 1. Each limit has a part for rounding, relative to the loss, and a part
// of the difference's own scatter, because the random stream of an upgrade is a scatter. Chosen,
// not fitted; kPublishedUpgrades shows how close real upgrades come.
struct PairLimits {
  double spike_floor = 5e-4;    // of |a|
  double spike_scatter = 10.0;  // times the scatter; more for more than 100 values
  double shift_floor = 1.5e-4;
  double shift_scatter = 4.0;
  // Times the change of the loss by one logged value: a steep loss turns a little time into a
  // difference.
  double slope = 0.01;
  double batches = 0.5;         // of the curve's own noise
  double batches_floor = 1e-4;  // of |a|
  double progress = 0.004;      // share of the steps
  double progress_errors = 8.0;
};

struct UpgradeScore {
  std::string_view name;
  int pairs = 0;         // that changed and were accepted
  double largest = 0.0;  // score among them
};

// NVIDIA Megatron-LM, golden values before and after upgrades that its maintainers accepted: a
// container (commits 2795ebde97, cb12e3dea4, f5b2ec0130) and Transformer Engine (6e091e1b68). Pairs
// whose loss changed, by less than 0.5 %. `./dev curves FOLDER` prints the table again.
inline constexpr std::array<UpgradeScore, 4> kPublishedUpgrades = {{{"PyTorch 25.05", 92, 0.154},
                                                                    {"PyTorch 25.03", 123, 0.891},
                                                                    {"NGC 26.02", 64, 0.156},
                                                                    {"TE 2.16", 25, 0.723}}};

// The highest accepted score: this factor above the largest of the record. An upgrade is a random
// effect and four are too few for a stated rate, so none is stated; leaving out the upgrade that is
// judged moves the limit by a fifth.
inline constexpr double kRoomAboveRecord = 1.25;
double ScoreLimit(const std::vector<UpgradeScore>& record);

// The relative difference that every one of those upgrades made by rounding alone.
inline constexpr double kRoundingFloor = PairLimits{}.shift_floor;

// The nature of a difference, whatever its verdict.
enum class DifferenceNature {
  kNone,          // nothing can be said
  kRounding,      // as small as rounding alone makes it
  kNewStream,     // from the first value on, small beside the batches, no direction
  kOtherBatches,  // as large as other batches would make it
  kShifted,       // keeps a direction: off by a share of the loss
  kProgress,      // as if steps were larger or smaller
  kSpike,         // one value, or a few
};
std::string_view DifferenceNatureName(DifferenceNature nature);  // "rounding", "new_stream", ...

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_UPGRADE_RECORD_H_
