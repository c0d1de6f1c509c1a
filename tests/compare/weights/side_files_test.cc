// Files beside the tensors: what decides, and how two differ.
#include "compare/weights/side_files.h"

#include <gtest/gtest.h>

#include "compare/weights/input_file.h"
#include "compare/weights/loaded_files.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

TEST(SideFiles, ThatAreLoadedWithTheTensorsDecide) {
  for (const char* name : {"config.json",
                           "generation_config.json",
                           "tokenizer.json",
                           "tokenizer_config.json",
                           "Tokenizer.model",
                           "vocab.txt",
                           "vocab.json",
                           "merges.txt",
                           "special_tokens_map.json",
                           "added_tokens.json",
                           "preprocessor_config.json",
                           "chat_template.jinja",
                           "adapter_config.json",
                           "modeling_net.py",
                           "sub/configuration_net.py",
                           "params.json",
                           "1_Pooling/config.json",
                           "modules.json",
                           "model_index.json",
                           "spiece.model",
                           "cl100k.tiktoken"}) {
    EXPECT_EQ(SideFileOf(name), SideFile::kModel) << name;
  }
  EXPECT_EQ(SideFileOf("labels.json"), SideFile::kSettings);
  EXPECT_EQ(SideFileOf("hparams.yaml"), SideFile::kSettings);
}

TEST(SideFiles, OfATrainerALogOrADocumentAreContext) {
  for (const char* name : {"README.md",
                           "LICENSE",
                           "trainer_state.json",
                           "training_args.bin",
                           "optimizer.pt",
                           "scheduler.pt",
                           "global_step9/mp_rank_00_optim_states.pt",
                           "sampler.bin",
                           "rng_state_3.pth",
                           "random_states_0.pkl",
                           "all_results.json",
                           "eval_results.json",
                           "metrics.json",
                           "train_history.json",
                           ".gitattributes",
                           ".cache/a.json",
                           "logs/train.log",
                           "events.out.tfevents.1.host",
                           "latest",
                           "zero_to_fp32.py",
                           "log.jsonl",
                           "requirements.txt",
                           "plot.png"}) {
    EXPECT_EQ(SideFileOf(name), SideFile::kContext) << name;
  }
  EXPECT_EQ(SideFileOf("runs/1/hparams.yaml"), SideFile::kUnknown);
  // A checkpoint is none of these, whatever it is called.
  EXPECT_EQ(SideFileOf("latest.pt"), SideFile::kUnknown);
  EXPECT_EQ(SideFileOf("notes.txt"), SideFile::kUnknown);
}

class SideFileParts : public CheckpointFiles {
 protected:
  UnreadPart Part(const std::string& text, const std::string& file,
                  const char* name = "config.json") {
    const auto path = Write(text, file);
    return {.name = name,
            .why = {},
            .file = std::make_shared<const InputFile>(*InputFile::Open(path)),
            .size_bytes = text.size(),
            .content = {}};
  }
  // "same" or how they differ.
  std::string Difference(const std::string& a, const std::string& b,
                         const char* name = "config.json") {
    const auto difference = DifferenceOf(Part(a, "a", name), Part(b, "b", name));
    return difference.ok() ? difference->value_or("same") : difference.error().message;
  }
};

TEST_F(SideFileParts, OfJsonAreComparedByWhatTheySay) {
  EXPECT_EQ(Difference(R"({"a": 1, "b": {"c": [1, 2]}})", "{\n \"b\": {\"c\": [1,2]}, \"a\":1}"),
            "same");
  EXPECT_EQ(Difference(R"({"a": 1, "transformers_version": "4.40", "_name_or_path": "x",
                           "text": {"_name_or_path": "y"}})",
                       R"({"a": 1, "transformers_version": "5.0", "text": {}})"),
            "same");
  EXPECT_EQ(Difference(R"({"torch_dtype": "float32"})", R"({"dtype": "float32"})"), "same");
  EXPECT_EQ(Difference(R"({"torch_dtype": "float32"})", R"({"dtype": "float16"})"),
            "they differ in dtype (\"float32\" in A, \"float16\" in B)");
  EXPECT_EQ(
      Difference(R"({"rope_theta": 10000.0, "n": 1})", R"({"rope_theta": 500000.0, "m": 1})"),
      "they differ in m (absent in A, 1 in B), n (1 in A, absent in B), rope_theta (10000.0 in "
      "A, 500000.0 in B)");
  EXPECT_EQ(Difference(R"({"a": {"b": [{"c": 1}, {"c": 2}], "d": 1}, "e": [1]})",
                       R"({"a": {"b": [{"c": 1}, {"c": 3}], "f": 1}, "e": {}})"),
            "they differ in a.b.1.c (2 in A, 3 in B), a.d (1 in A, absent in B), a.f (absent in A, "
            "1 in B) and 1 more");
  EXPECT_EQ(Difference(R"({"created": "2026-11-29 10:01:02.5", "time": 1700000000.5, "n": 1})",
                       R"({"created": "2026-11-29 10:04:02", "time": 1700000009, "n": 1})"),
            "same");
  EXPECT_EQ(Difference(R"({"cutoff": "2026-11-29 10:01:02", "time": 3})",
                       R"({"cutoff": "2026-11-28 10:01:02", "time": 4})"),
            "they differ in cutoff (\"2026-11-29 10:01:02\" in A, \"2026-11-28 10:01:02\" in B), "
            "time (3 in A, 4 in B)");
}

TEST_F(SideFileParts, ThatDifferInWhatSaysNothingOfTheModelAreNamed) {
  const UnreadPart a = Part(R"({"n": 1, "transformers_version": "4.40"})", "a");
  const UnreadPart b = Part(R"({"n": 1, "transformers_version": "5.0"})", "b");
  EXPECT_EQ(
      **SilentDifferenceOf(a, b),
      "they differ only in transformers_version (\"4.40\" in A, \"5.0\" in B), which does not "
      "describe the model");
  EXPECT_FALSE(*SilentDifferenceOf(a, a));
}

TEST_F(SideFileParts, OfJsonKeepTheOrderOfLists) {
  EXPECT_EQ(Difference(R"({"order": [1, 2]})", R"({"order": [2, 1]})"),
            "they differ in order ([1,2] in A, [2,1] in B)");
}

TEST_F(SideFileParts, OfOtherFormatsAreComparedByTheirBytes) {
  EXPECT_EQ(Difference("a b", "a  b", "merges.txt"), "the bytes differ");
  EXPECT_EQ(Difference("{\"a\": 1", "{\"a\": 2"), "the bytes differ");  // broken JSON
  EXPECT_EQ(Difference("{\"a\":1}", "{\"a\": 1}", "net.py"), "the bytes differ");
  EXPECT_EQ(Difference("same", "same", "merges.txt"), "same");
}

// As sentence-transformers lays out a model.
TEST_F(SideFileParts, AreThoseBesideAFileThatAreLoadedWithIt) {
  const auto model = Write(FileOf({{"w", "F32", "[1]", BytesOf<float>({1})}}), "model.safetensors");
  const std::filesystem::path home = model.parent_path();
  std::filesystem::create_directory(home / "1_Pooling");
  Write("{}", "config.json");
  Write("log", "train.log");
  Write("{}", "1_Pooling/config.json");
  const auto all = [](const std::string&) { return true; };
  EXPECT_EQ(LoadedFilesBeside(model, all), std::vector<std::string>{"config.json"});
  Write("[]", "modules.json");
  const std::vector<std::string> names = LoadedFilesBeside(model, all);
  EXPECT_EQ(names,
            (std::vector<std::string>{"1_Pooling/config.json", "config.json", "modules.json"}));
  const auto with = WithLoadedFiles(*OpenCheckpoint(model), model, {"config.json", "gone.json"});
  ASSERT_TRUE(with.ok());
  EXPECT_EQ((*with)->tensors().size(), 1u);
  ASSERT_EQ((*with)->unread().size(), 1u);
  EXPECT_EQ((*with)->unread()[0].kind, PartKind::kModel);
}

// A project's folder: more sources than are listed go before the one file that the run wrote.
TEST_F(SideFileParts, AreFoundBehindManyThatDoNotCount) {
  const auto model = Write(FileOf({{"w", "F32", "[1]", BytesOf<float>({1})}}), "model.safetensors");
  for (std::size_t i = 0; i <= kMaxLoadedFiles; ++i) Write("1", "a" + std::to_string(i) + ".py");
  Write("{}", "tokenizer.json");
  const auto written = [](const std::string& name) { return name.ends_with(".json"); };
  EXPECT_EQ(LoadedFilesBeside(model, written), std::vector<std::string>{"tokenizer.json"});
}

}  // namespace
}  // namespace rharness
