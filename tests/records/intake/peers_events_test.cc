// Event files of the real TensorBoard, read as its own reader reads them.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compare/curves/tensorboard.h"
#include "tests/records/intake/peer_programs.h"

namespace rharness {
namespace {

class EventPeer : public PeerPrograms {};

double ValueIn(const Json& json) {
  return json.kind() == Json::Kind::kString ? std::nan("") : json.ToDouble().value();
}

TEST_F(EventPeer, ReadsTheSamePointsOfBothVersionsOfSummaries) {
  const auto read = ParseJson(RunScript("event_files.py", {root()}), "");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  std::size_t points = 0;
  for (const auto& [folder, tags] : read->AsObject()) {
    const auto ours = LoadEventCurves(root() / folder);
    ASSERT_TRUE(ours.ok()) << ours.error().ToString();
    EXPECT_TRUE(ours->remarks.empty());
    std::map<std::string, const CurveSeries*> curves;
    for (const CurveSeries& curve : ours->curves) curves[curve.name] = &curve;
    EXPECT_EQ(curves.size(), tags.AsObject().size()) << folder;
    for (const auto& [tag, theirs] : tags.AsObject()) {
      ASSERT_TRUE(curves.contains(tag)) << folder << " " << tag;
      const CurveSeries& curve = *curves.at(tag);
      ASSERT_EQ(curve.steps.size(), theirs.AsArray().size()) << tag;
      for (std::size_t i = 0; i < curve.steps.size(); ++i) {
        const Json::Array& point = theirs.AsArray()[i].AsArray();
        EXPECT_EQ(curve.steps[i], point[0].ToInt64()) << tag;
        const double value = ValueIn(point[1]);
        EXPECT_TRUE(curve.values[i] == value || (std::isnan(value) && std::isnan(curve.values[i])))
            << tag << " at " << curve.steps[i];
        ++points;
      }
    }
  }
  EXPECT_EQ(points, 200U + 29U + 400U);
}

}  // namespace
}  // namespace rharness
