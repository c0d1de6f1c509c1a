// Devices, streams, communicators and groups behind the nccl_* probes.
#include "probes/gpu/nccl_ranks.h"

#include <fmt/format.h>

#include <cstdlib>

namespace rharness {
namespace {

constexpr std::uint64_t kMostLogBytes = std::uint64_t{256} << 20;
constexpr int kMostRanks = 64;
constexpr int kSharesDevices = 23000;  // the first version with ranks that can share a device

// '%' starts a placeholder in the name of the log's file.
std::string WithPercentsDoubled(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled += c == '%' ? std::string("%%") : std::string(1, c);
  return doubled;
}

std::string_view FunctionOf(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "AllReduce";
    case Collective::kReduceScatter:
      return "ReduceScatter";
    case Collective::kAllGather:
      return "AllGather";
  }
  return "";
}

bool SharingIsAsked() {
  const char* asked = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return asked != nullptr && std::strtol(asked, nullptr, 10) != 0;
}

}  // namespace

Result<std::unique_ptr<NcclLog>> NcclLog::Start() {
  ASSIGN_OR_RETURN(ScopedTempDir folder, ScopedTempDir::Make("rharness-nccl-"));
  std::unique_ptr<NcclLog> log(new NcclLog(std::move(folder)));
  log->Set("NCCL_DEBUG", "INFO");
  log->Set("NCCL_DEBUG_SUBSYS", "TUNING");
  log->Set("NCCL_DEBUG_FILE", WithPercentsDoubled((log->folder_.path() / "log").string()));
  return log;
}

void NcclLog::Set(const std::string& name, const std::string& value) {
  const char* before = std::getenv(name.c_str());
  before_[name] = before != nullptr ? std::optional<std::string>(before) : std::nullopt;
  ::setenv(name.c_str(), value.c_str(), 1);
}

NcclLog::~NcclLog() {
  for (const auto& [name, value] : before_) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
}

Result<std::vector<TuningChoice>> NcclLog::Take(Collective collective) {
  const auto text = ReadFile(folder_.path() / "log", kMostLogBytes);
  // The library makes the file with its first line.
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return std::vector<TuningChoice>();
  if (!text.ok()) return text.error();
  const std::string_view rest =
      std::string_view(*text).substr(std::min(taken_bytes_, text->size()));
  taken_bytes_ = text->size();
  std::vector<TuningChoice> choices = ParseTuningLog(rest);
  std::erase_if(choices, [&](const TuningChoice& choice) {
    return !choice.function.empty() && choice.function != FunctionOf(collective);
  });
  return choices;
}

Result<std::unique_ptr<NcclRanks>> NcclRanks::Open(const ProbeContext& context) {
  std::unique_ptr<NcclRanks> ranks(new NcclRanks());
  // The requested device first: its error is the clearest if there is none.
  ASSIGN_OR_RETURN(const auto asked, Device::Open(context));
  ASSIGN_OR_RETURN(ranks->log_, NcclLog::Start());
  ASSIGN_OR_RETURN(ranks->nccl_, Nccl::Open(context.library_paths));
  int devices = 0;
  const CudaDriver& driver = asked->driver();
  RETURN_IF_ERROR(driver.Check(driver.f.cuDeviceGetCount(&devices), "cuDeviceGetCount"));
  if (devices > kMostRanks) {
    return Unsupported(fmt::format("{} devices; at most {} can be ranks", devices, kMostRanks));
  }
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    RETURN_IF_ERROR(ranks->Add(context, ordinal));
  }
  ranks->shared_ = devices == 1 && ranks->nccl_->version() >= kSharesDevices && SharingIsAsked();
  if (ranks->shared_) RETURN_IF_ERROR(ranks->Add(context, 0));
  return ranks;
}

Status NcclRanks::Add(const ProbeContext& context, int ordinal) {
  ProbeContext own = context;
  own.device = fmt::format("cuda:{}", ordinal);
  Rank rank{.ordinal = ordinal};
  ASSIGN_OR_RETURN(rank.device, Device::Open(own));
  const CudaDriver& driver = rank.device->driver();
  // Two ranks on one device must run at once, so neither may wait for the default stream.
  RETURN_IF_ERROR(driver.Check(driver.f.cuStreamCreate(&rank.stream, CU_STREAM_NON_BLOCKING),
                               "cuStreamCreate"));
  ranks_.push_back(std::move(rank));
  return {};
}

NcclRanks::~NcclRanks() {
  for (const Rank& rank : ranks_) {
    if (rank.device->Activate().ok()) rank.device->driver().f.cuStreamDestroy(rank.stream);
  }
}

Result<const Device*> NcclRanks::Activate(int rank) const {
  const Device& device = *ranks_[static_cast<std::size_t>(rank)].device;
  RETURN_IF_ERROR(device.Activate());
  return &device;
}

Status NcclRanks::WaitForAll() const {
  for (int rank = 0; rank < size(); ++rank) {
    ASSIGN_OR_RETURN(const Device* device, Activate(rank));
    const CudaDriver& driver = device->driver();
    RETURN_IF_ERROR(
        driver.Check(driver.f.cuStreamSynchronize(stream(rank)), "cuStreamSynchronize"));
  }
  return {};
}

void NcclRanks::Describe(ProbeResult* result) const {
  result->libraries.emplace(nccl_->library().soname(),
                            DescribeLibrary(nccl_->library(), nccl_->VersionText()));
  Json& ranks = result->choices["ranks"];
  ranks.Set("ranks", size()).Set("devices", shared_ ? 1 : size());
  if (shared_) ranks.Set("representative", false);
  if (shared_) {
    result->notes.push_back(
        "two ranks share the one device: what they choose and do stands for no real machine");
  } else if (size() == 1) {
    result->notes.push_back(
        "one device is one rank, and NCCL adds nothing: only its calls are checked "
        "(a library of 2.30 or later lets two ranks share a device with "
        "NCCL_MULTI_RANK_GPU_ENABLE=1)");
  }
}

Result<std::unique_ptr<RankBuffers>> RankBuffers::Allocate(const NcclRanks& ranks,
                                                           std::size_t bytes) {
  std::unique_ptr<RankBuffers> buffers(new RankBuffers(ranks, bytes));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    ASSIGN_OR_RETURN(const Device* device, ranks.Activate(rank));
    ASSIGN_OR_RETURN(DeviceBuffer buffer, device->Allocate(bytes));
    buffers->buffers_.push_back(std::move(buffer));
    // The ranks' streams do not wait for the default one, which clears memory.
    RETURN_IF_ERROR(device->Synchronize());
  }
  return buffers;
}

RankBuffers::~RankBuffers() {
  for (std::size_t rank = 0; rank < buffers_.size(); ++rank) {
    if (ranks_.Activate(static_cast<int>(rank)).ok()) buffers_[rank] = DeviceBuffer();
  }
}

std::byte* RankBuffers::at(int rank) const {
  return static_cast<std::byte*>(buffers_[static_cast<std::size_t>(rank)].pointer());
}

Status RankBuffers::Write(int rank, std::span<const std::byte> bytes) const {
  ASSIGN_OR_RETURN(const Device* device, ranks_.Activate(rank));
  RETURN_IF_ERROR(device->Write(buffers_[static_cast<std::size_t>(rank)], bytes));
  return device->Synchronize();
}

Result<std::vector<std::byte>> RankBuffers::Read(int rank, std::size_t bytes) const {
  ASSIGN_OR_RETURN(const Device* device, ranks_.Activate(rank));
  return device->Read(buffers_[static_cast<std::size_t>(rank)], bytes);
}

std::string_view CollectiveName(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllGather:
      return "all_gather";
  }
  return "";
}

Result<std::unique_ptr<Communicator>> Communicator::Create(const NcclRanks& ranks) {
  std::unique_ptr<Communicator> made(new Communicator(ranks));
  RETURN_IF_ERROR(made->Start());
  return made;
}

Status Communicator::Start() {
  const Nccl& nccl = ranks_.nccl();
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks_.size()), nullptr);
  if (!ranks_.shared()) {
    std::vector<int> ordinals;
    for (int rank = 0; rank < ranks_.size(); ++rank) ordinals.push_back(ranks_.ordinal(rank));
    RETURN_IF_ERROR(nccl.Check(nccl.f.ncclCommInitAll(comms.data(), ranks_.size(), ordinals.data()),
                               "ncclCommInitAll"));
  } else {
    // InitAll refuses a repeated device; this way each rank takes the thread's device.
    RETURN_IF_ERROR(ranks_.Activate(0));
    ncclUniqueId id{};
    RETURN_IF_ERROR(nccl.Check(nccl.f.ncclGetUniqueId(&id), "ncclGetUniqueId"));
    RETURN_IF_ERROR(nccl.Check(nccl.f.ncclGroupStart(), "ncclGroupStart"));
    ncclResult_t started = ncclSuccess;
    for (int rank = 0; rank < ranks_.size() && started == ncclSuccess; ++rank) {
      started =
          nccl.f.ncclCommInitRank(&comms[static_cast<std::size_t>(rank)], ranks_.size(), id, rank);
    }
    const ncclResult_t ended = nccl.f.ncclGroupEnd();
    RETURN_IF_ERROR(nccl.Check(started, "ncclCommInitRank"));
    RETURN_IF_ERROR(nccl.Check(ended, "ncclGroupEnd"));
  }
  comms_ = std::move(comms);
  return {};
}

Result<std::unique_ptr<Communicator>> Communicator::SplitInPairs() const {
  const Nccl& nccl = ranks_.nccl();
  if (nccl.f.ncclCommSplit == nullptr) {
    return Unsupported("the library lacks ncclCommSplit", nccl.library().soname());
  }
  std::unique_ptr<Communicator> made(new Communicator(ranks_));
  std::vector<ncclComm_t> comms(comms_.size(), nullptr);
  RETURN_IF_ERROR(nccl.Check(nccl.f.ncclGroupStart(), "ncclGroupStart"));
  ncclResult_t split = ncclSuccess;
  for (std::size_t rank = 0; rank < comms.size() && split == ncclSuccess; ++rank) {
    const int key = static_cast<int>(rank);
    split = nccl.f.ncclCommSplit(comms_[rank], key / 2, key, &comms[rank], nullptr);
  }
  const ncclResult_t ended = nccl.f.ncclGroupEnd();
  RETURN_IF_ERROR(nccl.Check(split, "ncclCommSplit"));
  RETURN_IF_ERROR(nccl.Check(ended, "ncclGroupEnd"));
  made->comms_ = std::move(comms);
  return made;
}

Communicator::~Communicator() {
  for (const ncclComm_t comm : comms_) {
    if (comm != nullptr) ranks_.nccl().f.ncclCommDestroy(comm);
  }
}

Status Communicator::Run(Collective collective, ncclDataType_t type, std::size_t element_bytes,
                         std::size_t bytes, const RankBuffers& from, const RankBuffers& to) const {
  const Nccl& nccl = ranks_.nccl();
  const std::size_t all = bytes / element_bytes;
  const std::size_t share = all / comms_.size();
  RETURN_IF_ERROR(nccl.Check(nccl.f.ncclGroupStart(), "ncclGroupStart"));
  ncclResult_t started = ncclSuccess;
  for (int rank = 0; rank < ranks_.size() && started == ncclSuccess; ++rank) {
    const ncclComm_t comm = comms_[static_cast<std::size_t>(rank)];
    const CUstream stream = ranks_.stream(rank);
    const std::size_t own = static_cast<std::size_t>(rank) * share * element_bytes;
    if (collective == Collective::kAllReduce) {
      started = nccl.f.ncclAllReduce(from.at(rank), to.at(rank), all, type, ncclSum, comm, stream);
    } else if (collective == Collective::kReduceScatter) {
      started = nccl.f.ncclReduceScatter(from.at(rank), to.at(rank) + own, share, type, ncclSum,
                                         comm, stream);
    } else {
      started = nccl.f.ncclAllGather(from.at(rank) + own, to.at(rank), share, type, comm, stream);
    }
  }
  // A group that was begun is ended in any case, or the next one would be part of it.
  const ncclResult_t ended = nccl.f.ncclGroupEnd();
  const std::string call = fmt::format("{} of {} bytes", CollectiveName(collective), bytes);
  RETURN_IF_ERROR(nccl.Check(started, call));
  RETURN_IF_ERROR(nccl.Check(ended, call));
  RETURN_IF_ERROR(ranks_.WaitForAll());
  return CheckErrors();
}

Status Communicator::CheckErrors() const {
  const Nccl& nccl = ranks_.nccl();
  for (const ncclComm_t comm : comms_) {
    ncclResult_t state = ncclSuccess;
    RETURN_IF_ERROR(
        nccl.Check(nccl.f.ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError"));
    RETURN_IF_ERROR(nccl.Check(state, "a collective that had been started"));
  }
  return {};
}

Status ForEachHistory(const NcclRanks& ranks, const Measure& measure, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto first, Communicator::Create(ranks));
  RETURN_IF_ERROR(measure("first", *first));
  {
    ASSIGN_OR_RETURN(const auto fresh, Communicator::Create(ranks));
    RETURN_IF_ERROR(measure("fresh", *fresh));
  }
  const auto pairs = first->SplitInPairs();
  if (!pairs.ok() && pairs.error().code == ErrorCode::kUnsupported) {
    result->notes.push_back("not asked after sub-communicators: " + pairs.error().ToString());
    return {};
  }
  if (!pairs.ok()) return pairs.error();
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  ASSIGN_OR_RETURN(const auto buffers, RankBuffers::Allocate(ranks, kBytes));
  RETURN_IF_ERROR((*pairs)->Run(Collective::kAllReduce, ncclFloat32, sizeof(float), kBytes,
                                *buffers, *buffers));
  ASSIGN_OR_RETURN(const auto after, Communicator::Create(ranks));
  return measure("after sub-communicators", *after);
}

Status RunOneRank(const NcclRanks& ranks, ProbeResult* result) {
  constexpr std::size_t kBytes = std::size_t{1} << 16;
  ASSIGN_OR_RETURN(const auto world, Communicator::Create(ranks));
  ASSIGN_OR_RETURN(const auto from, RankBuffers::Allocate(ranks, kBytes));
  std::vector<std::byte> sent(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<std::byte>(i * 7 % 120);
  RETURN_IF_ERROR(from->Write(0, sent));
  for (const Collective collective :
       {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather}) {
    ASSIGN_OR_RETURN(const auto to, RankBuffers::Allocate(ranks, kBytes));
    RETURN_IF_ERROR(world->Run(collective, ncclFloat32, sizeof(float), kBytes, *from, *to));
    ASSIGN_OR_RETURN(const auto received, to->Read(0, kBytes));
    if (received != sent) {
      return IntegrityError(fmt::format("{} of one rank does not give back what it was sent",
                                        CollectiveName(collective)));
    }
  }
  result->choices["one rank"].Set("gives back what is sent", true);
  return {};
}

}  // namespace rharness
