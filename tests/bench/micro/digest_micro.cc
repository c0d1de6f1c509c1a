// SHA-256 in memory: one stream, two lanes, and messages of 4 KiB, beside OpenSSL's own call.
#include <benchmark/benchmark.h>
#include <openssl/evp.h>

#include <vector>

#include "harness/base/digest.h"
#include "harness/base/digest_pair.h"

namespace rharness {
namespace {

std::vector<std::byte> Message(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 31 + i / 7) ^ seed);
  return bytes;
}

Sha256Bytes OfOpenSsl(std::span<const std::byte> bytes) {
  Sha256Bytes digest{};
  ::EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

void OneStream(benchmark::State& state) {
  const auto message = Message(static_cast<std::size_t>(state.range(0)), 1);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(Sha256Of(message));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(OneStream)->Name("sha256/one_stream")->Arg(1 << 20);

void OpenSsl(benchmark::State& state) {
  const auto message = Message(static_cast<std::size_t>(state.range(0)), 1);
  if (OfOpenSsl(message) != Sha256Of(message)) state.SkipWithError("the digests differ");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(OfOpenSsl(message));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(OpenSsl)->Name("sha256/openssl")->Arg(4 << 10)->Arg(1 << 20);

void TwoLanes(benchmark::State& state) {
  const auto a = Message(static_cast<std::size_t>(state.range(0)), 1);
  const auto b = Message(static_cast<std::size_t>(state.range(0)), 2);
  const auto both = Sha256OfTwo(a, b);
  if (both != std::pair(OfOpenSsl(a), OfOpenSsl(b))) state.SkipWithError("the digests differ");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(Sha256OfTwo(a, b));
  state.SetBytesProcessed(2 * state.iterations() * state.range(0));
}
BENCHMARK(TwoLanes)->Name("sha256/two_lanes")->Arg(4 << 10)->Arg(1 << 20);

}  // namespace
}  // namespace rharness
