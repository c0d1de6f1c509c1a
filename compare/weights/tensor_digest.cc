// Streams every tensor through SHA-256, the largest first so that threads end together.
#include "compare/weights/tensor_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>

#include "compare/weights/input_file.h"
#include "compare/weights/names.h"
#include "compare/weights/workers.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

Result<std::string> LeafOf(const Checkpoint& checkpoint, std::size_t index,
                           std::span<std::byte> buffer, NonFiniteCounts* non_finite) {
  const TensorInfo& info = checkpoint.tensors()[index];
  Sha256 sha;
  sha.Update("rharness.tensor/v1\0"sv);
  sha.UpdateU64(FormatName(info).size());
  sha.Update(FormatName(info));
  sha.UpdateU64(info.shape.size());
  for (const std::uint64_t dimension : info.shape) sha.UpdateU64(dimension);
  for (std::uint64_t offset = 0; offset < info.size_bytes;) {
    const auto block =
        buffer.first(std::min<std::uint64_t>(buffer.size(), info.size_bytes - offset));
    RETURN_IF_ERROR(checkpoint.Read(index, offset, block));
    sha.Update(block);
    non_finite->Add(CountNonFinite(info.dtype, block));  // while it is in the cache
    offset += block.size();
  }
  return ToHex(sha.Finish());
}

std::vector<std::size_t> LargestFirst(const std::vector<TensorInfo>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return tensors[i].size_bytes; });
  return order;
}

// The bytes of 64 lower-case hex digits.
std::optional<Sha256Bytes> FromHex(std::string_view text) {
  if (!IsSha256Hex(text)) return std::nullopt;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Sha256Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
  }
  return bytes;
}

Status DigestBeside(const Checkpoint& checkpoint, CheckpointDigest* out) {
  Sha256 sha;
  sha.Update("rharness.beside/v1\0"sv);
  for (const UnreadPart& part : checkpoint.unread()) {
    if (part.kind != PartKind::kModel) continue;
    ASSIGN_OR_RETURN(PartDigest digest, DigestOf(part));
    sha.UpdateU64(part.name.size());
    sha.Update(part.name);
    sha.Update(digest.sha256);
    out->beside_parts.push_back(std::move(digest));
  }
  if (!out->beside_parts.empty()) out->beside = ToHex(sha.Finish());
  return {};
}

}  // namespace

Result<CheckpointDigest> DigestCheckpoint(const Checkpoint& checkpoint, int threads) {
  const auto unread = std::ranges::find_if(checkpoint.unread(), &LimitsDigest);
  if (unread != checkpoint.unread().end()) {
    if (unread->kind == PartKind::kSecondSet) {
      return InvalidInput(unread->why + "; name one of them",
                          unread->file == nullptr ? std::string() : unread->file->name());
    }
    return Unsupported(fmt::format("{} is not read, so that a digest would not stand for it: {}",
                                   Quoted(unread->name), unread->why),
                       unread->file == nullptr ? std::string() : unread->file->name());
  }
  const std::vector<TensorInfo>& tensors = checkpoint.tensors();
  const std::vector<std::size_t> order = LargestFirst(tensors);
  std::vector<std::string> leaves(tensors.size());
  std::vector<NonFiniteCounts> counts(tensors.size());
  std::atomic<std::size_t> next = 0;
  FirstError first_error;
  RunOnWorkers(WorkerCount(threads), [&] {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kReadBlockBytes);
    for (std::size_t i = next++; i < order.size(); i = next++) {
      Result<std::string> leaf =
          LeafOf(checkpoint, order[i], {buffer.get(), kReadBlockBytes}, &counts[order[i]]);
      if (!first_error.Check(leaf.ok() ? Status() : Status(leaf.error()))) return;
      leaves[order[i]] = std::move(*leaf);
    }
  });
  RETURN_IF_ERROR(first_error.status());
  CheckpointDigest digest;
  ASSIGN_OR_RETURN(digest.non_finite, UnexpectedNonFinite(checkpoint, counts));
  RETURN_IF_ERROR(DigestBeside(checkpoint, &digest));
  RETURN_IF_ERROR(checkpoint.CheckUnchanged());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& info = tensors[i];
    digest.tensors.push_back(
        {info.name, info.dtype, info.shape, std::move(leaves[i]), info.block_format});
    digest.size_bytes += info.size_bytes;
  }
  for (const NonFiniteTensor& tensor : digest.non_finite) {
    std::ranges::lower_bound(digest.tensors, tensor.name, {}, &TensorDigest::name)->non_finite =
        tensor.counts.Total();
  }
  digest.sha256 = CombineDigests(digest.tensors);
  return digest;
}

std::string CombineDigests(const std::vector<TensorDigest>& sorted_tensors) {
  Sha256 sha;
  sha.Update("rharness.checkpoint/v1\0"sv);
  sha.UpdateU64(sorted_tensors.size());
  for (const TensorDigest& tensor : sorted_tensors) {
    const std::optional<Sha256Bytes> leaf = FromHex(tensor.sha256);
    if (!leaf) return {};
    sha.UpdateU64(tensor.name.size());
    sha.Update(tensor.name);
    sha.Update(std::as_bytes(std::span(*leaf)));
  }
  return ToHex(sha.Finish());
}

}  // namespace rharness
