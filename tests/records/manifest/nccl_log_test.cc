// What a run's log says of NCCL's choices. The lines of choices of algorithms have a test of their
// own, beside the probes.
#include "harness/records/manifest/nccl_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// The form is that of NCCL from 2.12 to 2.30.
constexpr char kLog[] =
    "epoch 1\n"
    "node1:71:71 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
    "NCCL version 2.21.5+cuda12.4\n"
    "node1:71:88 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
    "node1:71:88 [0] NCCL INFO Using network IB\n"
    "node1:71:88 [0] NCCL INFO 2 coll channels, 0 collnet channels, 0 nvls channels, 2 p2p "
    "channels, "
    "2 p2p channels per peer\n"
    "node1:71:88 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n"
    "node1:71:88 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n"
    "node1:71:88 [0] NCCL INFO AllReduce: 9999 Bytes -> Algo 0 proto 2 time 12.3\n"
    "loss 0.5\n";

TEST(NcclLog, SaysWhatWasChosen) {
  EXPECT_THAT(ReadNcclLog(kLog),
              ElementsAre(Pair("algorithms", "AllReduce RING LL, AllReduce TREE SIMPLE"),
                          Pair("channels",
                               "2 coll channels, 0 collnet channels, 0 nvls channels, 2 p2p "
                               "channels, 2 p2p channels per peer"),
                          Pair("network", "IB"), Pair("version", "2.21.5+cuda12.4")));
}

TEST(NcclLog, OfLaterVersionsAndLaunchersHasPrefixes) {
  EXPECT_THAT(ReadNcclLog("h:7:7 [0] NCCL INFO NCCL version 2.30.7+cuda13.0\r\n"
                          "[1,0]<stdout>:h:7:7 [0] NCCL INFO Using network AWS Libfabric\r\n"),
              ElementsAre(Pair("network", "AWS Libfabric"), Pair("version", "2.30.7+cuda13.0")));
  EXPECT_THAT(ReadNcclLog("[1,0]<stdout>:NCCL version 2.12.7+cuda11.4"),
              ElementsAre(Pair("version", "2.12.7+cuda11.4")));
}

TEST(NcclLog, OfSeveralProcessesHasTheChoicesOfAll) {
  EXPECT_THAT(ReadNcclLog("a [0] NCCL INFO Using network Socket\n"
                          "b [0] NCCL INFO Using network IB\n"
                          "a [0] NCCL INFO 4 coll channels, 4 p2p channels\n"
                          "b [0] NCCL INFO 2 coll channels, 2 p2p channels\n"),
              ElementsAre(Pair("channels",
                               "2 coll channels, 2 p2p channels | 4 coll channels, 4 "
                               "p2p channels"),
                          Pair("network", "IB, Socket")));
}

TEST(NcclLog, WhatIsNoneSaysNothing) {
  EXPECT_THAT(ReadNcclLog(""), IsEmpty());
  EXPECT_THAT(ReadNcclLog("NCCL version\nNCCL version mismatch: expected 2\nUsing network Socket\n"
                          "NCCL INFO Using network \x1b[31mred\nNCCL INFO 2 channels\n"),
              IsEmpty());
  std::string long_name = "NCCL INFO Using network " + std::string(10'000, 'x') + "\n";
  EXPECT_THAT(ReadNcclLog(long_name), IsEmpty());
  std::string many;
  for (int i = 0; i < 100'000; ++i) {
    many += "NCCL INFO Using network net" + std::to_string(i) + "\n";
  }
  EXPECT_LT(ReadNcclLog(many).at("network").size(), 256U);
}

}  // namespace
}  // namespace rharness
