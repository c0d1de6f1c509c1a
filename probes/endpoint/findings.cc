// Counting distinct answers, and telling a condition's effect from chance.
#include "probes/endpoint/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/base/clean_text.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

constexpr std::string_view kAsAlone = "as_alone", kAsCold = "as_cold";
constexpr char kServingFamily[] = "serving";
constexpr std::size_t kLongestKeptText = 4096;  // bytes, where an answer has no tokens

std::string Counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

Json Strings(const std::vector<std::string>& values) {
  Json array = Json::MakeArray();
  for (const std::string& value : values) array.Append(value);
  return array;
}

Json AnswerJson(const EndpointAnswer& answer) {
  Json json = Json().Set("finish_reason", answer.finish);
  json.Set("text_sha256", Sha256HexOf(answer.text));
  if (answer.tokens.empty()) {
    json.Set("text", answer.text.substr(0, kLongestKeptText));
  } else {
    json.Set("tokens", Strings(answer.tokens)).Set("logprobs", Strings(answer.logprobs));
  }
  return json;
}

// Of the answers to one prompt in one condition.
struct Distinct {
  std::size_t completions = 0;
  std::size_t answers = 0;  // with their log-probabilities
  std::string parting;      // of the first answer from the first other one
};

Distinct CountDistinct(const std::vector<std::shared_ptr<const EndpointAnswer>>& answers) {
  Distinct out;
  std::vector<const EndpointAnswer*> completions, all;
  for (const auto& answer : answers) {
    const auto is_answer = [&](const auto* one) { return *one == *answer; };
    if (std::ranges::any_of(all, is_answer)) continue;
    all.push_back(answer.get());
    const auto is_completion = [&](const auto* one) { return one->SameCompletion(*answer); };
    if (std::ranges::none_of(completions, is_completion)) completions.push_back(answer.get());
  }
  out.completions = completions.size();
  out.answers = all.size();
  const auto& apart = completions.size() > 1 ? completions : all;
  if (apart.size() > 1) out.parting = PartingOf(*apart[0], *apart[1]);
  return out;
}

// "4 distinct completions of 10, which part at token 7: ' a' and ' b'"
std::string WordsOf(const Distinct& distinct, std::size_t of) {
  if (distinct.completions > 1) {
    return fmt::format("{} distinct completions of {}, which part {}", distinct.completions, of,
                       distinct.parting);
  }
  return fmt::format(
      "one completion, with {} distinct sets of log-probabilities of {}, which part "
      "{}",
      distinct.answers, of, distinct.parting);
}

// A probe under construction.
struct ServingProbe {
  std::string name;
  Json parameters;
  Json choices = Json::MakeObject();
  Json bits = Json::MakeObject();
  std::vector<std::string> unstable;
  std::vector<std::string> notes;
  std::size_t answers = 0;
  std::size_t differing = 0;
  std::size_t cases = 0;
  std::size_t failed = 0;
  std::string first_failed;

  void Fail(const std::string& name_of_case, const std::string& why) {
    choices.AppendMember(name_of_case, Json().Set("failed", why));
    if (failed++ == 0) first_failed = fmt::format("{}: {}", name_of_case, why);
  }
  Json ToJson() const {
    const bool ok = failed < cases;
    Json json = Json().Set("name", name).Set("family", kServingFamily);
    json.Set("status", ok ? "ok" : "failed").Set("message", ok ? "" : first_failed);
    json.Set("parameters", parameters).Set("choice", choices).Set("bits", bits);
    json.Set("deterministic", unstable.empty()).Set("unstable", Strings(unstable));
    json.Set("counts", Json().Set("answers", answers).Set("differing", differing));
    return json.Set("notes", Strings(notes));
  }
};

// How many answers of a condition are not what they are without it.
struct Compared {
  std::string_view condition;  // "beside others"
  std::string_view reference;  // "those alone"
  std::size_t answers = 0;
  std::size_t differing = 0;
  std::set<std::size_t> prompts;  // whose answers differ
  std::string first;              // "prompt 1 '...' beside 3: at token 2: ..."
};

// That all of `differing` of `answers` and `without` fall among the former by chance: the smallest
// tail of Fisher's exact test.
double ChanceOf(const Compared& compared, std::size_t without) {
  double chance = 1.0;
  for (std::size_t i = 0; i < compared.differing; ++i) {
    chance *= static_cast<double>(compared.answers - i) /
              static_cast<double>(compared.answers + without - i);
  }
  return chance;
}

class EndpointJudge {
 public:
  explicit EndpointJudge(const EndpointAnswers& answers) : in_(answers) {
    parameters_ = Json()
                      .Set("prompts_sha256", DigestOf(in_.prompts))
                      .Set("prompts", in_.prompts.size())
                      .Set("logprobs", in_.logprobs)
                      .Set("temperature", 0)
                      .Set("seed", 0);
  }

  EndpointFingerprint Run() {
    std::vector<ServingProbe> probes;
    probes.push_back(JudgeAlone());
    if (!in_.beside.empty()) {
      probes.push_back(JudgeBeside());
    }
    probes.push_back(JudgeOrder());
    probes.push_back(JudgePrefix());
    out_.probes = Json::MakeArray();
    for (const ServingProbe& probe : probes) {
      out_.probes.Append(probe.ToJson());
      out_.failed += static_cast<int>(probe.failed);
      if (out_.first_failed.empty()) out_.first_failed = probe.first_failed;
    }
    DescribeEndpoint();
    return std::move(out_);
  }

 private:
  const std::string& NameOf(std::size_t prompt) const { return in_.prompts[prompt].name; }

  ServingProbe Begin(const char* name) const {
    ServingProbe probe;
    probe.name = name;
    probe.parameters = parameters_;
    return probe;
  }

  void Tell(EndpointFindingKind kind, std::string sentence, ServingProbe* probe) {
    probe->notes.push_back(sentence);
    out_.findings.push_back({kind, std::move(sentence)});
  }

  ServingProbe JudgeAlone() {
    ServingProbe probe = Begin("endpoint_alone");
    std::string first;
    std::size_t changed = 0;
    for (const EndpointCase& one : in_.alone) {
      ++probe.cases;
      if (!one.failed.empty()) {
        probe.Fail(NameOf(one.prompt), one.failed);
        continue;
      }
      probe.answers += one.answers.size();
      alone_answers_ += one.answers.size();
      const Distinct distinct = CountDistinct(one.answers);
      Json choice = AnswerJson(*one.answers.front());
      if (distinct.answers == 1) {
        probe.bits.AppendMember(NameOf(one.prompt), DigestOf(*one.answers.front()));
      } else {
        const std::string words = WordsOf(distinct, one.answers.size());
        if (first.empty()) first = fmt::format("{}: {}", NameOf(one.prompt), words);
        choice.Set("differs", words);
        probe.differing += distinct.answers - 1;
        probe.unstable.push_back(NameOf(one.prompt));
        unstable_.insert(one.prompt);
        changed += ChangedLater(one) ? 1 : 0;
      }
      probe.choices.AppendMember(NameOf(one.prompt), std::move(choice));
    }
    if (changed > 0 && changed == unstable_.size()) {
      Tell(
          EndpointFindingKind::kChanged,
          fmt::format("the server changed while it was measured, or is not deterministic: {} of {} "
                      "asked alone {} another answer than at the beginning; {}; measure it again",
                      changed, Counted(in_.prompts.size(), "prompt"), changed == 1 ? "gets" : "get",
                      first),
          &probe);
    } else if (!first.empty()) {
      Tell(EndpointFindingKind::kNotDeterministic,
           fmt::format("not deterministic: {} of {} asked alone at temperature 0 {} different "
                       "answers; {}",
                       unstable_.size(), Counted(in_.prompts.size(), "prompt"),
                       unstable_.size() == 1 ? "gets" : "get", first),
           &probe);
    }
    return probe;
  }

  // All of the first repeats agree; the answers asked later change once, and stay so.
  bool ChangedLater(const EndpointCase& one) const {
    const auto repeats = static_cast<std::size_t>(in_.repeats);
    if (one.answers.size() <= repeats) return false;
    std::size_t changes = 0;
    for (std::size_t i = 1; i < one.answers.size(); ++i) {
      const bool same = *one.answers[i] == *one.answers[i - 1];
      if (!same && i < repeats) return false;
      changes += same ? 0 : 1;
    }
    return changes == 1;
  }

  // A case that compares each answer with another: `reference_of` the answer's number. Those that
  // have references of their own always differ where each does.
  template <class ReferenceOf>
  void CompareCase(const EndpointCase& one, const std::string& name, std::string_view member,
                   ReferenceOf reference_of, ServingProbe* probe, Compared* compared) {
    std::size_t differing = 0;
    std::string parting;
    const bool own_references = member == kAsCold;
    bool alike = true;  // the differing answers are one
    for (std::size_t i = 0; i < one.answers.size(); ++i) {
      const EndpointAnswer& reference = reference_of(i);
      if (*one.answers[i] == reference) continue;
      if (differing++ == 0) parting = PartingOf(reference, *one.answers[i]);
      alike = alike && (*one.answers[i] == *one.answers.front() || own_references);
    }
    compared->answers += one.answers.size();
    compared->differing += differing;
    Json choice = Json().Set(member, differing == 0);
    if (differing > 0) {
      compared->prompts.insert(one.prompt);
      if (compared->first.empty()) compared->first = fmt::format("{}: {}", name, parting);
      const bool always = alike && differing == one.answers.size();
      choice.Set("differs", always ? parting
                                   : fmt::format("{} of {} answers, first {}", differing,
                                                 one.answers.size(), parting));
      if (!always) probe->unstable.push_back(name);
    }
    probe->choices.AppendMember(name, std::move(choice));
  }

  // What differs alone already says nothing of a condition.
  bool CanCompare(const EndpointCase& one, const std::string& name, ServingProbe* probe) const {
    ++probe->cases;
    if (!one.failed.empty() || !in_.alone[one.prompt].failed.empty()) {
      probe->Fail(name, one.failed.empty() ? in_.alone[one.prompt].failed : one.failed);
      return false;
    }
    if (!unstable_.contains(one.prompt)) return true;
    probe->choices.AppendMember(name, Json().Set("differs", "its answers alone differ already"));
    probe->unstable.push_back(name);
    return false;
  }

  void Conclude(const Compared& compared, EndpointFindingKind kind, std::string_view verdict,
                ServingProbe* probe) {
    probe->answers = compared.answers;
    probe->differing = compared.differing;
    if (compared.differing == 0) return;
    const double chance = ChanceOf(compared, alone_answers_);
    const bool shown = chance <= kConditionAlpha;
    Tell(shown ? kind : EndpointFindingKind::kOpen,
         fmt::format("{}: of {} {} {} not {}, in {}, and of {} alone none differs (chance {:.2g}); "
                     "first {}",
                     shown ? verdict : "open whether by chance",
                     Counted(compared.answers, "answer"), compared.condition,
                     compared.differing == 1 ? "1 is" : fmt::format("{} are", compared.differing),
                     compared.reference, Counted(compared.prompts.size(), "prompt"), alone_answers_,
                     chance, compared.first),
         probe);
  }

  ServingProbe JudgeBeside() {
    ServingProbe probe = Begin("endpoint_batch");
    probe.parameters.Set("at_a_time", in_.at_a_time);
    Compared compared{.condition = "beside others", .reference = "as alone"};
    for (const EndpointCase& one : in_.beside) {
      const std::string name = fmt::format("{} beside {}", NameOf(one.prompt), one.at_a_time - 1);
      if (!CanCompare(one, name, &probe)) continue;
      const EndpointAnswer& alone = *in_.alone[one.prompt].answers.front();
      CompareCase(
          one, name, kAsAlone, [&](std::size_t) -> const EndpointAnswer& { return alone; }, &probe,
          &compared);
    }
    Conclude(compared, EndpointFindingKind::kNotBatchInvariant, "not batch invariant", &probe);
    return probe;
  }

  ServingProbe JudgeOrder() {
    ServingProbe probe = Begin("endpoint_order");
    Compared compared{.condition = "after other prompts", .reference = "as in the file's order"};
    for (const EndpointCase& one : in_.order) {
      if (!CanCompare(one, NameOf(one.prompt), &probe)) continue;
      const EndpointAnswer& alone = *in_.alone[one.prompt].answers.front();
      CompareCase(
          one, NameOf(one.prompt), kAsAlone,
          [&](std::size_t) -> const EndpointAnswer& { return alone; }, &probe, &compared);
    }
    Conclude(compared, EndpointFindingKind::kOrder, "depends on the order of prompts", &probe);
    return probe;
  }

  ServingProbe JudgePrefix() {
    ServingProbe probe = Begin("endpoint_prefix");
    Compared compared{.condition = "with a known prefix", .reference = "as with a new one"};
    for (const EndpointCase& one : in_.warm) {
      const EndpointCase& cold = in_.cold[one.prompt];
      EndpointCase both = one;
      if (both.failed.empty()) both.failed = cold.failed;
      if (!CanCompare(both, NameOf(one.prompt), &probe)) continue;
      CompareCase(
          one, NameOf(one.prompt), kAsCold,
          [&](std::size_t i) -> const EndpointAnswer& { return *cold.answers[i]; }, &probe,
          &compared);
    }
    Conclude(compared, EndpointFindingKind::kPrefix, "the prefix cache changes answers", &probe);
    return probe;
  }

  void DescribeEndpoint() {
    std::set<std::string> fingerprints, models;
    for (const auto* stage : {&in_.alone, &in_.beside, &in_.order, &in_.cold, &in_.warm}) {
      for (const EndpointCase& one : *stage) {
        for (const auto& answer : one.answers) {
          fingerprints.insert(CleanText(answer->system_fingerprint, kMostIdentityBytes));
          models.insert(CleanText(answer->model, kMostIdentityBytes));
        }
      }
    }
    models.erase("");
    if (in_.stored > 0) {
      out_.findings.push_back(
          {EndpointFindingKind::kStored,
           fmt::format("answers come from a cache of whole answers: {} of {} have the id of an "
                       "earlier answer, so that it shows nothing that they are equal; ask the "
                       "server itself, or without that cache",
                       in_.stored, Counted(in_.requests, "answer"))});
    }
    const std::vector<std::string> all(fingerprints.begin(), fingerprints.end());
    out_.endpoint = Json().Set("model", in_.identity.model);
    out_.endpoint.Set("answers_as", fmt::format("{}", fmt::join(models, ", ")));
    out_.endpoint.Set("server", in_.identity.server).Set("version", in_.identity.version);
    out_.endpoint.Set("system_fingerprint", fmt::format("{}", fmt::join(all, ", ")));
    if (models.size() > 1) {
      out_.findings.push_back(
          {EndpointFindingKind::kSeveralServers,
           fmt::format("more than one server or configuration answers: as {} models: {}",
                       models.size(), fmt::join(models, ", "))});
    }
    if (all.size() < 2) return;
    out_.findings.push_back(
        {EndpointFindingKind::kSeveralServers,
         fmt::format("more than one server or configuration answers: {} values of "
                     "system_fingerprint: {}",
                     all.size(), fmt::join(all.begin(), all.begin() + 2, ", "))});
  }

  const EndpointAnswers& in_;
  Json parameters_;
  std::set<std::size_t> unstable_;  // prompts, alone
  std::size_t alone_answers_ = 0;
  EndpointFingerprint out_;
};

}  // namespace

EndpointFingerprint JudgeEndpoint(const EndpointAnswers& answers) {
  return EndpointJudge(answers).Run();
}

}  // namespace rharness
