// TorchScript archives and programs of torch.export: tensors in one digest with safetensors; code
// and graph as parts that decide; damaged archives are errors.
#include "compare/weights/torch_export.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compare/weights/side_files.h"
#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/pickle_bytes.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

const std::string kThreeFloats = BytesOf<float>({1, 2, 3}), kTwoFloats = BytesOf<float>({4, 5});

class TorchPrograms : public CheckpointFiles {
 protected:
  std::unique_ptr<Checkpoint> Program(const std::vector<TestMember>& members) {
    return MustOpen(ZipOf(members), std::to_string(++files_) + ".pt2");
  }
  std::string DigestOf(const Checkpoint& checkpoint) {
    const auto digest = DigestCheckpoint(checkpoint);
    EXPECT_TRUE(digest.ok()) << digest.error().ToString();
    return digest.ok() ? digest->sha256 : "";
  }
  std::string PlainDigest(const std::vector<TestTensor>& tensors) {
    return DigestOf(*MustOpen(FileOf(tensors)));
  }
  const UnreadPart* Part(const Checkpoint& checkpoint, std::string_view name) {
    const auto part = std::ranges::find(checkpoint.unread(), name, &UnreadPart::name);
    return part == checkpoint.unread().end() ? nullptr : &*part;
  }
  int files_ = 0;
};

std::string FloatsOf(const std::string& key, std::int64_t size) {
  return PTensor(PStorage("FloatStorage", key, size), 0, {size}, {1});
}

std::vector<TestMember> ScriptOf(const std::string& code, const std::string& rate) {
  const std::string module =
      PGlobal("__torch__", "M") + ")\x81" +
      PDict({{"training", "\x88"}, {"rate", rate}, {"w", FloatsOf("0", 3)}}) + "b";
  return {{.name = "m/data.pkl", .content = PickleOf(module)},
          {.name = "m/data/0", .content = kThreeFloats},
          {.name = "m/constants.pkl", .content = PickleOf(PTuple({FloatsOf("0", 2)}))},
          {.name = "m/constants/0", .content = kTwoFloats},
          {.name = "m/code/__torch__.py", .content = code},
          {.name = "m/code/__torch__.py.debug_pkl", .content = "lines"},
          {.name = "m/version", .content = "3\n"}};
}

TEST_F(TorchPrograms, OfTorchScriptAreTheirTensorsWithCodeThatDecides) {
  const auto script = Program(ScriptOf("def forward(self): ...", "K\1"));
  EXPECT_EQ(DigestOf(*script), PlainDigest({{"(constants).0", "F32", "[2]", kTwoFloats},
                                            {"w", "F32", "[3]", kThreeFloats}}));
  ASSERT_NE(Part(*script, "code/__torch__.py"), nullptr);
  EXPECT_EQ(Part(*script, "code/__torch__.py")->kind, PartKind::kModel);
  EXPECT_EQ(Part(*script, "code/__torch__.py.debug_pkl")->kind, PartKind::kAside);
  ASSERT_NE(Part(*script, "(attributes)"), nullptr);
  EXPECT_NE(Part(*script, "(attributes)")->content.find("rate: 1"), std::string::npos);
  EXPECT_EQ(Part(*script, "(attributes)")->content.find("training"), std::string::npos);
  const auto other = Program(ScriptOf("def forward(self): pass", "K\2"));
  for (const char* name : {"code/__torch__.py", "(attributes)"}) {
    EXPECT_TRUE(*DifferenceOf(*Part(*script, name), *Part(*other, name))) << name;
  }
}

std::string ListOf(const std::string& name, const std::string& file, const std::string& sizes,
                   const std::string& strides, const std::string& rest = "\"layout\": 7") {
  return R"({"config": {")" + name + R"(": {"path_name": ")" + file +
         R"(", "use_pickle": false, "tensor_meta": {"dtype": 7, "sizes": [)" + sizes +
         R"(], "strides": [)" + strides + R"(], "storage_offset": {"as_int": 0}, )" + rest + "}}}}";
}
constexpr const char* kSizeThree = R"({"as_int": 3})";
constexpr const char* kSizeTwo = R"({"as_int": 2})";
constexpr const char* kSizeOne = R"({"as_int": 1})";

std::vector<TestMember> ExportOf(const std::string& list, const std::string& graph) {
  return {{.name = "m/archive_format", .content = "pt2"},
          {.name = "m/byteorder", .content = "little"},
          {.name = "m/data/weights/model_weights_config.json", .content = list},
          {.name = "m/data/weights/weight_0", .content = kThreeFloats},
          {.name = "m/data/constants/model_constants_config.json",
           .content = ListOf("c", "tensor_0", kSizeTwo, kSizeOne)},
          {.name = "m/data/constants/tensor_0", .content = kTwoFloats},
          {.name = "m/data/sample_inputs/model.pt", .content = "inputs"},
          {.name = "m/extra/notes.txt", .content = "notes"},
          {.name = "m/models/model.json", .content = graph}};
}

std::string NodesOf(const std::string& target, const std::string& trace,
                    const std::string& version) {
  return R"({"graph": {"nodes": [{"target": ")" + target +
         R"(", "inputs": [], "metadata": {"stack_trace": ")" + trace +
         R"("}}]}, "torch_version": ")" + version + "\"}";
}

TEST_F(TorchPrograms, OfTorchExportAreTheirTensorsWithAGraphThatDecides) {
  const std::string list = ListOf("fc.w", "weight_0", kSizeThree, kSizeOne);
  const auto program = Program(ExportOf(list, NodesOf("add", "a.py:1", "2.9")));
  EXPECT_EQ(DigestOf(*program), PlainDigest({{"(constants).c", "F32", "[2]", kTwoFloats},
                                             {"fc.w", "F32", "[3]", kThreeFloats}}));
  ASSERT_EQ(program->unread().size(), 3u);
  EXPECT_EQ(Part(*program, "extra/notes.txt")->kind, PartKind::kModel);
  EXPECT_EQ(Part(*program, "data/sample_inputs/model.pt")->kind, PartKind::kAside);
  const UnreadPart* graph = Part(*program, "models/model.json");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(graph->kind, PartKind::kModel);
  const auto moved = Program(ExportOf(list, NodesOf("add", "elsewhere.py:7", "2.15")));
  EXPECT_FALSE(*DifferenceOf(*graph, *Part(*moved, "models/model.json")));
  const auto other = Program(ExportOf(list, NodesOf("sub", "a.py:1", "2.9")));
  EXPECT_TRUE(*DifferenceOf(*graph, *Part(*other, "models/model.json")));
}

TEST_F(TorchPrograms, OfTheOlderLayoutsHaveOneDigestWithTheNewOne) {
  const std::string weights =
      TorchFileOf(PickleOf(PDict({{"fc.w", FloatsOf("0", 3)}})), {kThreeFloats});
  const std::string constants =
      TorchFileOf(PickleOf(PDict({{"c", FloatsOf("0", 2)}})), {kTwoFloats});
  const std::string digest =
      DigestOf(*Program(ExportOf(ListOf("fc.w", "weight_0", kSizeThree, kSizeOne), "{}")));
  EXPECT_EQ(DigestOf(*Program({{.name = "serialized_exported_program.json", .content = "{}"},
                               {.name = "serialized_state_dict.pt", .content = weights},
                               {.name = "serialized_constants.pt", .content = constants},
                               {.name = "serialized_example_inputs.pt", .content = "any"},
                               {.name = "version", .content = "8.2"}})),
            digest);
  EXPECT_EQ(DigestOf(*Program({{.name = "m/archive_format", .content = "pt2"},
                               {.name = "m/data/weights/model.pt", .content = weights},
                               {.name = "m/data/constants/model.pt", .content = constants},
                               {.name = "m/models/model.json", .content = "{}"}})),
            digest);
}

TEST_F(TorchPrograms, AreRefusedWithTheMemberAtFault) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"{}", "expected an object 'config'"},
      {"[", "model_weights_config.json"},
      {R"({"config": {"a": {}}})", "tensor 'a': expected a text 'path_name'"},
      {ListOf("a", "absent", kSizeThree, kSizeOne), "its file 'absent' is not in the archive"},
      {ListOf("a", "weight_0", R"({"as_int": 4})", kSizeOne), "reaches beyond the 12 bytes"},
      {ListOf("a", "weight_0", R"({"as_int": -1})", kSizeOne), "expected sizes"},
      {ListOf("a", "weight_0", R"({"as_expr": "s0"})", kSizeOne), "expected sizes"},
      {ListOf("a", "weight_0", kSizeThree, ""), "expected sizes"},
      {ListOf("a", "weight_0", R"({"as_int": 9223372036854775807})", kSizeTwo),
       "9223372036854775807"},
  };
  for (const auto& [list, words] : rows) {
    const auto program = Open(ZipOf(ExportOf(list, "{}")), "x.pt2");
    ASSERT_FALSE(program.ok()) << words;
    EXPECT_NE(program.error().ToString().find(words), std::string::npos)
        << program.error().ToString();
  }
  const auto sparse =
      Program(ExportOf(ListOf("a", "weight_0", kSizeThree, kSizeOne, "\"layout\": 1"), "{}"));
  ASSERT_NE(Part(*sparse, "a"), nullptr);
  EXPECT_EQ(Part(*sparse, "a")->kind, PartKind::kPart);
}

TEST_F(TorchPrograms, AreNeverReadWhereTheyAreCutOff) {
  for (const std::string& whole :
       {ZipOf(ScriptOf("code", "K\1")),
        ZipOf(ExportOf(ListOf("w", "weight_0", kSizeThree, kSizeOne), "{}"))}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(Open(whole.substr(0, size), "x.pt").ok()) << size;
    }
  }
}

TEST_F(TorchPrograms, AreAnErrorOrReadableWhateverAByteSays) {
  for (const std::string& whole :
       {ZipOf(ScriptOf("code", "K\1")),
        ZipOf(ExportOf(ListOf("w", "weight_0", kSizeThree, kSizeOne), "{}"))}) {
    for (std::size_t at = 0; at < whole.size(); at += 3) {
      for (const int flip : {1, 0x80}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        const auto checkpoint = Open(changed, "x.pt");
        if (!checkpoint.ok()) continue;
        for (std::size_t i = 0; i < (*checkpoint)->tensors().size(); ++i) {
          std::string bytes((*checkpoint)->tensors()[i].size_bytes, '\0');
          (void)(*checkpoint)->Read(i, 0, std::as_writable_bytes(std::span(bytes)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace rharness
