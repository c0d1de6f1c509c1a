// Row G5: the canonical digest of tensors that lie in device memory.
//
// SHA-256 of one tensor is sequential, so the host hashes, each tensor on one core, while the
// tensors after it are still being copied to page-locked memory.
#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "compare/weights/tensor_digest.h"
#include "compare/weights/workers.h"
#include "tests/bench/gpu/gpu_bench.h"
#include "tests/bench/gpu/planted_data.h"

namespace rharness::bench {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

constexpr std::size_t kTensors = 64;

// Host memory as a checkpoint, for the digest that the device's must equal.
class MemoryCheckpoint final : public Checkpoint {
 public:
  MemoryCheckpoint(std::vector<TensorInfo> tensors, std::span<const std::byte> bytes)
      : tensors_(std::move(tensors)), bytes_(bytes) {}
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override {
    const std::size_t begin = index * tensors_[index].size_bytes + offset;
    std::ranges::copy(bytes_.subspan(begin, out.size()), out.begin());
    return {};
  }
  Status CheckUnchanged() const override { return {}; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return metadata_;
  }
  const std::vector<UnreadPart>& unread() const override { return NothingUnread(); }

 private:
  std::vector<TensorInfo> tensors_;
  std::span<const std::byte> bytes_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

std::vector<TensorInfo> EqualTensors(std::size_t size_bytes) {
  std::vector<TensorInfo> tensors;
  for (std::size_t i = 0; i < kTensors; ++i) {
    TensorInfo info{.name = fmt::format("tensor.{:02}", i), .dtype = DType::kF32};
    info.elements = size_bytes / kTensors / sizeof(float);
    info.shape = {info.elements};
    info.size_bytes = info.elements * sizeof(float);
    tensors.push_back(info);
  }
  return tensors;
}

// As tensor_digest.h defines it.
std::string LeafOf(const TensorInfo& info, std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.Update("rharness.tensor/v1\0"sv);
  sha.UpdateU64(FormatName(info).size());
  sha.Update(FormatName(info));
  sha.UpdateU64(info.shape.size());
  for (const std::uint64_t dimension : info.shape) sha.UpdateU64(dimension);
  sha.Update(bytes);
  return ToHex(sha.Finish());
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Digest {
 public:
  explicit Digest(const GpuContext& context) : context_(context), device_(context.device) {}

  Status Prepare() {
    ASSIGN_OR_RETURN(const std::size_t bytes, BufferBytes(context_, 1));
    tensors_ = EqualTensors(bytes);
    const std::vector<std::byte> data = SeededBuffer(DType::kF32, bytes / sizeof(float), 2);
    ASSIGN_OR_RETURN(const auto expected, DigestCheckpoint(MemoryCheckpoint(tensors_, data)));
    expected_ = expected.sha256;
    ASSIGN_OR_RETURN(on_device_, device_.device().Upload(data));
    ASSIGN_OR_RETURN(pinned_, device_.AllocatePinned(bytes));
    for (std::size_t i = 0; i < kTensors; ++i) {
      ASSIGN_OR_RETURN(auto event, Event::Create(device_.driver()));
      arrived_.push_back(std::move(event));
    }
    return {};
  }

  Result<GpuRow> Measure() {
    std::vector<double> copy, hash, both;
    for (int round = 0; round < context_.options.rounds; ++round) {
      ASSIGN_OR_RETURN(const double copied, device_.Time([&] { return EnqueueCopies(); }));
      copy.push_back(copied);
      ASSIGN_OR_RETURN(const double hashed, TimeDigest(false));
      hash.push_back(hashed);
      std::ranges::fill(pinned_.bytes(), std::byte{0});
      ASSIGN_OR_RETURN(const double together, TimeDigest(true));
      both.push_back(together);
    }
    GpuRow row{.id = "G5", .what = "SHA-256 tensor digests of data on the device, all cores"};
    row.value = std::max(Median(copy), Median(hash)) / Median(both);
    row.of = "the slower of copying to page-locked memory and hashing there";
    const double giga = static_cast<double>(pinned_.bytes().size()) * 1e-9;
    row.figures = {{"copy and hash", giga / Median(both), "GB/s"},
                   {"hash alone", giga / Median(hash), "GB/s"},
                   {"copy alone", giga / Median(copy), "GB/s"},
                   {"tensors", static_cast<double>(kTensors), ""},
                   {"cores", static_cast<double>(WorkerCount(0)), ""}};
    return row;
  }

 private:
  std::span<std::byte> HostBytes(std::size_t i) const {
    return pinned_.bytes().subspan(i * tensors_[i].size_bytes, tensors_[i].size_bytes);
  }

  Status EnqueueCopies() const {
    for (std::size_t i = 0; i < kTensors; ++i) {
      RETURN_IF_ERROR(device_.CopyToHost(HostBytes(i), on_device_, i * tensors_[i].size_bytes));
      RETURN_IF_ERROR(arrived_[i]->Record());
    }
    return {};
  }

  // Wall clock, from the first copy where `with_copies`, until the checkpoint's digest is there.
  Result<double> TimeDigest(bool with_copies) const {
    std::vector<TensorDigest> leaves(kTensors);
    FirstError first_error;
    std::string digest;
    const double seconds = Seconds([&] {
      if (with_copies && !first_error.Check(EnqueueCopies())) return;
      std::atomic<std::size_t> next = 0;
      RunOnWorkers(WorkerCount(0), [&] {
        if (!first_error.Check(device_.device().Activate())) return;
        for (std::size_t i = next++; i < kTensors; i = next++) {
          if (with_copies && !first_error.Check(device_.WaitFor(*arrived_[i]))) return;
          leaves[i] = {tensors_[i].name, DType::kF32, tensors_[i].shape,
                       LeafOf(tensors_[i], HostBytes(i)), ""};
        }
      });
      digest = CombineDigests(leaves);
    });
    RETURN_IF_ERROR(first_error.status());
    if (digest == expected_) return seconds;
    return IntegrityError(fmt::format("digest {}; the host's copy has {}", digest, expected_));
  }

  const GpuContext& context_;
  const BenchDevice& device_;
  std::vector<TensorInfo> tensors_;
  std::string expected_;
  DeviceBuffer on_device_;
  PinnedBuffer pinned_;
  std::vector<std::unique_ptr<Event>> arrived_;
};

Result<GpuRow> Measure(const GpuContext& context) {
  Digest digest(context);
  RETURN_IF_ERROR(digest.Prepare());
  return digest.Measure();
}

}  // namespace

std::vector<GpuRow> DigestRows(GpuContext* context) {
  Result<GpuRow> row = Measure(*context);
  if (row.ok()) return {std::move(*row)};
  return {WithoutValue("G5", "SHA-256 tensor digests of data on the device", row.error())};
}

}  // namespace rharness::bench
