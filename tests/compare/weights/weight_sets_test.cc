// Folders that hold weights twice: which are meant, and what is said of the others.
#include "compare/weights/weight_sets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

class WeightSets : public CheckpointFiles {
 protected:
  std::filesystem::path folder() { return Write("{}", "config.json").parent_path(); }
  static std::string Weights(float value, const char* name = "w") {
    return FileOf({{name, "F32", "[2]", BytesOf<float>({value, 2})}});
  }
  void WriteIndex(const char* index, const char* shard, float value) {
    Write(Weights(value), shard);
    Write(std::string("{\"weight_map\": {\"w\": \"") + shard + "\"}}", index);
  }
  std::unique_ptr<Checkpoint> OpenIt() {
    auto checkpoint = OpenCheckpoint(folder());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    return std::move(checkpoint).value();
  }
  static std::vector<std::string> OfKind(const Checkpoint& checkpoint, PartKind kind) {
    std::vector<std::string> names;
    for (const UnreadPart& part : checkpoint.unread()) {
      if (part.kind == kind) names.push_back(part.name);
    }
    return names;
  }
  using Names = std::vector<std::string>;
};

TEST_F(WeightSets, OfALaterSaveAreTheOnesThatLoadersTake) {
  WriteIndex("model.safetensors.index.json", "model-00001-of-00001.safetensors", 1);
  Write(Weights(11), "model.safetensors");
  const auto checkpoint = OpenIt();
  ASSERT_EQ(checkpoint->tensors().size(), 1U);
  EXPECT_EQ(ReadAll(*checkpoint, 0), BytesOf<float>({11, 2}));
  EXPECT_EQ(OfKind(*checkpoint, PartKind::kSecondSet),
            (Names{"model-00001-of-00001.safetensors", "model.safetensors.index.json"}));
  const auto digest = DigestCheckpoint(*checkpoint);
  ASSERT_FALSE(digest.ok());
  EXPECT_EQ(digest.error().message,
            "two sets of weights lie in one folder, 'model.safetensors', which loaders take, and "
            "'model.safetensors.index.json': 1 of 1 tensors of equal names are not the same, first "
            "'w'; name one of them");
}

TEST_F(WeightSets, ThatHoldTheSameTensorsAreOne) {
  WriteIndex("model.safetensors.index.json", "model-00001-of-00001.safetensors", 1);
  Write(Weights(1), "model.safetensors");
  const auto checkpoint = OpenIt();
  EXPECT_EQ(checkpoint->tensors().size(), 1U);
  EXPECT_TRUE(OfKind(*checkpoint, PartKind::kSecondSet).empty());
  EXPECT_EQ(OfKind(*checkpoint, PartKind::kAside).size(), 2U);
  EXPECT_EQ(DigestCheckpoint(*checkpoint)->sha256,
            DigestCheckpoint(*MustOpen(Weights(1), "alone"))->sha256);
}

TEST_F(WeightSets, OfTwoFormatsTwoPrecisionsOrAnAverageAreTold) {
  Write(Weights(1), "model.safetensors");
  for (const char* name : {"pytorch_model.bin", "model.fp16.safetensors", "ema.pt"}) {
    Write(name == std::string("model.fp16.safetensors")
              ? FileOf({{"w", "F16", "[2]", std::string("\0\x3c\0\x40", 4)}})
              : Weights(2),
          name);
    EXPECT_EQ(OfKind(*OpenIt(), PartKind::kSecondSet), Names{name});
    std::filesystem::remove(folder() / name);
  }
  WriteIndex("pytorch_model.bin.index.json", "pytorch_model-00001-of-00001.bin", 2);
  EXPECT_EQ(OfKind(*OpenIt(), PartKind::kSecondSet),
            (Names{"pytorch_model-00001-of-00001.bin", "pytorch_model.bin.index.json"}));
}

TEST_F(WeightSets, OfAnotherLoaderAreASecondSetWhateverItsNames) {
  WriteIndex("model.safetensors.index.json", "model-00001-of-00001.safetensors", 1);
  Write(Weights(1, "layers.0.wq"), "consolidated.safetensors");
  EXPECT_EQ(OfKind(*OpenIt(), PartKind::kSecondSet), Names{"consolidated.safetensors"});
}

TEST_F(WeightSets, OfNoNameInCommonAreReadTogether) {
  Write(Weights(1), "model.safetensors");
  Write(Weights(2, "lora_A"), "adapter_model.safetensors");
  const auto checkpoint = OpenIt();
  ASSERT_EQ(checkpoint->tensors().size(), 2U);
  EXPECT_EQ(checkpoint->tensors()[0].name, "adapter_model.safetensors/lora_A");
  EXPECT_TRUE(DigestCheckpoint(*checkpoint).ok());
}

TEST_F(WeightSets, OfAnIndexWhoseShardsAreGoneAreALeftover) {
  Write(Weights(1), "model.safetensors");
  Write(R"({"weight_map": {"w": "gone.safetensors"}})", "model.safetensors.index.json");
  const auto checkpoint = OpenIt();
  EXPECT_EQ(checkpoint->tensors().size(), 1U);
  EXPECT_EQ(OfKind(*checkpoint, PartKind::kPart), Names{"model.safetensors.index.json"});
}

TEST_F(WeightSets, LeaveTheStateOfATrainerAside) {
  Write(Weights(1), "model.safetensors");
  for (const char* name :
       {"optimizer.pt", "scheduler.pt", "rng_state_0.pth", "training_args.bin"}) {
    Write(Weights(7, name), name);
  }
  const auto checkpoint = OpenIt();
  EXPECT_EQ(checkpoint->tensors().size(), 1U);
  EXPECT_EQ(OfKind(*checkpoint, PartKind::kAside).size(), 4U);
}

}  // namespace
}  // namespace rharness
