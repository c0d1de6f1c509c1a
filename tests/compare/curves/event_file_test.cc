// Event files of TensorBoard: checksums, both versions of scalars, restarts, damage.
#include "compare/curves/event_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/curves/curve_files.h"
#include "compare/curves/tensorboard.h"
#include "harness/base/crc32c.h"
#include "harness/base/files.h"
#include "tests/compare/curves/build_event_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<CurveSeries> CurvesOf(const std::string& text) {
  const auto curves = ParseCurves(text, "events");
  EXPECT_TRUE(curves.ok()) << curves.error().ToString();
  return curves.ok() ? *curves : std::vector<CurveSeries>();
}

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  // RFC 3720, B.4: 32 bytes of zeros, of ones, and 0 to 31.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c(rising.substr(5), Crc32c(rising.substr(0, 5))), 0x46dd794eu);
  for (std::size_t size = 0; size < 32; ++size) {
    EXPECT_EQ(Crc32c(rising.substr(0, size)), SlowCrc32c(rising.substr(0, size))) << size;
  }
}

TEST(EventFile, HoldsSimpleValuesByTagAndStep) {
  const std::string file = FileHead() + SimpleScalar(0, "loss", 2.5F) +
                           SimpleScalar(1, "acc", 0.5F) + SimpleScalar(10, "loss", 1.25F);
  EXPECT_EQ(DetectCurveFormat(file), CurveFormat::kEventFile);
  const auto curves = CurvesOf(file);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].name, "acc");
  EXPECT_EQ(curves[1].name, "loss");
  EXPECT_THAT(curves[1].steps, ElementsAre(0, 10));
  EXPECT_THAT(curves[1].values, ElementsAre(2.5, 1.25));
}

TEST(EventFile, HoldsTensorsOfTheScalarPluginAndNoOthers) {
  const auto half = Key(1, 0) + Varint(19) + Bytes(13, Varint(0x3c00));
  const auto bfloat = Key(1, 0) + Varint(14) + Bytes(4, LittleBytes(std::uint16_t{0xc000}));
  const auto wide = Key(1, 0) + Varint(2) + Bytes(6, LittleBytes(1.0 / 3.0));
  const auto whole = Key(1, 0) + Varint(9) + Bytes(10, Varint(~std::uint64_t{0}));
  const auto content = Key(1, 0) + Varint(3) + Bytes(4, LittleBytes(std::int32_t{-7}));
  const auto two = Key(1, 0) + "\x01" + Bytes(5, LittleBytes(1.0F) + LittleBytes(2.0F));
  const std::string file =
      FileHead() + TensorScalar(1, "a", FloatTensor(0.75F), "scalars") +
      TensorScalar(2, "a", FloatTensor(0.5F)) + TensorScalar(1, "half", half, "scalars") +
      TensorScalar(1, "bfloat", bfloat, "scalars") + TensorScalar(1, "wide", wide, "scalars") +
      TensorScalar(1, "whole", whole, "scalars") + TensorScalar(1, "content", content, "scalars") +
      TensorScalar(1, "pair", two, "scalars") + TensorScalar(1, "image", FloatTensor(9), "images") +
      TensorScalar(2, "image", FloatTensor(9)) + TensorScalar(1, "unknown", FloatTensor(9));
  std::map<std::string, std::vector<double>> values;
  for (const CurveSeries& curve : CurvesOf(file)) values[curve.name] = curve.values;
  EXPECT_THAT(values, ElementsAre(testing::Pair("a", ElementsAre(0.75, 0.5)),
                                  testing::Pair("bfloat", ElementsAre(-2.0)),
                                  testing::Pair("content", ElementsAre(-7.0)),
                                  testing::Pair("half", ElementsAre(1.0)),
                                  testing::Pair("whole", ElementsAre(-1.0)),
                                  testing::Pair("wide", ElementsAre(1.0 / 3.0))));
  std::vector<std::string> remarks;
  ASSERT_TRUE(ParseCurves(file, "f", &remarks).ok());
  EXPECT_THAT(remarks, ElementsAre("event files: what is no number is not compared: 'image' (no "
                                   "scalar), 'unknown' (no scalar)"));
}

TEST(EventFile, KeepsValuesThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto curves =
      CurvesOf(FileHead() + SimpleScalar(1, "loss", nan) + SimpleScalar(2, "loss", -inf));
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_TRUE(std::isnan(curves[0].values[0]));
  EXPECT_EQ(curves[0].values[1], -std::numeric_limits<double>::infinity());
}

TEST(EventFile, ThatWasCutOffHoldsTheRecordsBefore) {
  const std::string whole = FileHead() + SimpleScalar(1, "loss", 2) + SimpleScalar(2, "loss", 1);
  const std::size_t last = SimpleScalar(2, "loss", 1).size();
  for (std::size_t cut = 1; cut < last; ++cut) {
    std::vector<std::string> remarks;
    const auto curves = ParseCurves(whole.substr(0, whole.size() - cut), "f", &remarks);
    ASSERT_TRUE(curves.ok()) << cut;
    EXPECT_THAT(curves->at(0).steps, ElementsAre(1)) << cut;
    ASSERT_EQ(remarks.size(), 1U) << cut;
    EXPECT_THAT(remarks[0],
                HasSubstr("ends inside a record at byte " + std::to_string(whole.size() - last)));
  }
}

TEST(EventFile, ThatWasDamagedGivesNothingFromThereOn) {
  const std::string first = FileHead() + SimpleScalar(1, "loss", 2);
  const std::string second = SimpleScalar(2, "loss", 1);
  for (std::size_t at = 0; at < second.size(); ++at) {
    std::string damaged = second;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    std::vector<std::string> remarks;
    const auto curves = ParseCurves(first + damaged + SimpleScalar(3, "loss", 0), "f", &remarks);
    ASSERT_TRUE(curves.ok()) << at;
    EXPECT_THAT(curves->at(0).steps, ElementsAre(1)) << at;
    ASSERT_EQ(remarks.size(), 1U) << at;
    EXPECT_THAT(remarks[0], HasSubstr("checksum at byte " + std::to_string(first.size()))) << at;
  }
}

TEST(EventFile, BelievesNoLengthThatTheFileDoesNotHave) {
  const std::string length = LittleBytes(std::uint64_t{200} << 20);
  const std::uint32_t crc = SlowCrc32c(length);
  const std::string header = length + LittleBytes((crc >> 15 | crc << 17) + 0xa282ead8u);
  std::vector<std::string> remarks;
  const auto curves =
      ParseCurves(FileHead() + SimpleScalar(1, "loss", 2) + header + "short", "f", &remarks);
  ASSERT_TRUE(curves.ok());
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("ends inside a record")));
}

class EventFolder : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    ASSERT_TRUE(MakeDirectories((root() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(root() / path, content).ok());
  }
  EventCurves Load() {
    auto read = LoadEventCurves(root());
    EXPECT_TRUE(read.ok()) << read.error().ToString();
    return read.ok() ? std::move(*read) : EventCurves();
  }
  fs::path root() const { return folder_.path(); }

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

TEST_F(EventFolder, PutsTheFolderBehindTheSharedOneBeforeTheTag) {
  Write("logs/20261128/train/events.out.tfevents.1.h", FileHead() + SimpleScalar(1, "loss", 2));
  Write("logs/20261128/validation/events.out.tfevents.1.h",
        FileHead() + SimpleScalar(1, "loss", 3));
  Write("logs/20261128/train/1732770000.25/events.out.tfevents.1.h",
        FileHead() + SimpleScalar(1, "hp_metric", 4));
  std::vector<std::string> names;
  for (const CurveSeries& curve : Load().curves) names.push_back(curve.name);
  EXPECT_THAT(names, ElementsAre("train/hp_metric", "train/loss", "validation/loss"));
}

TEST_F(EventFolder, LetsTheLaterWriterWinAndSaysSo) {
  Write("events.out.tfevents.100.h", FileHead() + SimpleScalar(1, "loss", 4) +
                                         SimpleScalar(2, "loss", 3) + SimpleScalar(3, "loss", 9));
  // The second writer's name sorts before the first's.
  Write("events.out.tfevents.99.h", FileHead() + SimpleScalar(1, "loss", 5));
  Write("events.out.tfevents.101.h", FileHead() + SimpleScalar(3, "loss", 2) +
                                         SimpleScalar(4, "loss", 1) +
                                         SimpleScalar(4, "loss", 0.5F));
  const EventCurves read = Load();
  ASSERT_EQ(read.curves.size(), 1U);
  EXPECT_THAT(read.curves[0].steps, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read.curves[0].values, ElementsAre(4, 3, 2, 0.5));
  EXPECT_THAT(read.remarks,
              ElementsAre(HasSubstr("goes back to step 1"), HasSubstr("1 further value"),
                          HasSubstr("goes back to step 3")));
}

TEST_F(EventFolder, HasACurveOfTheSecondValuesOfSteps) {
  std::string file = FileHead();
  for (int step = 1; step <= 3; ++step) {
    const auto at = static_cast<float>(step);
    file += SimpleScalar(step, "loss", at) + SimpleScalar(step, "loss", 10 * at) +
            SimpleScalar(step, "acc", at) + SimpleScalar(step, "acc", at);
  }
  Write("events.out.tfevents.1.h", file);
  const EventCurves read = Load();
  ASSERT_EQ(read.curves.size(), 3U);
  EXPECT_THAT(read.curves[0].values, ElementsAre(1, 2, 3)) << "the same again";
  EXPECT_THAT(read.curves[1].values, ElementsAre(1, 2, 3));
  EXPECT_EQ(read.curves[2].name, "loss #2");
  EXPECT_THAT(read.curves[2].values, ElementsAre(10, 20, 30));
  EXPECT_THAT(read.remarks, ElementsAre(HasSubstr("several values at one step")));
}

TEST_F(EventFolder, IsRefusedWhereItsStepStandsStill) {
  std::string file = FileHead();
  for (int i = 0; i <= 100; ++i) file += SimpleScalar(7, "loss", static_cast<float>(i));
  Write("events.out.tfevents.1.h", file);
  const auto read = LoadEventCurves(root());
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("'loss' has more than 100 values at step 7"));
}

TEST_F(EventFolder, SortsWhatOneWriterWroteOutOfOrder) {
  Write("events.out.tfevents.1.h", FileHead() + SimpleScalar(3, "loss", 3) +
                                       SimpleScalar(1, "loss", 1) + SimpleScalar(2, "loss", 2));
  const EventCurves read = Load();
  EXPECT_THAT(read.curves.at(0).values, ElementsAre(1, 2, 3));
  EXPECT_THAT(read.remarks, IsEmpty());
}

TEST_F(EventFolder, FollowsNoLinkAndReadsNothingElse) {
  Write("logs/events.out.tfevents.1.h", FileHead() + SimpleScalar(1, "loss", 3));
  Write("other/events.out.tfevents.1.h", FileHead() + SimpleScalar(1, "stolen", 3));
  fs::create_symlink(root() / "other" / "events.out.tfevents.1.h",
                     root() / "logs" / "events.out.tfevents.2.h");
  fs::create_directory_symlink(root() / "other", root() / "logs" / "more");
  const auto read = LoadEventCurves(root() / "logs");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  ASSERT_EQ(read->curves.size(), 1U);
  EXPECT_EQ(read->curves[0].name, "loss");
}

TEST_F(EventFolder, HasAnErrorForEachThingThatIsNoLog) {
  EXPECT_EQ(LoadEventCurves(root()).error().code, ErrorCode::kNotFound);
  Write("events.out.tfevents.1.h", "");
  EXPECT_THAT(LoadEventCurves(root()).error().message, HasSubstr("is empty at byte 0"));
  Write("events.out.tfevents.1.h", "step,loss\n1,2\n");
  EXPECT_THAT(LoadEventCurves(root()).error().message, HasSubstr("checksum at byte 0"));
  Write("events.out.tfevents.1.h", FileHead());
  EXPECT_THAT(LoadEventCurves(root()).error().message, HasSubstr("no scalar"));
  std::string many = FileHead();
  for (int i = 0; i < 10'001; ++i) many += SimpleScalar(1, "t" + std::to_string(i), 1);
  Write("events.out.tfevents.1.h", many);
  EXPECT_THAT(LoadEventCurves(root()).error().ToString(), HasSubstr("more than 10000 tags"));
}

TEST(Tables, AreSeparatedByTabsToo) {
  const auto curves = CurvesOf("step\tloss, mean\n1\t2.5\n2\t1.5\n");
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].name, "loss, mean");
  EXPECT_THAT(curves[0].values, ElementsAre(2.5, 1.5));
}

TEST(Restarts, AreReadWhereARemarkCanSaySo) {
  const std::string table = "epoch,loss\n0,4\n1,3\n2,9\n1,2\n2,1\n";
  EXPECT_THAT(ParseCurves(table, "log.csv").error().message, HasSubstr("steps must increase"));
  std::vector<std::string> remarks;
  const auto curves = ParseCurves(table, "log.csv", &remarks);
  ASSERT_TRUE(curves.ok()) << curves.error().ToString();
  EXPECT_THAT(curves->at(0).steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(curves->at(0).values, ElementsAre(4, 2, 1));
  EXPECT_THAT(remarks, ElementsAre("log.csv: 'loss' goes back to step 1; of 2 earlier values from "
                                   "there on none is read"));
  remarks.clear();
  const auto lines = ParseCurves(
      "{\"step\": 1, \"loss\": 4}\n{\"step\": 2, \"loss\": 3}\n"
      "{\"step\": 2, \"loss\": 2}\n",
      "log.jsonl", &remarks);
  ASSERT_TRUE(lines.ok()) << lines.error().ToString();
  EXPECT_THAT(lines->at(0).values, ElementsAre(4, 2));
  EXPECT_EQ(remarks.size(), 1U);
}

TEST(Restarts, AreNoneWhereTheStepStandsStill) {
  std::string log = "step,loss\n";
  for (int i = 0; i <= 100; ++i) log += fmt::format("7,{}\n", i);
  std::vector<std::string> remarks;
  const auto curves = ParseCurves(log, "log.csv", &remarks);
  ASSERT_FALSE(curves.ok());
  EXPECT_EQ(curves.error().ToString(),
            "log.csv: line 102: 'loss' has more than 100 values at step 7; expected a step that "
            "increases");
}

TEST(Restarts, AreNoneInALogOfTwoPhases) {
  std::string text;
  for (int step = 0; step < 3; ++step) {
    for (const double loss : {4.0 - step, 8.0 - step}) {
      text += fmt::format("{{\"step\": {}, \"loss\": {}, \"epoch\": {}}}\n", step, loss, step);
    }
  }
  std::vector<std::string> remarks;
  const auto curves = ParseCurves(text, "log.jsonl", &remarks);
  ASSERT_TRUE(curves.ok()) << curves.error().ToString();
  ASSERT_EQ(curves->size(), 2U);
  EXPECT_THAT(curves->at(0).values, ElementsAre(4, 3, 2));
  EXPECT_EQ(curves->at(1).name, "loss #2");
  EXPECT_THAT(curves->at(1).steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(curves->at(1).values, ElementsAre(8, 7, 6));
  EXPECT_THAT(remarks, ElementsAre("log.jsonl: 'loss' has several values at one step: further ones "
                                   "are those of 'loss #2'"));
}

}  // namespace
}  // namespace rharness
