// The lines that NCCL has written over the years, and lines that are none.
#include <gtest/gtest.h>

#include "harness/records/manifest/nccl_log.h"

namespace rharness {
namespace {

TEST(TuningLog, ReadsALineOf228) {
  const auto choices = ParseTuningLog(
      "host:71:88 [0] NCCL INFO AllReduce: 65536 Bytes -> Algo RING proto LL128 "
      "channel{Lo..Hi}={0..15}\n");
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].function, "AllReduce");
  EXPECT_EQ(choices[0].bytes, 65536u);
  EXPECT_EQ(choices[0].algorithm, "RING");
  EXPECT_EQ(choices[0].protocol, "LL128");
  EXPECT_EQ(choices[0].first_channel, 0);
  EXPECT_EQ(choices[0].last_channel, 15);
  EXPECT_EQ(DescribeChoices(choices).Dump(),
            R"({"algorithm":"RING","protocol":"LL128","channels":"0..15"})");
}

TEST(TuningLog, ReadsLaterLinesWithMoreAfterTheChannels) {
  const auto choices = ParseTuningLog(
      "[2026-05-01 10:00:00] host:71:88 [0] NCCL INFO ReduceScatter: 1024 Bytes -> Algo PAT proto "
      "SIMPLE channel{Lo..Hi}={2..3} cgaClusterSize 4");
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].algorithm, "PAT");
  EXPECT_EQ(choices[0].first_channel, 2);
}

TEST(TuningLog, ReadsNumbersOfOlderVersionsAsNames) {
  const auto choices = ParseTuningLog(
      "n:2:2 [0] NCCL INFO AllGather: 37756928 Bytes -> Algo 1 proto 2 time 2860.208008\n"
      "n:2:2 [0] NCCL INFO 4096 Bytes -> Algo 0 proto 0 time 12.5\n"
      "n:2:2 [0] NCCL INFO AllReduce: 8 Bytes -> Algo Tree proto Simple channel{Lo..Hi}={0..0}\n"
      "n:2:2 [0] NCCL INFO AllReduce: 8 Bytes -> Algo 9 proto 7 time 1\n");
  ASSERT_EQ(choices.size(), 4u);
  EXPECT_EQ(choices[0].algorithm, "RING");
  EXPECT_EQ(choices[0].protocol, "SIMPLE");
  EXPECT_FALSE(choices[0].first_channel.has_value());
  EXPECT_EQ(choices[1].function, "");
  EXPECT_EQ(choices[1].algorithm, "TREE");
  EXPECT_EQ(choices[1].protocol, "LL");
  EXPECT_EQ(choices[2].algorithm, "TREE");
  EXPECT_EQ(choices[2].protocol, "SIMPLE");
  EXPECT_EQ(choices[3].algorithm, "9");
  EXPECT_EQ(choices[3].protocol, "7");
}

TEST(TuningLog, ReadsKernelsOnSymmetricMemory) {
  const auto choices = ParseTuningLog(
      "n:2:2 [0] NCCL INFO AllReduce [Symmetric]: 1024 Bytes -> Kernel AllReduce_AGxLL_R nchannels "
      "8 nthreads 512 nWorks 1\n");
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(DescribeChoices(choices).Dump(),
            R"({"algorithm":"SYMMETRIC","kernel":"AllReduce_AGxLL_R","channels":"0..7"})");
}

TEST(TuningLog, ListsThePartsOfACallThatWasCut) {
  const std::string line = "[0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL\n";
  EXPECT_EQ(
      DescribeChoices(ParseTuningLog(line + line)).Dump(),
      R"({"parts":[{"algorithm":"RING","protocol":"LL"},{"algorithm":"RING","protocol":"LL"}]})");
}

TEST(TuningLog, PassesOverWhatIsNoChoice) {
  for (const std::string text : {
           "",
           "\n\n\n",
           "NCCL INFO ",
           "NCCL INFO AllReduce: ",
           "NCCL INFO AllReduce: x Bytes -> Algo RING",
           "NCCL INFO AllReduce: 8 Bytes -> Algo RING",
           "NCCL INFO AllReduce: 8 Bytes -> Algo  proto LL",
           "NCCL INFO AllReduce: -8 Bytes -> Algo RING proto LL",
           "NCCL INFO AllReduce: 99999999999999999999999 Bytes -> Algo RING proto LL",
           "NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={5..2}",
           "NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..99999999999}",
           "NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..",
           "NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL\x1b[31m",
           "NCCL INFO AllReduce [Symmetric]: 8 Bytes -> Kernel K nchannels 0",
           "NCCL WARN AllReduce: 8 Bytes -> Algo RING proto LL",
           "NCCL INFO <script>: 8 Bytes -> Algo RING proto LL",
           "NCCL INFO   Protocol    |             LL |          LL128 |         Simple |",
       }) {
    EXPECT_TRUE(ParseTuningLog(text).empty()) << text;
  }
  const std::string name(100000, 'A');
  EXPECT_TRUE(ParseTuningLog("NCCL INFO AllReduce: 8 Bytes -> Algo " + name + " proto LL").empty());
  EXPECT_TRUE(ParseTuningLog("NCCL INFO " + name + ": 8 Bytes -> Algo RING proto LL").empty());
}

TEST(TuningLog, FindsAChoiceBetweenBrokenLinesAndZeroBytes) {
  std::string text(3, '\0');
  text +=
      "\nNCCL INFO AllReduce: 8 Bytes -> Algo RI\nNCCL INFO AllReduce: 8 Bytes -> Algo RING "
      "proto LL channel{Lo..Hi}={0..0}\r\nNCCL INFO AllRed";
  const auto choices = ParseTuningLog(text);
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].last_channel, 0);
}

}  // namespace
}  // namespace rharness
