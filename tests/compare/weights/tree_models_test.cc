// Models of XGBoost and LightGBM: trees as tensors, alike in each format; another structure is
// another shape or other bits; cuts and damage are errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compare/weights/lightgbm_model.h"
#include "compare/weights/tensor_digest.h"
#include "compare/weights/ubjson.h"
#include "compare/weights/xgboost_model.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using std::string_literals::operator""s;

// One tree of a split and two leaves, or a stump of one leaf.
std::string XgboostTree(bool split, const std::string& values) {
  const std::string nodes = split ? "[0,0,0]" : "[0]";
  return R"({"base_weights":)" + values + R"(,"categories":[],"categories_nodes":[],)" +
         R"("categories_segments":[],"categories_sizes":[],"default_left":)" + nodes +
         R"(,"id":0,"left_children":)" + (split ? "[1,-1,-1]" : "[-1]") + R"(,"loss_changes":)" +
         nodes + R"(,"parents":)" + (split ? "[2147483647,0,0]" : "[2147483647]") +
         R"(,"right_children":)" + (split ? "[2,-1,-1]" : "[-1]") + R"(,"split_conditions":)" +
         values + R"(,"split_indices":)" + nodes + R"(,"split_type":)" + nodes +
         R"(,"sum_hessian":)" + nodes + R"(,"tree_param":{"num_nodes":"3"}})";
}
std::string XgboostOf(const std::string& trees, const std::string& objective = "binary:logistic",
                      const std::string& version = "[3,2,0]") {
  return R"({"learner":{"attributes":{},"gradient_booster":{"model":{"tree_info":[0,0],"trees":[)" +
         trees + R"(]},"name":"gbtree"},"objective":{"name":")" + objective + R"("}},"version":)" +
         version + "}";
}
const std::string kTwoTrees =
    XgboostTree(true, "[5E-1,-1.25E0,2.5E-1]") + "," + XgboostTree(false, "[7.5E-1]");

// The same values in UBJSON, with typed arrays of F32 where the text has fractions.
std::string UbjText(const std::string& text) {
  std::string length(8, '\0');
  length[7] = static_cast<char>(text.size());
  return "L" + length + text;
}
std::string UbjInts(const std::vector<int>& values) {
  std::string out = "[$l#i"s + static_cast<char>(values.size());
  for (const int value : values) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      out += static_cast<char>(static_cast<unsigned>(value) >> shift);
    }
  }
  return out;
}
std::string UbjFloats(const std::vector<float>& values) {
  std::string out = "[$d#i"s + static_cast<char>(values.size());
  for (const float value : values) {
    std::string bytes = BytesOf(std::vector<float>{value});
    std::ranges::reverse(bytes);
    out += bytes;
  }
  return out;
}
std::string UbjTree(const std::vector<int>& left, const std::vector<int>& right,
                    const std::vector<int>& parents, const std::vector<float>& values) {
  const std::vector<int> zeros(left.size(), 0);
  std::string out = "{";
  const auto add = [&](const std::string& name, const std::string& value) {
    out += UbjText(name) + value;
  };
  add("base_weights", UbjFloats(values));
  for (const char* name :
       {"categories", "categories_nodes", "categories_segments", "categories_sizes"}) {
    add(name, "[]");
  }
  for (const char* name :
       {"default_left", "loss_changes", "split_indices", "split_type", "sum_hessian"}) {
    add(name, UbjInts(zeros));
  }
  add("id", "i\0"s), add("left_children", UbjInts(left)), add("right_children", UbjInts(right));
  add("parents", UbjInts(parents)), add("split_conditions", UbjFloats(values));
  add("tree_param", "{" + UbjText("num_nodes") + "S" + UbjText("3") + "}");
  return out + "}";
}
std::string UbjModel() {
  return "{" + UbjText("learner") + "{" + UbjText("attributes") + "{}" +
         UbjText("gradient_booster") + "{" + UbjText("model") + "{" + UbjText("tree_info") +
         UbjInts({0, 0}) + UbjText("trees") + "[" +
         UbjTree({1, -1, -1}, {2, -1, -1}, {2147483647, 0, 0}, {0.5f, -1.25f, 0.25f}) +
         UbjTree({-1}, {-1}, {2147483647}, {0.75f}) + "]}" + UbjText("name") + "S" +
         UbjText("gbtree") + "}" + UbjText("objective") + "{" + UbjText("name") + "S" +
         UbjText("binary:logistic") + "}}" + UbjText("version") + UbjInts({3, 2, 0}) + "}";
}

std::string LightgbmOf(const std::string& trees, int count, const std::string& rate = "0.1",
                       const std::string& threads = "0") {
  std::string sizes = "100";
  for (int i = 1; i < count; ++i) sizes += " 100";
  return "tree\nversion=v4\nnum_class=1\nobjective=binary sigmoid:1\ntree_sizes=" + sizes + "\n\n" +
         trees +
         "end of trees\n\nfeature_importances:\nColumn_0=1\n\nparameters:\n[learning_rate: " +
         rate + "]\n[num_threads: " + threads + "]\n\nend of parameters\n";
}
std::string LightgbmTree(int index, const std::string& leaves = "0.5 -1.25") {
  return "Tree=" + std::to_string(index) +
         "\nnum_leaves=2\nnum_cat=0\nsplit_feature=3\nsplit_gain=1\nthreshold=0.25\n"
         "decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=" +
         leaves + "\ninternal_value=0\nis_linear=0\nshrinkage=1\n\n\n";
}

class TreeModels : public CheckpointFiles {
 protected:
  std::string DigestOf(const std::string& content, const std::string& name = "m.any") {
    const auto digest = DigestCheckpoint(*MustOpen(content, name));
    EXPECT_TRUE(digest.ok()) << digest.error().ToString();
    return digest.ok() ? digest->sha256 : "";
  }
  std::string Part(const std::string& content, const std::string& name) {
    const auto checkpoint = MustOpen(content, "m.any");
    const auto part = std::ranges::find(checkpoint->unread(), name, &UnreadPart::name);
    return part == checkpoint->unread().end() ? "" : part->content;
  }
  std::string Tensor(const std::string& content, const std::string& name) {
    const auto checkpoint = MustOpen(content, "m.any");
    const auto tensor = std::ranges::find(checkpoint->tensors(), name, &TensorInfo::name);
    EXPECT_NE(tensor, checkpoint->tensors().end()) << name;
    return ReadAll(*checkpoint, static_cast<std::size_t>(tensor - checkpoint->tensors().begin()));
  }
  void ExpectRefused(const std::string& content, const std::string& words) {
    const auto result = Open(content, "m.any");
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
  }
};

TEST_F(TreeModels, OfXgboostHaveOneDigestAndOneModelInBothFormats) {
  const std::string text = XgboostOf(kTwoTrees);
  EXPECT_EQ(Tensor(text, "trees/split_conditions"), BytesOf<float>({0.5f, -1.25f, 0.25f, 0.75f}));
  EXPECT_EQ(Tensor(text, "trees/num_nodes"), BytesOf<std::int32_t>({3, 1}));
  EXPECT_EQ(Tensor(text, "trees/left_children"), BytesOf<std::int32_t>({1, -1, -1, -1}));
  EXPECT_EQ(DigestOf(UbjModel()), DigestOf(text));
  EXPECT_EQ(Part(text, "model.json").find("3,2,0"), std::string::npos);
  EXPECT_NE(Part(text, "model.json").find("binary:logistic"), std::string::npos);
  EXPECT_NE(Part(XgboostOf(kTwoTrees, "reg:linear"), "model.json"), Part(text, "model.json"));
}

// Indented, with the version first, with words for numbers, as other writers put them.
TEST_F(TreeModels, OfXgboostAreKnownInAnyLayout) {
  const std::string same = DigestOf(XgboostOf(kTwoTrees));
  const std::string model = XgboostOf(kTwoTrees);
  std::string indented;
  for (const char c : model) {
    indented += c;
    if (c == '{' || c == '[' || c == ',') indented += "\n    ";
  }
  EXPECT_EQ(DigestOf(indented), same);
  const std::size_t version = model.find(",\"version\"");
  const std::string first = "{" + model.substr(version + 1, model.size() - version - 2) + "," +
                            model.substr(1, version - 1) + "}";
  ASSERT_TRUE(first.starts_with("{\"version\":[3,2,0],\"learner\":"));
  EXPECT_EQ(DigestOf(first), same);
  EXPECT_EQ(
      Tensor(XgboostOf(XgboostTree(true, "[NaN,-Infinity,1e-50]")), "trees/base_weights").substr(4),
      BytesOf<float>({-std::numeric_limits<float>::infinity(), 0}));
  ExpectRefused(XgboostOf(XgboostTree(true, "[1,2,1e50]")), "expected numbers of F32");
  ExpectRefused(XgboostOf(XgboostTree(true, "[1,2,3,]")), "expected numbers of F32");
  ExpectRefused(XgboostOf(XgboostTree(true, "[1,2 3]")), ": byte ");
  std::string escaped = model;
  escaped.replace(escaped.find("split_indices"), 5, "\\u0073plit");
  ExpectRefused(escaped, "whose name is escaped");
}

// A number that the model adds, which is a text in its file.
TEST_F(TreeModels, OfXgboostHaveTheirBaseScoreAsATensor) {
  const auto scored = [](const std::string& score) {
    std::string text = XgboostOf(kTwoTrees);
    return text.insert(text.find("\"objective\""), R"("learner_model_param":{"base_score":")" +
                                                       score + R"(","num_class":"0"},)");
  };
  EXPECT_EQ(Tensor(scored("5E-1"), "base_score"), BytesOf<float>({0.5f}));
  EXPECT_EQ(Tensor(scored("[5E-1,2.5E-1]"), "base_score"), BytesOf<float>({0.5f, 0.25f}));
  EXPECT_EQ(DigestOf(scored("[5E-1]")), DigestOf(scored("0.5")));
  EXPECT_EQ(Part(scored("[5E-1]"), "model.json"), Part(scored("0.5"), "model.json"));
  EXPECT_NE(DigestOf(scored("7E-1")), DigestOf(scored("5E-1")));
  ExpectRefused(scored("x"), "base_score: 'x'; expected numbers");
  ExpectRefused(scored("[]"), "expected numbers");
}

TEST_F(TreeModels, OfAnotherStructureAreOtherTensors) {
  const std::string one = XgboostOf(kTwoTrees);
  const std::string other =
      XgboostOf(XgboostTree(false, "[7.5E-1]") + "," + XgboostTree(true, "[5E-1,-1.25E0,2.5E-1]"));
  EXPECT_NE(DigestOf(one), DigestOf(other));
  EXPECT_NE(Tensor(one, "trees/num_nodes"), Tensor(other, "trees/num_nodes"));
  EXPECT_NE(Tensor(one, "trees/left_children"), Tensor(other, "trees/left_children"));
}

TEST_F(TreeModels, OfXgboostMayBeLinearOrDart) {
  EXPECT_EQ(Tensor(R"({"learner":{"gradient_booster":{"model":{"weights":[1.5,2]}}}})", "weights"),
            BytesOf<float>({1.5f, 2}));
  const std::string dart = R"({"learner":{"gradient_booster":{"gbtree":{"model":{"trees":[)" +
                           kTwoTrees + R"(]}},"weight_drop":[0.5,1]}}})";
  EXPECT_EQ(Tensor(dart, "weight_drop"), BytesOf<float>({0.5f, 1}));
  EXPECT_EQ(Tensor(dart, "trees/num_nodes"), BytesOf<std::int32_t>({3, 1}));
}

TEST_F(TreeModels, OfXgboostAreRefusedWithTheFault) {
  const auto change = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string text = XgboostOf(kTwoTrees);
  ExpectRefused(R"({"learner":{}})", "expected an object 'learner' with");
  ExpectRefused(R"({"learner":{"gradient_booster":{}}})", "expected trees, or the weights");
  ExpectRefused(change(text, "[1,-1,-1]", "7"), "expected an array 'left_children'");
  ExpectRefused(change(text, "[1,-1,-1]", "[1,-1]"), "values; expected 2, one a node");
  ExpectRefused(change(text, "[1,-1,-1]", "[1,-1,0.5]"), "expected numbers of I32");
  ExpectRefused(change(text, "[1,-1,-1]", "[1,-1,5000000000]"), "expected numbers of I32");
  ExpectRefused(change(text, "5E-1", "\"x\""), "expected numbers of F32");
  ExpectRefused("{" + UbjText("learner") + "[$l#L\x7f" + std::string(7, '\xff'),
                "expected at most");
  ExpectRefused("{" + UbjText("learner") + std::string(500, '['), "more than 128 levels");
  ExpectRefused("{" + UbjText("learner") + "H", "the type 0x48 of UBJSON");
  ExpectRefused(UbjModel() + "x", "1 bytes after the value");
}

TEST_F(TreeModels, OfLightgbmAreTheirListsAndParameters) {
  const std::string text = LightgbmOf(LightgbmTree(0) + LightgbmTree(1, "2 3"), 2);
  EXPECT_EQ(Tensor(text, "trees/leaf_value"), BytesOf<double>({0.5, -1.25, 2, 3}));
  EXPECT_EQ(Tensor(text, "trees/split_feature"), BytesOf<std::int32_t>({3, 3}));
  EXPECT_EQ(Tensor(text, "trees/num_leaves"), BytesOf<std::int32_t>({2, 2}));
  EXPECT_EQ(Part(text, "(model)"), "tree\nnum_class=1\nobjective=binary sigmoid:1\n");
  const std::string trees = LightgbmTree(0) + LightgbmTree(1, "2 3");
  EXPECT_NE(Part(LightgbmOf(trees, 2, "0.2"), "(parameters)"), Part(text, "(parameters)"));
  EXPECT_EQ(Part(LightgbmOf(trees, 2, "0.1", "8"), "(parameters)"), Part(text, "(parameters)"));
  EXPECT_NE(Part(text, "(surroundings)").find("num_threads"), std::string::npos);
  EXPECT_NE(DigestOf(LightgbmOf(LightgbmTree(0), 1)), DigestOf(text));
}

TEST_F(TreeModels, OfLightgbmAreRefusedWithTheLine) {
  const std::string tree = LightgbmTree(0);
  ExpectRefused(LightgbmOf(tree, 2), "1 trees; expected 2");
  ExpectRefused(LightgbmOf(LightgbmTree(1), 1), "line 7: expected Tree=0");
  ExpectRefused(LightgbmOf(LightgbmTree(0, "1 2 3"), 1), "leaf_value has 3 numbers; expected 2");
  ExpectRefused(LightgbmOf(LightgbmTree(0, "1 x"), 1), "line 16: leaf_value: 'x'");
  ExpectRefused(LightgbmOf("Tree=0\nnum_leaves=0\n\n", 1), "a tree of 0 leaves");
  ExpectRefused(LightgbmOf("Tree=0\nnum_leaves=2\nnum_leaves=2\n", 1), "occurs twice");
  ExpectRefused(LightgbmOf("Tree=0\nnum_leaves=9999999999\n", 1), "expected numbers of I32");
}

TEST_F(TreeModels, AreNeverReadAsTheWholeWhereTheyAreCutOff) {
  const std::string text = LightgbmOf(LightgbmTree(0), 1);
  const std::string digest = DigestOf(text), parameters = Part(text, "(parameters)");
  for (const std::string& whole : {XgboostOf(kTwoTrees), UbjModel(), text}) {
    for (std::size_t size = 17; size < whole.size(); ++size) {
      const auto cut = Open(whole.substr(0, size), "m.any");
      if (!cut.ok()) continue;
      // A text has no end of its own, but its parameters say how far it goes.
      EXPECT_EQ(whole, text) << size;
      const auto part = std::ranges::find((*cut)->unread(), "(parameters)", &UnreadPart::name);
      EXPECT_TRUE(part == (*cut)->unread().end() || part->content != parameters) << size;
    }
  }
}

TEST_F(TreeModels, AreAnErrorOrReadableWhateverAByteSays) {
  for (const std::string& whole :
       {XgboostOf(kTwoTrees), UbjModel(), LightgbmOf(LightgbmTree(0), 1)}) {
    for (std::size_t at = 0; at < whole.size(); at += 5) {
      for (const int flip : {1, 0x80}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        const auto checkpoint = Open(changed, "m.any");
        EXPECT_TRUE(!checkpoint.ok() || DigestCheckpoint(**checkpoint).ok()) << at;
      }
    }
  }
}

}  // namespace
}  // namespace rharness
