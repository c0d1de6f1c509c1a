// Negative control: threads that add atomically to one float, in the order in which they come.
// A suite that finds this stable cannot find anything unstable.
#include <atomic>
#include <barrier>
#include <set>
#include <thread>

#include "probes/cpu/reveal_case.h"

namespace rharness {
namespace {

constexpr int kThreads = 4;
constexpr int kTermsEach = 4096;
// A busy machine may hand its one free core round in the same way many times over.
constexpr int kMostRuns = 2000;

// Threads start together and give way often, so that they interleave on any number of cores.
float AtomicSum(std::span<const float> terms) {
  std::atomic<float> sum = 0.0F;
  std::barrier start(kThreads);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      for (int i = 0; i < kTermsEach; ++i) {
        sum.fetch_add(terms[static_cast<std::size_t>(thread * kTermsEach + i)]);
        if (i % 64 == 63) std::this_thread::yield();
      }
    });
  }
  threads.clear();
  return sum;
}

ProbeResult RunAtomicSpread(const ProbeContext& context) {
  ProbeResult result;
  result.parameters = Json::MakeObject(
      {{"threads", kThreads}, {"terms_each", kTermsEach}, {"most_runs", kMostRuns}});
  const std::vector<float> terms = RandomFloats(context.seed, kThreads * kTermsEach);
  std::set<float> values;
  for (int run = 0; run < kMostRuns && values.size() < 2; ++run) values.insert(AtomicSum(terms));
  if (values.size() > 1) result.unstable.push_back("fp32 atomic sum");
  return result;
}

const RegisterProbe kAtomicSpreadProbe({.name = "atomic_spread",
                                        .family = "reduction",
                                        .summary = "atomic float adds of threads: must be unstable",
                                        .run = RunAtomicSpread,
                                        .must_be_unstable = true});

}  // namespace
}  // namespace rharness
