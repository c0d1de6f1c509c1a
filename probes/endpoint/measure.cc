// The stages, one after another.
#include "probes/endpoint/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

namespace rharness {
namespace {

// About 300 tokens: many blocks of a cache, which holds 16 to 64 tokens each.
std::string PrefixOf(std::uint64_t nonce, int repeat) {
  std::string prefix = fmt::format("Notes {:016x}-{}.\n", nonce, repeat);
  for (int line = 1; line <= 12; ++line) {
    prefix += fmt::format("Line {} of the notes says that the sum of {} and {} is {}, as before.\n",
                          line, line, line * 7, line * 8);
  }
  return prefix;
}

class EndpointStages {
 public:
  EndpointStages(EndpointClient* client, const EndpointPlan& plan, EndpointAnswers* out)
      : client_(*client), plan_(plan), out_(*out) {
    const std::size_t each = out_.prompts.size() * static_cast<std::size_t>(plan.repeats);
    total_ = each * (4 + SizesBeside(plan.at_a_time).size());
    total_ += (out_.prompts.size() + 1) * (plan.at_a_time > 1 ? 3 : 2);
  }

  Status Run() {
    RETURN_IF_ERROR(Alone(&out_.alone, "alone", false));
    RETURN_IF_ERROR(RefusedAll());
    for (const int size : SizesBeside(plan_.at_a_time)) RETURN_IF_ERROR(Beside(size));
    if (plan_.at_a_time > 1) RETURN_IF_ERROR(AloneAgain());
    RETURN_IF_ERROR(Alone(&out_.order, "in other orders", true));
    RETURN_IF_ERROR(AloneAgain());
    RETURN_IF_ERROR(ColdAndWarm());
    RETURN_IF_ERROR(AloneAgain());
    if (same_ids_) out_.stored = 0;  // one id for all says nothing
    return {};
  }

 private:
  std::vector<EndpointCase> Cases(int at_a_time) const {
    std::vector<EndpointCase> cases(out_.prompts.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      cases[i].prompt = i;
      cases[i].at_a_time = at_a_time;
    }
    return cases;
  }

  // Answers to these prompts into their cases.
  Status Ask(const std::vector<std::size_t>& order, const std::vector<EndpointPrompt>& prompts,
             int at_a_time, const char* stage, std::vector<EndpointCase>* cases) {
    std::vector<const EndpointPrompt*> asked;
    for (const std::size_t prompt : order) asked.push_back(&prompts[prompt]);
    if (plan_.progress) plan_.progress(stage, out_.requests, total_);
    return client_.AskAll(asked, at_a_time, [&](std::size_t i, Result<EndpointAnswer> answer) {
      EndpointCase& to = (*cases)[order[i]];
      ++out_.requests;
      if (!answer.ok()) {
        if (to.failed.empty()) to.failed = answer.error().ToString();
        return Status();
      }
      out_.answers_without_logprobs += answer->HasLogprobs() ? 0 : 1;
      SeeId(answer->id, order[i]);
      to.answers.push_back(Kept(order[i], std::move(*answer)));
      if (bytes_ <= kMostAnswerBytes) return Status();
      return Status(InvalidInput(
          fmt::format(
              "different answers take more than {} bytes; expected fewer prompts or repeats",
              kMostAnswerBytes),
          out_.prompts[order[i]].name));
    });
  }

  // A cache of whole answers gives the same request the same id again.
  void SeeId(const std::string& id, std::size_t prompt) {
    if (id.empty()) return;
    if (ids_.empty() || prefix_ != ids_prefix_) ids_.assign(out_.prompts.size(), "");
    ids_prefix_ = prefix_;
    if (ids_[prompt] == id) {
      ++out_.stored;
    } else if (last_id_ == id) {
      same_ids_ = true;
    }
    ids_[prompt] = last_id_ = id;
  }

  // One of the answers to this prompt that are known, if it is equal. The latest is the likeliest.
  std::shared_ptr<const EndpointAnswer> Kept(std::size_t prompt, EndpointAnswer answer) {
    auto& known = known_[prompt];
    for (auto one = known.rbegin(); one != known.rend(); ++one) {
      if (**one == answer && (*one)->model == answer.model &&
          (*one)->system_fingerprint == answer.system_fingerprint) {
        return *one;
      }
    }
    bytes_ += sizeof(answer) + answer.text.size() + answer.model.size() +
              answer.system_fingerprint.size();
    for (const auto* list : {&answer.tokens, &answer.logprobs}) {
      for (const std::string& text : *list) bytes_ += sizeof(text) + text.size();
    }
    known.push_back(std::make_shared<const EndpointAnswer>(std::move(answer)));
    return known.back();
  }

  Status Alone(std::vector<EndpointCase>* cases, const char* stage, bool other_orders) {
    *cases = Cases(1);
    for (int repeat = 0; repeat < plan_.repeats; ++repeat) {
      std::vector<std::size_t> order(out_.prompts.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      if (other_orders) order = OrderOf(order.size(), repeat);
      RETURN_IF_ERROR(Ask(order, out_.prompts, 1, stage, cases));
    }
    return {};
  }

  // As in `Alone`: the first prompt follows the last.
  Status AloneAgain() {
    std::vector<EndpointCase> before = Cases(1);
    RETURN_IF_ERROR(Ask({out_.prompts.size() - 1}, out_.prompts, 1, "alone again", &before));
    std::vector<std::size_t> order(out_.prompts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return Ask(order, out_.prompts, 1, "alone again", &out_.alone);
  }

  Status RefusedAll() const {
    const bool all = std::ranges::none_of(
        out_.alone, [](const EndpointCase& one) { return one.failed.empty(); });
    if (!all) return {};
    return InvalidInput("no prompt is answered: " + out_.alone.front().failed);
  }

  // One queue for all repeats, so that the server always has as many to do at a time. With fewer
  // prompts than that, a prompt is beside itself, too.
  Status Beside(int size) {
    std::vector<EndpointCase> cases = Cases(size);
    std::vector<std::size_t> queue;
    for (int repeat = 0; repeat < plan_.repeats; ++repeat) {
      for (std::size_t prompt = 0; prompt < cases.size(); ++prompt) queue.push_back(prompt);
    }
    while (queue.size() < static_cast<std::size_t>(size)) queue.push_back(queue.front());
    RETURN_IF_ERROR(Ask(queue, out_.prompts, size, "beside others", &cases));
    out_.beside.insert(out_.beside.end(), std::make_move_iterator(cases.begin()),
                       std::make_move_iterator(cases.end()));
    return {};
  }

  Status ColdAndWarm() {
    out_.cold = Cases(1);
    out_.warm = Cases(1);
    for (int repeat = 0; repeat < plan_.repeats; ++repeat) {
      prefix_ = repeat;
      std::vector<EndpointPrompt> longer;
      for (const EndpointPrompt& prompt : out_.prompts) {
        longer.push_back(WithPrefix(prompt, PrefixOf(plan_.nonce, repeat)));
      }
      // Each round begins with another prompt, which has nothing in the cache.
      std::vector<std::size_t> order(longer.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::rotate(
          order, order.begin() +
                     static_cast<std::ptrdiff_t>(static_cast<std::size_t>(repeat) % order.size()));
      RETURN_IF_ERROR(Ask(order, longer, 1, "behind a new prefix", &out_.cold));
      RETURN_IF_ERROR(Ask(order, longer, 1, "behind a known prefix", &out_.warm));
    }
    prefix_ = -1;
    return {};
  }

  EndpointClient& client_;
  const EndpointPlan& plan_;
  EndpointAnswers& out_;
  std::size_t total_ = 0;
  std::size_t bytes_ = 0;  // of the known answers
  int prefix_ = -1;        // before the prompts that are asked now; -1: none
  // The latest ids: of each prompt behind `ids_prefix_`, and of all.
  std::vector<std::string> ids_;
  int ids_prefix_ = -1;
  std::string last_id_;
  bool same_ids_ = false;
  std::map<std::size_t, std::vector<std::shared_ptr<const EndpointAnswer>>> known_;  // by prompt
};

}  // namespace

std::vector<int> SizesBeside(int at_a_time) {
  std::vector<int> sizes;
  for (int size = 2; size < at_a_time; size *= 2) sizes.push_back(size);
  if (at_a_time > 1) sizes.push_back(at_a_time);
  return sizes;
}

std::vector<std::size_t> OrderOf(std::size_t prompts, int repeat) {
  std::vector<std::size_t> order(prompts);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (repeat == 0) return order;
  std::mt19937_64 random(static_cast<std::uint64_t>(repeat));
  for (std::size_t left = prompts; left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return order;
}

Result<EndpointAnswers> MeasureEndpoint(const EndpointOptions& options,
                                        std::vector<EndpointPrompt> prompts,
                                        const EndpointPlan& plan) {
  ASSIGN_OR_RETURN(EndpointClient client, EndpointClient::Connect(options));
  EndpointAnswers out;
  out.prompts = std::move(prompts);
  out.repeats = plan.repeats;
  out.at_a_time = plan.at_a_time;
  // The last one, so that the first prompt follows it in every round. Another may be answered where
  // this one is refused.
  const auto first = client.AskFirst(out.prompts.back());
  if (!first.ok() && out.prompts.size() == 1) return first.error();
  ++out.requests;
  RETURN_IF_ERROR(EndpointStages(&client, plan, &out).Run());
  out.identity = client.identity();
  out.base = client.base();
  out.without_logprobs = client.without_logprobs();
  if (out.without_logprobs.empty() && out.answers_without_logprobs > 0) {
    out.without_logprobs = fmt::format("{} of {} answers have no log-probabilities",
                                       out.answers_without_logprobs, out.requests);
  }
  out.logprobs = client.logprobs() && out.without_logprobs.empty();
  return out;
}

}  // namespace rharness
