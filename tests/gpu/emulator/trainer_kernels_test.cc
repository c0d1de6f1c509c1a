// The trainer's kernels as nvcc compiled them, run by the emulator, against what their bodies
// compute on the host. cnn_gpu_test.cc, in the same program, takes whole training steps with them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "scenarios/digits_cnn_cuda/gpu/kernel_bodies.h"
#include "scenarios/digits_cnn_cuda/gpu/kernels.h"
#include "tests/gpu/emulator/emulated_launches.h"
#include "tests/scenarios/fake_cuda.h"

namespace rharness::scenarios {
namespace {

// Device memory with values, and a host's copy for the bodies.
template <class T>
class Both {
 public:
  explicit Both(std::vector<T> values) : host_(std::move(values)) {
    cudaMalloc(reinterpret_cast<void**>(&device_), bytes());
    cudaMemcpy(device_, host_.data(), bytes(), cudaMemcpyHostToDevice);
  }
  ~Both() { cudaFree(device_); }
  Both(const Both&) = delete;
  Both& operator=(const Both&) = delete;

  T* host() { return host_.data(); }
  T* device() { return device_; }
  std::size_t size() const { return host_.size(); }
  // How many values the device and the host have that differ by more than `relative`.
  int Different(float relative) const {
    std::vector<T> values(host_.size());
    cudaMemcpy(values.data(), device_, bytes(), cudaMemcpyDeviceToHost);
    int different = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool alike =
          relative == 0 ? std::memcmp(&values[i], &host_[i], sizeof(T)) == 0
                        : std::fabs(values[i] - host_[i]) <= relative * (1 + std::fabs(host_[i]));
      different += alike ? 0 : 1;
    }
    return different;
  }

 private:
  std::size_t bytes() const { return host_.size() * sizeof(T); }
  std::vector<T> host_;
  T* device_ = nullptr;
};

class TrainersKernels : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    ResetFake();
    cudaSetDevice(0);
    cudaStreamCreate(&stream_);
  }
  void TearDown() override {
    cudaStreamDestroy(stream_);
    EXPECT_EQ(Fake().mistakes, std::vector<std::string>());
  }

  std::size_t images() const { return GetParam(); }
  std::vector<float> Normal(std::size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random_);
    return values;
  }
  void Wait() { cudaStreamSynchronize(stream_); }

  cudaStream_t stream_ = nullptr;
  std::mt19937 random_{7};
};

TEST_P(TrainersKernels, AddABiasAndCutBelowZero) {
  const Planes planes{images(), 5, 64};
  Both<float> values(Normal(images() * 5 * 64)), bias(Normal(5)), slope(Normal(values.size()));
  LaunchBiasRelu(planes, bias.device(), values.device(), stream_);
  LaunchReluSlope(values.size(), values.device(), slope.device(), stream_);
  Wait();
  for (std::size_t i = 0; i < values.size(); ++i) {
    body::BiasRelu(planes, bias.host(), i, values.host());
  }
  for (std::size_t i = 0; i < values.size(); ++i) body::ReluSlope(values.host(), i, slope.host());
  EXPECT_EQ(values.Different(0), 0);
  EXPECT_EQ(slope.Different(0), 0);
}

TEST_P(TrainersKernels, PoolAndLeadSlopesBack) {
  for (const std::size_t side : {2U, 8U}) {
    const std::size_t planes = images() * 3, pooled = planes * side * side / 4;
    Both<float> input(Normal(4 * pooled)), output(Normal(pooled)), output_slope(Normal(pooled)),
        input_slope(Normal(4 * pooled));
    LaunchMaxPool(planes, side, input.device(), output.device(), stream_);
    LaunchMaxPoolReluSlope(planes, side, input.device(), output_slope.device(),
                           input_slope.device(), stream_);
    Wait();
    for (std::size_t i = 0; i < pooled; ++i) {
      body::MaxPool(input.host(), side, i, output.host());
      body::MaxPoolReluSlope(input.host(), output_slope.host(), side, i, input_slope.host());
    }
    EXPECT_EQ(output.Different(0), 0) << side;
    EXPECT_EQ(input_slope.Different(0), 0) << side;
  }
}

// The exponential and the logarithm are the compiler's own code on the device.
TEST_P(TrainersKernels, ScoreImages) {
  Both<float> logits(Normal(images() * 10)), bias(Normal(10)), scores(Normal(2 * images()));
  std::vector<std::uint8_t> numbers(images());
  for (auto& number : numbers) number = static_cast<std::uint8_t>(random_() % 10);
  Both<std::uint8_t> labels(numbers);
  SoftmaxArguments arguments{
      images(), 10, 0.25F, bias.device(), labels.device(), logits.device(), scores.device()};
  LaunchSoftmaxLoss(arguments, stream_);
  Wait();
  arguments.bias = bias.host();
  arguments.labels = labels.host();
  arguments.logits = logits.host();
  arguments.scores = scores.host();
  for (std::size_t i = 0; i < images(); ++i) body::SoftmaxLoss(arguments, i);
  EXPECT_EQ(logits.Different(1e-6F), 0);
  EXPECT_EQ(scores.Different(2e-6F), 0);
}

TEST_P(TrainersKernels, SumChannelsByTreeAndByAtomics) {
  const Planes planes{images(), 5, 64};
  Both<float> values(Normal(images() * 5 * 64)), tree(Normal(5)), atomic(Normal(5));
  LaunchSumTree(planes, values.device(), tree.device(), stream_);
  LaunchSumAtomic(planes, values.device(), atomic.device(), stream_);
  Wait();
  for (std::size_t channel = 0; channel < 5; ++channel) {
    std::vector<float> partial(kBlockThreads);
    for (std::size_t t = 0; t < kBlockThreads; ++t) {
      partial[t] = body::PartialSum(planes, values.host(), channel, t, kBlockThreads);
    }
    for (std::size_t half = kBlockThreads / 2; half > 0; half /= 2) {
      for (std::size_t t = 0; t < half; ++t) partial[t] += partial[t + half];
    }
    tree.host()[channel] = atomic.host()[channel] = partial[0];
  }
  EXPECT_EQ(tree.Different(0), 0);
  EXPECT_EQ(atomic.Different(1e-3F), 0);
}

// The compiler joins the velocity's product and sum to one rounding, and leaves the parameters' to
// the assembler.
TEST_P(TrainersKernels, TakeAStepAsTheirInstructionsSay) {
  const std::size_t count = images() * 301;
  Both<float> gradient(Normal(count)), velocity(Normal(count)), parameters(Normal(count));
  LaunchSgd({count, 0.02F, 0.9F, gradient.device(), velocity.device(), parameters.device()},
            stream_);
  Wait();
  for (std::size_t i = 0; i < count; ++i) {
    float v = velocity.host()[i], p = parameters.host()[i];
    body::Sgd({1, 0.02F, 0.9F, gradient.host() + i, &v, &p}, 0);
    velocity.host()[i] = std::fma(0.9F, velocity.host()[i], gradient.host()[i]);
    parameters.host()[i] -= 0.02F * velocity.host()[i];
    EXPECT_NEAR(velocity.host()[i], v, 1e-6F);
    EXPECT_NEAR(parameters.host()[i], p, 1e-6F);
  }
  EXPECT_EQ(velocity.Different(0), 0);
  EXPECT_EQ(parameters.Different(0), 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, TrainersKernels, testing::Values(1, 3, 32, 61));

// Every kernel of the trainer ran, here or in the steps of cnn_gpu_test.cc.
class AllKernelsRan : public testing::Environment {
 public:
  void TearDown() override {
    if (testing::UnitTest::GetInstance()->test_to_run_count() < 20) return;
    std::printf("%8s  %s\n", "launches", "kernel");
    for (const auto& [name, count] : EmulatedLaunches()) {
      std::printf("%8d  %.100s\n", count, name.c_str());
    }
    EXPECT_EQ(EmulatedLaunches().size(), 8U);
  }
};
const testing::Environment* const kAllKernelsRan =
    testing::AddGlobalTestEnvironment(new AllKernelsRan);

}  // namespace
}  // namespace rharness::scenarios
