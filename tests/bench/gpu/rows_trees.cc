// Rows G1 and G2: the order of an fp16 product's sums, asked many questions a launch and one.
//
// Both ask the same questions of products of one shape, through the probes' own code: matrices are
// built on the host, copied, multiplied, and the product copied back.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "probes/gpu/gemm.h"
#include "probes/order/tree_name.h"
#include "tests/bench/gpu/gpu_bench.h"

namespace rharness::bench {
namespace {

constexpr char kG1[] = "launches to reveal an fp16 product's order";
constexpr char kG2[] = "one question a launch, time over that of batches";
constexpr int kRows = 256, kColumns = 128;
constexpr std::size_t kPilotQuestions = 8;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Question {
  MaskPair pair;
  UnitRange units;
  double answer = 0;
};

// Keeps what another sum is asked, and what it answers.
class RecordingSum final : public MaskedSum {
 public:
  explicit RecordingSum(MaskedSum& sum) : sum_(sum) {}
  int size() const override { return sum_.size(); }
  int max_batch() const override { return sum_.max_batch(); }
  std::int64_t exact_count() const override { return sum_.exact_count(); }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    RETURN_IF_ERROR(sum_.Count(pairs, units, counts));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      questions_.push_back({pairs[i], units, counts[i]});
    }
    ++launches_;
    return {};
  }
  const std::vector<Question>& questions() const { return questions_; }
  std::size_t launches() const { return launches_; }

 private:
  MaskedSum& sum_;
  std::vector<Question> questions_;
  std::size_t launches_ = 0;
};

class TreeMeasurement {
 public:
  explicit TreeMeasurement(const GpuContext& context) : options_(context.options) {}

  Status Prepare(GpuContext* context) {
    ASSIGN_OR_RETURN(blas_, BlasContext::Open(options_.context));
    ProbeResult described;
    blas_.Describe(&described);
    context->libraries.merge(described.libraries);
    const DeviceGemmShape shape{.m = kRows,
                                .n = kColumns,
                                .k = options_.terms,
                                .input = NumberType::kFp16,
                                .output = NumberType::kFp32};
    ASSIGN_OR_RETURN(gemm_, Gemm::Create(blas_, shape));
    sum_ = std::make_unique<GemmSum>(*gemm_, false);
    // Loads the kernels of the library, and must give the tree that is timed.
    RETURN_IF_ERROR(Batches());
    batch_seconds_.clear();
    return ChooseSample();
  }

  Status Measure() {
    for (int round = 0; round < options_.rounds; ++round) {
      RETURN_IF_ERROR(Batches());
      RETURN_IF_ERROR(OneByOne());
    }
    return {};
  }

  GpuRow BatchRow() const {
    GpuRow row{.id = "G1", .what = kG1};
    const double n = options_.terms, batch = sum_->max_batch();
    const double bound = (2 * std::log2(n) + 4) * std::ceil(n / batch);
    row.value = static_cast<double>(revealed_.launches) / bound;
    row.of = "the bound (2 log2 n + 4) ceil(n / questions a launch)";
    row.figures = {{"n", n, "terms"},
                   {"time", Median(batch_seconds_), "s"},
                   {"launches", static_cast<double>(revealed_.launches), ""},
                   {"bound", bound, "launches"},
                   {"probes", static_cast<double>(revealed_.probes), ""},
                   {"levels", static_cast<double>(revealed_.levels), ""},
                   {"questions a launch", batch, ""},
                   {"launches with checks", static_cast<double>(launches_), ""},
                   {"of the time, building matrices on the host", BuildSeconds(), "s"}};
    row.note = gemm_->shape().Name() + ": " + NameOf(*revealed_.tree);
    return row;
  }

  GpuRow SingleRow() const {
    GpuRow row{.id = "G2", .what = kG2};
    const auto all = static_cast<double>(questions_.size());
    const auto asked = static_cast<double>(sample_.size());
    const double seconds = Median(single_seconds_) / asked * all;
    row.value = seconds / Median(batch_seconds_);
    row.of = "the time of G1, for the same questions and checks";
    row.figures = {{"time", seconds, "s"},
                   {"questions", all, ""},
                   {"questions asked a round", asked, ""},
                   {"time of these", Median(single_seconds_), "s"}};
    row.note = asked < all ? "time extrapolated from an even sample of the questions"
                           : "every question asked";
    return row;
  }

 private:
  Status Batches() {
    RecordingSum recording(*sum_);
    const double start = Now();
    ASSIGN_OR_RETURN(revealed_, RevealTree(recording, {.repeats = 0}));
    batch_seconds_.push_back(Now() - start);
    if (!revealed_.tree) return IntegrityError("no tree: " + revealed_.why);
    const std::string canonical = revealed_.tree->Sha256();
    if (!tree_.empty() && canonical != tree_)
      return IntegrityError("another tree in a later round");
    tree_ = canonical;
    questions_ = recording.questions();
    launches_ = recording.launches();
    return {};
  }

  Status Ask(const Question& question) {
    double answer = 0;
    RETURN_IF_ERROR(sum_->Count({&question.pair, 1}, question.units, {&answer, 1}));
    if (answer == question.answer) return {};
    return IntegrityError(fmt::format("masks at {} and {} gave {} units in a batch and {} alone",
                                      question.pair.plus, question.pair.minus, question.answer,
                                      answer));
  }

  // All questions, or as many, evenly spread, as the limit leaves to a round.
  Status ChooseSample() {
    const std::size_t pilot = std::min(kPilotQuestions, questions_.size());
    const double start = Now();
    for (std::size_t i = 0; i < pilot; ++i) RETURN_IF_ERROR(Ask(questions_[i]));
    const double each = (Now() - start) / static_cast<double>(pilot);
    const double share = options_.limit_seconds / options_.rounds / each;
    std::size_t count = questions_.size();
    if (share < static_cast<double>(count))
      count = std::max(pilot, static_cast<std::size_t>(share));
    for (std::size_t i = 0; i < count; ++i) sample_.push_back(i * questions_.size() / count);
    return {};
  }

  Status OneByOne() {
    const double start = Now();
    for (const std::size_t i : sample_) RETURN_IF_ERROR(Ask(questions_[i]));
    single_seconds_.push_back(Now() - start);
    return {};
  }

  // Of as many launches as one revealing makes.
  double BuildSeconds() const {
    const DeviceGemmShape& shape = gemm_->shape();
    const std::vector<MaskPair> pairs(static_cast<std::size_t>(sum_->max_batch()), MaskPair{0, 1});
    std::vector<double> seconds;
    for (int round = 0; round < options_.rounds; ++round) {
      const double start = Now();
      BuildMasked(shape, SchemeOf(shape.input, shape.output), false, pairs, {0, shape.k});
      seconds.push_back(Now() - start);
    }
    return Median(seconds) * static_cast<double>(launches_);
  }

  const GpuOptions& options_;
  BlasContext blas_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<GemmSum> sum_;
  Revealed revealed_;
  std::string tree_;  // its digest
  std::vector<Question> questions_;
  std::size_t launches_ = 0;
  std::vector<std::size_t> sample_;  // positions in questions_
  std::vector<double> batch_seconds_, single_seconds_;
};

Status AddRows(GpuContext* context, std::vector<GpuRow>* rows) {
  TreeMeasurement measurement(*context);
  RETURN_IF_ERROR(measurement.Prepare(context));
  RETURN_IF_ERROR(measurement.Measure());
  *rows = {measurement.BatchRow(), measurement.SingleRow()};
  return {};
}

}  // namespace

std::vector<GpuRow> TreeRows(GpuContext* context) {
  std::vector<GpuRow> rows;
  const Status added = AddRows(context, &rows);
  if (added.ok()) return rows;
  return {WithoutValue("G1", kG1, added.error()), WithoutValue("G2", kG2, added.error())};
}

}  // namespace rharness::bench
