// Two SHA-256 streams at a time. One stream leaves most of the SHA unit idle, because every round
// waits for the one before; two independent streams interleaved fill the gaps.
#ifndef RHARNESS_HARNESS_BASE_DIGEST_PAIR_H_
#define RHARNESS_HARNESS_BASE_DIGEST_PAIR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "harness/base/digest.h"

namespace rharness {

// What computes the rounds: the x86 SHA extensions, or two OpenSSL streams one after the other.
enum class PairEngine { kShaExtensions, kOpenSsl };

// kShaExtensions if this CPU has SHA, SSE4.1 and SSSE3. Asks the CPU once.
PairEngine BestPairEngine();

// Two lanes, each an incremental SHA-256 (FIPS 180-4) of whole 64-byte blocks and a last piece.
// Not thread-safe. Asking for kShaExtensions on a CPU without them aborts.
class Sha256Pair {
 public:
  static constexpr std::size_t kBlockBytes = 64;

  explicit Sha256Pair(PairEngine engine = BestPairEngine());
  // The next `blocks` blocks of both lanes.
  void UpdateBoth(const std::byte* lane0, const std::byte* lane1, std::size_t blocks);
  // The next `blocks` blocks of one lane (0 or 1); half the speed a byte of UpdateBoth.
  void UpdateOne(int lane, const std::byte* data, std::size_t blocks);
  // The digest of all data of the lane so far, then `tail`, which may have any length. Resets the
  // lane.
  Sha256Bytes Finish(int lane, std::span<const std::byte> tail);
  // Finish of both lanes; at the speed of UpdateBoth if both tails end in equally many blocks.
  std::pair<Sha256Bytes, Sha256Bytes> FinishBoth(std::span<const std::byte> tail0,
                                                 std::span<const std::byte> tail1);
  // FinishBoth of fresh lanes, each given one whole message with its padding behind it.
  std::pair<Sha256Bytes, Sha256Bytes> FinishPadded(const std::byte* lane0, const std::byte* lane1,
                                                   std::size_t blocks);

 private:
  struct Lane {
    std::array<std::uint32_t, 8> words;  // in the order that the instructions use
    std::uint64_t size_bytes = 0;
    Sha256 open_ssl;
  };
  void Reset(Lane& lane);

  PairEngine engine_;
  std::array<Lane, 2> lanes_;
};

// Number of blocks of a message with its padding (FIPS 180-4, 5.1.1): a one bit, zeros, and its
// length in bits as the last eight bytes.
constexpr std::size_t PaddedBlocks(std::size_t size_bytes) {
  return (size_bytes + 9 + Sha256Pair::kBlockBytes - 1) / Sha256Pair::kBlockBytes;
}
// Writes that padding after the message at `bytes`, which has room for all these blocks.
void PadMessage(std::byte* bytes, std::size_t size_bytes);

// The digests of two messages of any lengths.
std::pair<Sha256Bytes, Sha256Bytes> Sha256OfTwo(std::span<const std::byte> a,
                                                std::span<const std::byte> b,
                                                PairEngine engine = BestPairEngine());

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DIGEST_PAIR_H_
