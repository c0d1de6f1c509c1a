// Wrong arguments and wrong orders of calls of the emulated NCCL.
#include "probes/gpu/nccl_ranks.h"
#include "tests/gpu/emulator/libraries/checked.h"

namespace rharness {
namespace {

const Changes kTwo = {{"EMULATED_DEVICES", "2"}};

// Two ranks, a buffer of 256 floats each.
struct TwoRanks {
  std::unique_ptr<NcclRanks> ranks;
  std::unique_ptr<RankBuffers> buffers;
  ncclComm_t comms[2] = {};
};
Result<TwoRanks> Open(const ProbeContext& context) {
  TwoRanks made;
  ASSIGN_OR_RETURN(made.ranks, NcclRanks::Open(context));
  ASSIGN_OR_RETURN(made.buffers, RankBuffers::Allocate(*made.ranks, 1024));
  const int devices[] = {0, 1};
  RETURN_IF_ERROR(made.ranks->nccl().Check(
      made.ranks->nccl().f.ncclCommInitAll(made.comms, 2, devices), "ncclCommInitAll"));
  return made;
}

TEST(EmulatedNcclArguments, HaveTheirResult) {
  const auto check = [](const ProbeContext& context, ProbeResult* result) -> Status {
    ASSIGN_OR_RETURN(const TwoRanks two, Open(context));
    const auto& f = two.ranks->nccl().f;
    const auto expect = [&](std::string_view what, ncclResult_t got, ncclResult_t wanted) {
      ExpectStatus(what, got, wanted, result);
    };
    std::byte* at = two.buffers->at(0);
    const CUstream stream = two.ranks->stream(0);
    const auto reduce = [&](ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, CUstream on) {
      return f.ncclAllReduce(at, at, 64, type, op, comm, on);
    };
    const ncclComm_t comm = two.comms[0];
    expect("type", reduce(Numbered<ncclDataType_t>(99), ncclSum, comm, stream),
           ncclInvalidArgument);
    expect("op", reduce(ncclFloat32, Numbered<ncclRedOp_t>(99), comm, stream), ncclInvalidArgument);
    expect("comm", reduce(ncclFloat32, ncclSum, nullptr, stream), ncclInvalidArgument);
    expect("stream of another device", reduce(ncclFloat32, ncclSum, comm, two.ranks->stream(1)),
           ncclUnhandledCudaError);
    expect("alone", reduce(ncclFloat32, ncclSum, comm, stream), ncclInvalidUsage);
    expect("end without a start", f.ncclGroupEnd(), ncclInvalidUsage);
    const int twice[] = {0, 0}, none[] = {0, 7};
    ncclComm_t made[2] = {};
    expect("a device twice", f.ncclCommInitAll(made, 2, twice), ncclInvalidUsage);
    expect("no such device", f.ncclCommInitAll(made, 2, none), ncclInvalidArgument);
    expect("no ranks", f.ncclCommInitAll(made, 0, twice), ncclInvalidArgument);
    ncclUniqueId id{};
    expect("id", f.ncclGetUniqueId(&id), ncclSuccess);
    expect("rank", f.ncclCommInitRank(made, 2, id, 2), ncclInvalidArgument);
    expect("one rank of two", f.ncclCommInitRank(made, 2, id, 0), ncclInvalidUsage);
    expect("one rank splits", f.ncclCommSplit(comm, 0, 0, made, nullptr), ncclInvalidUsage);
    expect("destroy", f.ncclCommDestroy(two.comms[1]), ncclSuccess);
    expect("destroyed", f.ncclCommDestroy(two.comms[1]), ncclInvalidArgument);
    ncclResult_t state = ncclSuccess;
    expect("state", f.ncclCommGetAsyncError(two.comms[1], &state), ncclInvalidArgument);
    return {};
  };
  ExpectAsDocumented(check, kTwo);
}

TEST(EmulatedNcclArguments, OfRanksThatDisagreeEndTheGroup) {
  const auto check = [](const ProbeContext& context, ProbeResult* result) -> Status {
    ASSIGN_OR_RETURN(const TwoRanks two, Open(context));
    const auto& f = two.ranks->nccl().f;
    const auto group = [&](std::size_t second, ncclDataType_t type) {
      f.ncclGroupStart();
      const std::size_t counts[] = {64, second};
      for (int rank = 0; rank < 2; ++rank) {
        std::byte* at = two.buffers->at(rank);
        f.ncclAllReduce(at, at, counts[rank], rank == 0 ? ncclFloat32 : type, ncclSum,
                        two.comms[rank], two.ranks->stream(rank));
      }
      return f.ncclGroupEnd();
    };
    ExpectStatus("alike", group(64, ncclFloat32), ncclSuccess, result);
    ExpectStatus("counts", group(32, ncclFloat32), ncclInvalidUsage, result);
    ExpectStatus("types", group(64, ncclBfloat16), ncclInvalidUsage, result);
    ExpectStatus("an error within", group(64, ncclInt8), ncclInvalidArgument, result);
    ExpectStatus("and the next", group(64, ncclFloat32), ncclSuccess, result);
    // A count beyond the buffers is found by the device.
    const auto beyond = [&] {
      f.ncclGroupStart();
      for (int rank = 0; rank < 2; ++rank) {
        std::byte* at = two.buffers->at(rank);
        f.ncclAllReduce(at, at, 257, ncclFloat32, ncclSum, two.comms[rank],
                        two.ranks->stream(rank));
      }
      return f.ncclGroupEnd();
    };
    ExpectStatus("beyond", beyond(), ncclSuccess, result);
    ExpectStatus("waited", two.ranks->WaitForAll().ok(), false, result);
    return {};
  };
  ExpectAsDocumented(check, kTwo);
}

}  // namespace
}  // namespace rharness
