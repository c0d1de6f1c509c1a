// A training run whose sums are made on the device: a linear classifier of the digits, its products
// on the host, every sum of them by the probes' own kernel reduce_rows.
//
// Role: a run that a driver's order of addition changes, for the drill behind a gate; with
// SUM_TRAINER_PICKS the next driver gets another kernel. It finds
// libcuda.so.1 as any program does.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/gpu/device.h"
#include "probes/gpu/kernels.h"
#include "scenarios/common/trainer.h"

namespace rharness::scenarios {
namespace {

template <class T>
T Need(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "error: %s\n", result.error().ToString().c_str());
  std::exit(1);
}

class DeviceSums {
 public:
  DeviceSums() : device_(Need(Device::Open(ProbeContext{.device = "cuda:0"}))) {
    kernel_ = Need(device_->Find(Need(device_->Load(kReduceKernels)),
                                 is_serial_ ? "reduce_serial" : "reduce_rows"));
  }
  // Of each row of `terms`, `row` values long.
  std::vector<float> Of(const std::vector<float>& terms, std::size_t row) const {
    const std::size_t rows = terms.size() / row;
    const DeviceBuffer in = Need(device_->Upload(terms));
    const DeviceBuffer out = Need(device_->Allocate(rows * sizeof(float)));
    CUdeviceptr from = in.address(), to = out.address();
    int n = static_cast<int>(row);
    const Status ran = device_->Launch(
        kernel_, {static_cast<unsigned>(rows), is_serial_ ? 1U : 256U}, {&from, &to, &n});
    if (!ran.ok()) Need(Result<int>(ran.error()));
    const auto bytes = Need(device_->Read(out, rows * sizeof(float)));
    std::vector<float> sums(rows);
    std::memcpy(sums.data(), bytes.data(), bytes.size());
    return sums;
  }
  int driver() const { return device_->driver().version(); }

 private:
  // As a library does that prefers another algorithm on newer drivers.
  bool PicksSerial() const {
    return std::getenv("SUM_TRAINER_PICKS") != nullptr && driver() > CUDA_VERSION;
  }

  std::shared_ptr<Device> device_;
  const bool is_serial_ = PicksSerial();
  CUfunction kernel_ = nullptr;
};

constexpr std::size_t kWeights = std::size_t{kClasses} * kPixels;

class LinearClassifier : public Network {
 public:
  explicit LinearClassifier(std::uint64_t seed) : velocity_(kWeights) {
    Rng rng(seed, Stream::kInit);
    weight_ = DrawUniform(&rng, kWeights, kPixels);
  }

  double TrainBatch(const Batch& batch, const SgdStep& step) override {
    std::vector<float> slope = Logits(batch);
    const double loss = Slope(batch, &slope);
    // Of each weight a row with the images' shares.
    std::vector<float> terms(kWeights * batch.size());
    for (std::size_t w = 0; w < kWeights; ++w) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        terms[w * batch.size() + i] =
            slope[i * kClasses + w / kPixels] * batch.pixels[i * kPixels + w % kPixels];
      }
    }
    const std::vector<float> gradient = sums_.Of(terms, batch.size());
    for (std::size_t w = 0; w < kWeights; ++w) {
      velocity_[w] = step.momentum * velocity_[w] + gradient[w] / static_cast<float>(batch.size());
      weight_[w] -= step.learning_rate * velocity_[w];
    }
    return loss;
  }

  Score Evaluate(const Batch& batch) override {
    std::vector<float> logits = Logits(batch);
    Score score;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i * kClasses);
      score.correct += std::max_element(row, row + kClasses) - row == batch.labels[i] ? 1 : 0;
    }
    score.loss_sum = Slope(batch, &logits);
    return score;
  }

  std::vector<Tensor> Export() const override { return {{"weight", {kClasses, kPixels}, weight_}}; }
  std::map<std::string, std::string> Software() const override {
    return {{"cuda_driver", std::to_string(sums_.driver() / 1000) + "." +
                                std::to_string(sums_.driver() % 1000 / 10)}};
  }

 private:
  std::vector<float> Logits(const Batch& batch) const {
    std::vector<float> terms(batch.size() * kWeights);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (std::size_t w = 0; w < kWeights; ++w) {
        terms[i * kWeights + w] = weight_[w] * batch.pixels[i * kPixels + w % kPixels];
      }
    }
    return sums_.Of(terms, kPixels);
  }

  // The summed loss; logits become its slopes.
  static double Slope(const Batch& batch, std::vector<float>* logits) {
    double loss = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      float* row = logits->data() + i * kClasses;
      const float peak = *std::max_element(row, row + kClasses), of_label = row[batch.labels[i]];
      float sum = 0;
      for (std::size_t c = 0; c < kClasses; ++c) sum += row[c] = std::exp(row[c] - peak);
      for (std::size_t c = 0; c < kClasses; ++c) row[c] /= sum;
      row[batch.labels[i]] -= 1;
      loss += static_cast<double>(std::log(sum) - (of_label - peak));
    }
    return loss;
  }

  DeviceSums sums_;
  std::vector<float> weight_, velocity_;
};

}  // namespace
}  // namespace rharness::scenarios

int main(int argc, char** argv) {
  using namespace rharness::scenarios;
  return RunTrainer(argc, argv, [](const Options& options, std::string*) {
    return std::make_unique<LinearClassifier>(options.init_seed);
  });
}
