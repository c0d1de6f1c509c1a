// All answers of one server that a fingerprint is made of.
//
// Role: the order of the requests. Each prompt is asked `repeats` times
//   alone    one request at a time, prompt after prompt
//   beside   as many at a time as 2, 4, ... and `at_a_time`, so that batches of several sizes form
//   order    alone again, the prompts in other orders: what was asked before differs
//   cold     alone, behind a long prefix that no server has seen, so that nothing of it is cached;
//            the prompts of one round share it
//   warm     the same once more, from the cache if the server has one
// Behind each of the three other conditions every prompt is asked once more as in `alone`: a server
// that was replaced or restarted meanwhile answers otherwise there, too.
#ifndef RHARNESS_PROBES_ENDPOINT_MEASURE_H_
#define RHARNESS_PROBES_ENDPOINT_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "probes/endpoint/client.h"

namespace rharness {

// The answers to one prompt under one condition, in the order in which they came.
struct EndpointCase {
  std::size_t prompt = 0;
  int at_a_time = 1;
  std::vector<std::shared_ptr<const EndpointAnswer>> answers;  // equal ones are one
  std::string failed;  // why one of them is none; the case then shows nothing
};

struct EndpointAnswers {
  EndpointIdentity identity;
  std::string base;
  bool logprobs = false;                     // asked for, and given
  std::string without_logprobs;              // why there are none
  std::size_t answers_without_logprobs = 0;  // of all tokens of the answer
  std::vector<EndpointPrompt> prompts;
  int repeats = 0;
  int at_a_time = 1;
  // A case a prompt, here and below but for `beside`; `repeats` answers, and those asked later.
  std::vector<EndpointCase> alone;
  std::vector<EndpointCase> beside;  // by number at a time, then by prompt
  std::vector<EndpointCase> order;
  std::vector<EndpointCase> cold;
  std::vector<EndpointCase> warm;
  std::size_t requests = 0;
  std::size_t stored = 0;  // answers with the id of an earlier one to the same request
};

inline constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 30;  // of all distinct answers

struct EndpointPlan {
  int repeats = 10;
  int at_a_time = 8;        // 1: nothing is asked beside others
  std::uint64_t nonce = 0;  // of the prefixes; another one each time
  std::function<void(std::string_view stage, std::size_t done, std::size_t of)> progress = {};
};

// 2, 4, ... below `at_a_time`, and that.
std::vector<int> SizesBeside(int at_a_time);
// The order of the prompts in a repeat: the first is the file's backwards, then shuffled ones, the
// same each time.
std::vector<std::size_t> OrderOf(std::size_t prompts, int repeat);

// Errors: the connection's; of the first prompt if the server refuses every prompt alone;
// invalid_input where answers take more than kMostAnswerBytes.
Result<EndpointAnswers> MeasureEndpoint(const EndpointOptions& options,
                                        std::vector<EndpointPrompt> prompts,
                                        const EndpointPlan& plan);

}  // namespace rharness

#endif  // RHARNESS_PROBES_ENDPOINT_MEASURE_H_
