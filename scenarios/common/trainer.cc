// The training loop and what surrounds it. No arithmetic of the network is here.
#include "scenarios/common/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "scenarios/common/outputs.h"
#include "scenarios/common/plant.h"
#include "scenarios/common/rng.h"

namespace rharness::scenarios {
namespace {

// Hands out the training images in an order drawn anew each epoch (Fisher and Yates).
class Shuffler {
 public:
  Shuffler(const Digits& digits, std::uint64_t seed)
      : digits_(digits), rng_(seed, Stream::kShuffle), order_(digits.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void Shuffle() {
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[rng_.Below(i)]);
  }

  // The images at positions [begin, end) of the current order; valid until the next call.
  Batch Take(std::size_t begin, std::size_t end) {
    pixels_.clear();
    labels_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const float* row = digits_.pixels.data() + order_[i] * kPixels;
      pixels_.insert(pixels_.end(), row, row + kPixels);
      labels_.push_back(digits_.labels[order_[i]]);
    }
    return Batch{pixels_, labels_};
  }

 private:
  const Digits& digits_;
  Rng rng_;
  std::vector<std::size_t> order_;
  std::vector<float> pixels_;
  std::vector<std::uint8_t> labels_;
};

// The mean loss of one pass over the training images.
double TrainEpoch(const Options& options, std::size_t images, Shuffler* shuffler,
                  Network* network) {
  shuffler->Shuffle();
  double loss_sum = 0;
  for (std::size_t begin = 0; begin < images; begin += options.batch) {
    const Batch batch = shuffler->Take(begin, std::min(begin + options.batch, images));
    loss_sum += network->TrainBatch(batch, options.step);
  }
  return loss_sum / static_cast<double>(images);
}

Metrics Train(const Options& options, const Split& split, Network* network) {
  Shuffler shuffler(split.train, PlantedShuffleSeed(options.plant, options.shuffle_seed));
  Metrics metrics;
  for (std::size_t epoch = 1; epoch <= options.epochs; ++epoch) {
    metrics.train_loss_curve.push_back(TrainEpoch(options, split.train.size(), &shuffler, network));
    if (epoch == 1) DisturbRun(options.plant, options.out);
  }
  const Score score = network->Evaluate(Batch{split.test.pixels, split.test.labels});
  const auto images = static_cast<double>(split.test.size());
  metrics.test_accuracy = static_cast<double>(score.correct) / images;
  metrics.test_loss = score.loss_sum / images;
  metrics.resources = network->Resources();
  DisturbMetrics(options.plant, &metrics);
  return metrics;
}

bool WriteOutputs(const Options& options, const Network& network, const Metrics& metrics,
                  std::string* error) {
  std::vector<Tensor> tensors = network.Export();
  DisturbTensors(options.plant, &tensors);
  std::string checkpoint = SafetensorsBytes(tensors, PlantedMetadata(options.plant));
  DisturbCheckpoint(options.plant, &checkpoint);
  return WriteFile(options.out / "model.safetensors", checkpoint, error) &&
         WriteFile(options.out / "metrics.json", MetricsJson(metrics, network.Software()), error);
}

int Fail(int status, const std::string& message) {
  fmt::print(stderr, "error: {}\n", message);
  return status;
}

}  // namespace

int RunTrainer(int argc, char* const* argv, const NetworkFactory& make_network,
               std::span<const ExtraFlag> extra) {
  Options options;
  std::string error;
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  if (!ParseOptions(arguments.subspan(1), extra, &options, &error)) return Fail(2, error);
  if (options.help) {
    fmt::print("{}", Usage(argv[0], extra));
    return 0;
  }
  Digits digits;
  if (!LoadDigits(options.data, PlantedShardOrder(options.plant), &digits, &error)) {
    return Fail(2, error);
  }
  std::error_code status;
  std::filesystem::create_directories(options.out, status);
  if (status) return Fail(1, fmt::format("{}: {}", options.out.string(), status.message()));

  const Split split = SplitByIndex(digits);
  const auto network = make_network(options, &error);
  if (network == nullptr) return Fail(1, error);
  const Metrics metrics = Train(options, split, network.get());
  if (!WriteOutputs(options, *network, metrics, &error)) return Fail(1, error);
  fmt::print("test_accuracy {} test_loss {} train_loss {}\n", metrics.test_accuracy,
             metrics.test_loss, metrics.train_loss_curve.back());
  return 0;
}

}  // namespace rharness::scenarios
