// Views of a checkpoint: shorter names, parts, and which prefixes to take away.
#include "compare/weights/views.h"

#include <gtest/gtest.h>

#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using Names = std::vector<std::string>;

class Views : public CheckpointFiles {
 protected:
  // A checkpoint of one-byte tensors whose byte is their position here.
  std::unique_ptr<Checkpoint> Named(const Names& names) {
    std::vector<TestTensor> tensors;
    for (std::size_t i = 0; i < names.size(); ++i) {
      tensors.push_back({names[i], "U8", "[1]", std::string(1, static_cast<char>(i))});
    }
    return MustOpen(FileOf(tensors), "x.safetensors");
  }
  static Names NamesOf(const Checkpoint& checkpoint) {
    Names names;
    for (const TensorInfo& info : checkpoint.tensors()) names.push_back(info.name);
    return names;
  }
};

TEST(Prefixes, AreTakenAwayAsOftenAsTheyCome) {
  const Names all = {"module.", "_orig_mod.", "model."};
  EXPECT_EQ(NameWithoutPrefixes("module.module._orig_mod.model.fc.weight", all), "fc.weight");
  EXPECT_EQ(NameWithoutPrefixes("model.module.fc", {"module."}), "model.module.fc");
  EXPECT_EQ(NameWithoutPrefixes("fc.module.weight", all), "fc.module.weight");
  EXPECT_EQ(NameWithoutPrefixes("modules.fc", all), "modules.fc");
  EXPECT_EQ(NameWithoutPrefixes("module.fc", {}), "module.fc");
}

TEST(Prefixes, OfCompiledModulesAreTakenAwayInsideToo) {
  EXPECT_EQ(NameWithoutPrefixes("layers.0._orig_mod._orig_mod.fc.weight", {"_orig_mod."}),
            "layers.0.fc.weight");
  EXPECT_EQ(NameWithoutPrefixes("layers.0._orig_mod.fc.weight", {"module."}),
            "layers.0._orig_mod.fc.weight");
  EXPECT_EQ(NameWithoutPrefixes("layers.my_orig_mod.fc", {"_orig_mod."}), "layers.my_orig_mod.fc");
}

TEST(Prefixes, LeaveSomethingOfEveryName) {
  EXPECT_EQ(NameWithoutPrefixes("module.", {"module."}), "module.");
  EXPECT_EQ(NameWithoutPrefixes("module.module.", {"module."}), "module.");
  EXPECT_EQ(NameWithoutPrefixes("a._orig_mod.", {"_orig_mod."}), "a._orig_mod.");
  EXPECT_EQ(NameWithoutPrefixes("a", {""}), "a");
}

TEST_F(Views, ShowTensorsUnderShorterNamesInOrder) {
  const auto view = WithoutPrefixes(Named({"module.b", "a2", "module.a", "z"}), {"module."});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(NamesOf(**view), (Names{"a", "a2", "b", "z"}));
  EXPECT_EQ(ReadAll(**view, 0), std::string(1, 2));
  EXPECT_EQ(ReadAll(**view, 2), std::string(1, 0));
  EXPECT_TRUE((*view)->CheckUnchanged().ok());
}

TEST_F(Views, RefuseTwoNamesThatBecomeOne) {
  const auto view = WithoutPrefixes(Named({"fc.weight", "module.fc.weight"}), {"module."});
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(view.error().message.find("'fc.weight' and 'module.fc.weight' both become 'fc.weight'"),
            std::string::npos)
      << view.error().ToString();
}

TEST_F(Views, ShowTheTensorsOfSomeRoles) {
  const auto whole = Named({"w", "optimizer.state.0.exp_avg", "rng_state", "epoch"});
  const auto weights = OfRole(*whole, {TensorRole::kWeight});
  EXPECT_EQ(NamesOf(*weights), Names{"w"});
  EXPECT_EQ(ReadAll(*weights, 0), std::string(1, 0));
  const auto rest = OfRole(*whole, {TensorRole::kOptimizer, TensorRole::kOther});
  EXPECT_EQ(NamesOf(*rest), (Names{"epoch", "optimizer.state.0.exp_avg"}));
  EXPECT_EQ(ReadAll(*rest, 0), std::string(1, 3));
  EXPECT_TRUE(OfRole(*whole, {})->tensors().empty());
}

TEST_F(Views, OfAllWeightsHaveTheDigestOfTheWeightsAlone) {
  const auto whole = Named({"w", "optimizer.state.0.exp_avg"});
  const std::string digest = DigestCheckpoint(*OfRole(*whole, {TensorRole::kWeight}))->sha256;
  EXPECT_EQ(digest, DigestCheckpoint(*Named({"w"}))->sha256);
}

TEST_F(Views, SuggestTheFewestPrefixesThatHelp) {
  const auto plain = Named({"fc.weight", "fc.bias"});
  EXPECT_EQ(SuggestPrefixes(*plain, *plain), Names{});
  EXPECT_EQ(SuggestPrefixes(*plain, *Named({"module.fc.weight", "module.fc.bias"})),
            Names{"module."});
  EXPECT_EQ(SuggestPrefixes(*Named({"model._orig_mod.fc.weight"}), *plain),
            (Names{"_orig_mod.", "model."}));
  EXPECT_EQ(SuggestPrefixes(*Named({"module.fc.weight", "module.only"}), *plain), Names{"module."});
}

TEST_F(Views, SuggestNothingWhereNoPrefixHelps) {
  const auto plain = Named({"fc.weight"});
  EXPECT_EQ(SuggestPrefixes(*plain, *Named({"other"})), Names{});
  EXPECT_EQ(SuggestPrefixes(*plain, *Named({"module.other"})), Names{});
  EXPECT_EQ(SuggestPrefixes(*plain, *Named({"module.fc.weight", "module.module.fc.weight"})),
            Names{});
}

}  // namespace
}  // namespace rharness
