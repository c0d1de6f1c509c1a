// The interleaved SHA-256 rounds, and the choice of their engine.
//
// Written from FIPS 180-4 sections 4.2.2, 5.1.1, 5.3.3 and 6.2.2, and from the descriptions of
// SHA256RNDS2, SHA256MSG1 and SHA256MSG2 in Intel's Software Developer's Manual, volume 2.
#include "harness/base/digest_pair.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace rharness {
namespace {

// H(0) as SHA256RNDS2 wants it, lowest word first: F E B A, then H G D C.
constexpr std::array<std::uint32_t, 8> kInitialWords = {
    0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667, 0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372};
// Where the words A..H lie in that order.
constexpr std::array<std::size_t, 8> kPlaceOf = {3, 2, 7, 6, 1, 0, 5, 4};

#if defined(__x86_64__)

#define RHARNESS_SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

alignas(16) constexpr std::uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool CpuHasShaExtensions() {
  constexpr unsigned kShaBit = 1U << 29;  // CPUID leaf 7, EBX
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (ebx & kShaBit) == 0) return false;
  return __builtin_cpu_supports("sse4.1") != 0 && __builtin_cpu_supports("ssse3") != 0;
}

// One lane while its blocks are compressed: the working variables and the last 16 schedule words.
struct Working {
  __m128i abef;
  __m128i cdgh;
  __m128i schedule[4];
};

#define RHARNESS_SHA_INLINE RHARNESS_SHA_TARGET inline __attribute__((always_inline))

// The schedule words t = 4 * group .. 4 * group + 3 of `block`, in place of the oldest four.
RHARNESS_SHA_INLINE void Schedule(Working& w, int group, const std::byte* block) {
  __m128i& words = w.schedule[group % 4];
  if (group < 4) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    words = _mm_shuffle_epi8(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + std::ptrdiff_t{16} * group)),
        big_endian);
    return;
  }
  const __m128i second = w.schedule[(group + 1) % 4];
  const __m128i third = w.schedule[(group + 2) % 4];
  const __m128i newest = w.schedule[(group + 3) % 4];
  const __m128i partial =
      _mm_add_epi32(_mm_sha256msg1_epu32(words, second), _mm_alignr_epi8(newest, third, 4));
  words = _mm_sha256msg2_epu32(partial, newest);
}

// Keeps the compiler from moving an instruction past its neighbours: its own order of the rounds
// costs a few percent on cores that issue one SHA instruction every second cycle.
RHARNESS_SHA_INLINE void Pin(__m128i& value) { asm volatile("" : "+x"(value)); }

// Four rounds of every lane, the lanes taking turns after every second round: each has its next
// instruction waiting while the others' are computed.
template <int kLanes>
RHARNESS_SHA_INLINE void FourRounds(Working (&lanes)[kLanes], int group) {
  const __m128i constants =
      _mm_load_si128(reinterpret_cast<const __m128i*>(kRoundConstants + std::ptrdiff_t{4} * group));
  __m128i lower[kLanes];
  __m128i upper[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    lower[i] = _mm_add_epi32(lanes[i].schedule[group % 4], constants);
  }
  for (int i = 0; i < kLanes; ++i) {
    upper[i] = _mm_shuffle_epi32(lower[i], 0x0e);
    Pin(upper[i]);
  }
  for (int i = 0; i < kLanes; ++i) {
    lanes[i].cdgh = _mm_sha256rnds2_epu32(lanes[i].cdgh, lanes[i].abef, lower[i]);
    Pin(lanes[i].cdgh);
  }
  for (int i = 0; i < kLanes; ++i) {
    lanes[i].abef = _mm_sha256rnds2_epu32(lanes[i].abef, lanes[i].cdgh, upper[i]);
    Pin(lanes[i].abef);
  }
}

// Compresses `blocks` blocks of each lane into that lane's words.
template <int kLanes>
RHARNESS_SHA_TARGET void Compress(std::uint32_t* const (&words)[kLanes],
                                  const std::byte* const (&data)[kLanes], std::size_t blocks) {
  Working lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    lanes[i].abef = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words[i]));
    lanes[i].cdgh = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words[i] + 4));
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    __m128i before[kLanes][2];
    for (int i = 0; i < kLanes; ++i) {
      before[i][0] = lanes[i].abef;
      before[i][1] = lanes[i].cdgh;
    }
#pragma GCC unroll 16
    for (int group = 0; group < 16; ++group) {
#pragma GCC unroll 2
      for (int i = 0; i < kLanes; ++i) {
        Schedule(lanes[i], group, data[i] + block * Sha256Pair::kBlockBytes);
      }
      FourRounds(lanes, group);
    }
    for (int i = 0; i < kLanes; ++i) {
      lanes[i].abef = _mm_add_epi32(lanes[i].abef, before[i][0]);
      lanes[i].cdgh = _mm_add_epi32(lanes[i].cdgh, before[i][1]);
    }
  }
  for (int i = 0; i < kLanes; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words[i]), lanes[i].abef);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words[i] + 4), lanes[i].cdgh);
  }
}

#undef RHARNESS_SHA_INLINE
#undef RHARNESS_SHA_TARGET

#else

bool CpuHasShaExtensions() { return false; }

// Never reached: the constructor of Sha256Pair refuses the engine that would call it.
template <int kLanes>
void Compress(std::uint32_t* const (&)[kLanes], const std::byte* const (&)[kLanes], std::size_t) {
  Abort("no SHA extensions on this architecture");
}

#endif

// `value` as eight bytes at `out`, the highest first.
void PutBigEndian(std::uint64_t value, std::byte* out) {
  value = htobe64(value);
  std::memcpy(out, &value, sizeof(value));
}

// The padded end of a message.
struct PaddedTail {
  std::array<std::byte, 2 * Sha256Pair::kBlockBytes> bytes;  // the first `blocks` of them are set
  std::size_t blocks = 0;
};

// `tail` is shorter than a block.
void Pad(std::span<const std::byte> tail, std::uint64_t size_bytes, PaddedTail* padded) {
  padded->blocks = PaddedBlocks(tail.size());
  if (!tail.empty()) std::memcpy(padded->bytes.data(), tail.data(), tail.size());
  PadMessage(padded->bytes.data(), tail.size());
  PutBigEndian(size_bytes * 8, padded->bytes.data() + padded->blocks * Sha256Pair::kBlockBytes - 8);
}

// The digest that the words are, in the order of FIPS 180-4.
Sha256Bytes DigestOf(const std::array<std::uint32_t, 8>& words) {
  Sha256Bytes digest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t word = htobe32(words[kPlaceOf[i]]);
    std::memcpy(digest.data() + 4 * i, &word, sizeof(word));
  }
  return digest;
}

}  // namespace

PairEngine BestPairEngine() {
  static const PairEngine engine =
      CpuHasShaExtensions() ? PairEngine::kShaExtensions : PairEngine::kOpenSsl;
  return engine;
}

Sha256Pair::Sha256Pair(PairEngine engine) : engine_(engine) {
  if (engine == PairEngine::kShaExtensions && BestPairEngine() != engine) {
    Abort("the SHA extensions were asked for on a CPU without them");
  }
  for (Lane& lane : lanes_) lane.words = kInitialWords;
}

void Sha256Pair::Reset(Lane& lane) {
  lane.words = kInitialWords;
  lane.size_bytes = 0;
  if (engine_ == PairEngine::kOpenSsl) lane.open_ssl = Sha256();
}

void Sha256Pair::UpdateBoth(const std::byte* lane0, const std::byte* lane1, std::size_t blocks) {
  if (engine_ == PairEngine::kOpenSsl) {
    UpdateOne(0, lane0, blocks);
    UpdateOne(1, lane1, blocks);
    return;
  }
  for (Lane& lane : lanes_) lane.size_bytes += blocks * kBlockBytes;
  Compress<2>({lanes_[0].words.data(), lanes_[1].words.data()}, {lane0, lane1}, blocks);
}

void Sha256Pair::UpdateOne(int lane_index, const std::byte* data, std::size_t blocks) {
  Lane& lane = lanes_[static_cast<std::size_t>(lane_index)];
  lane.size_bytes += blocks * kBlockBytes;
  if (engine_ == PairEngine::kOpenSsl) {
    lane.open_ssl.Update(std::span(data, blocks * kBlockBytes));
  } else {
    Compress<1>({lane.words.data()}, {data}, blocks);
  }
}

Sha256Bytes Sha256Pair::Finish(int lane_index, std::span<const std::byte> tail) {
  Lane& lane = lanes_[static_cast<std::size_t>(lane_index)];
  Sha256Bytes digest;
  if (engine_ == PairEngine::kOpenSsl) {
    lane.open_ssl.Update(tail);
    digest = lane.open_ssl.Finish();
  } else {
    const std::size_t whole = tail.size() / kBlockBytes;
    UpdateOne(lane_index, tail.data(), whole);
    const std::span<const std::byte> rest = tail.subspan(whole * kBlockBytes);
    PaddedTail padded;
    Pad(rest, lane.size_bytes + rest.size(), &padded);
    Compress<1>({lane.words.data()}, {padded.bytes.data()}, padded.blocks);
    digest = DigestOf(lane.words);
  }
  Reset(lane);
  return digest;
}

std::pair<Sha256Bytes, Sha256Bytes> Sha256Pair::FinishBoth(std::span<const std::byte> tail0,
                                                           std::span<const std::byte> tail1) {
  const std::size_t whole = std::min(tail0.size(), tail1.size()) / kBlockBytes;
  if (whole > 0) UpdateBoth(tail0.data(), tail1.data(), whole);
  tail0 = tail0.subspan(whole * kBlockBytes);
  tail1 = tail1.subspan(whole * kBlockBytes);
  const std::size_t longest = std::max(tail0.size(), tail1.size());
  const bool alike = longest < kBlockBytes &&
                     (tail0.size() + 9 <= kBlockBytes) == (tail1.size() + 9 <= kBlockBytes);
  if (engine_ == PairEngine::kOpenSsl || !alike) return {Finish(0, tail0), Finish(1, tail1)};
  PaddedTail padded0, padded1;
  Pad(tail0, lanes_[0].size_bytes + tail0.size(), &padded0);
  Pad(tail1, lanes_[1].size_bytes + tail1.size(), &padded1);
  Compress<2>({lanes_[0].words.data(), lanes_[1].words.data()},
              {padded0.bytes.data(), padded1.bytes.data()}, padded0.blocks);
  std::pair<Sha256Bytes, Sha256Bytes> digests = {DigestOf(lanes_[0].words),
                                                 DigestOf(lanes_[1].words)};
  for (Lane& lane : lanes_) Reset(lane);
  return digests;
}

std::pair<Sha256Bytes, Sha256Bytes> Sha256Pair::FinishPadded(const std::byte* lane0,
                                                             const std::byte* lane1,
                                                             std::size_t blocks) {
  if (engine_ == PairEngine::kOpenSsl) {
    const auto message = [blocks](const std::byte* data) {
      const std::size_t end = blocks * kBlockBytes;
      std::uint64_t bits = 0;
      for (std::size_t i = end - 8; i < end; ++i)
        bits = bits << 8 | std::to_integer<unsigned>(data[i]);
      return std::span(data, std::min<std::size_t>(bits / 8, end));
    };
    return {Finish(0, message(lane0)), Finish(1, message(lane1))};
  }
  Compress<2>({lanes_[0].words.data(), lanes_[1].words.data()}, {lane0, lane1}, blocks);
  std::pair<Sha256Bytes, Sha256Bytes> digests = {DigestOf(lanes_[0].words),
                                                 DigestOf(lanes_[1].words)};
  for (Lane& lane : lanes_) lane.words = kInitialWords;
  return digests;
}

void PadMessage(std::byte* bytes, std::size_t size_bytes) {
  const std::size_t end = PaddedBlocks(size_bytes) * Sha256Pair::kBlockBytes;
  bytes[size_bytes] = std::byte{0x80};
  std::memset(bytes + size_bytes + 1, 0, end - size_bytes - 1);
  PutBigEndian(std::uint64_t{size_bytes} * 8, bytes + end - 8);
}

std::pair<Sha256Bytes, Sha256Bytes> Sha256OfTwo(std::span<const std::byte> a,
                                                std::span<const std::byte> b, PairEngine engine) {
  Sha256Pair pair(engine);
  const std::size_t both = std::min(a.size(), b.size()) / Sha256Pair::kBlockBytes;
  pair.UpdateBoth(a.data(), b.data(), both);
  const std::size_t done = both * Sha256Pair::kBlockBytes;
  return {pair.Finish(0, a.subspan(done)), pair.Finish(1, b.subspan(done))};
}

}  // namespace rharness
