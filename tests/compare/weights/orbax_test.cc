// Orbax's folders, the databases in them, and arrays of zarr in chunks of every shape.
#include "compare/weights/orbax.h"

#include <gtest/gtest.h>

#include <random>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/ocdbt.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/base64.h"
#include "harness/base/crc32c.h"
#include "tests/compare/weights/ocdbt_files.h"
#include "tests/compare/weights/ocdbt_parts.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

class OrbaxFiles : public CheckpointFiles {
 protected:
  template <class Files>
  void WriteAll(const Files& files, const std::string& below) {
    for (const StoredFile& file : files) {
      const std::string path = below + "/" + std::string(file.path);
      fs::create_directories((folder() / path).parent_path());
      Write(*FromBase64Text(file.base64), path);
    }
  }
  void WriteText(const std::string& path, const std::string& content) {
    fs::create_directories((folder() / path).parent_path());
    Write(content, path);
  }
};

TEST_F(OrbaxFiles, AreReadUnderTheNamesOfTheirTree) {
  WriteAll(kOrbaxFiles, "ck");
  const auto checkpoint = OpenCheckpoint(folder() / "ck");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  const std::string same = FileOf(
      {{"params/dense/kernel", "F32", "[2,3]", BytesOf(std::vector<float>{0, 1, 2, 3, 4, 5})},
       {"step", "I32", "[]", "\x07\0\0\0"s}});
  EXPECT_EQ(DigestCheckpoint(**checkpoint)->sha256, DigestCheckpoint(*MustOpen(same))->sha256);
  EXPECT_TRUE((*checkpoint)->unread().empty());
  // The manifest stands for the folder.
  EXPECT_EQ(DigestCheckpoint(**OpenCheckpoint(folder() / "ck/manifest.ocdbt"))->sha256,
            DigestCheckpoint(*MustOpen(same))->sha256);
  EXPECT_EQ(PartsOfCheckpoint(folder() / "ck/manifest.ocdbt")->size(), kOrbaxFiles.size() - 1);
}

TEST_F(OrbaxFiles, OfAStepAreItsItems) {
  WriteAll(kOrbaxFiles, "7/state");
  WriteText("7/_CHECKPOINT_METADATA", "{}");
  EXPECT_EQ((*OpenCheckpoint(folder() / "7"))->tensors()[0].name, "params/dense/kernel");
  WriteAll(kOrbaxFiles, "7/average");
  WriteText("7/about/metadata", R"({"a": 1})");
  const auto checkpoint = OpenCheckpoint(folder() / "7");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  ASSERT_EQ((*checkpoint)->tensors().size(), 4u);
  EXPECT_EQ((*checkpoint)->tensors()[0].name, "average/params/dense/kernel");
  ASSERT_EQ((*checkpoint)->unread().size(), 1u);
  EXPECT_EQ((*checkpoint)->unread()[0].name, "about/metadata");
}

// The highest number is the latest, not the last name; an unfinished step is none.
TEST_F(OrbaxFiles, OfAFolderOfStepsAreItsLatest) {
  WriteAll(kOrbaxFiles, "run/9/state");
  WriteText("run/9/_CHECKPOINT_METADATA", "{}");
  EXPECT_EQ((*OpenCheckpoint(folder() / "run"))->tensors()[0].name, "params/dense/kernel");
  WriteAll(kOrbaxFiles, "run/10/state");
  WriteAll(kOrbaxFiles, "run/10/average");
  WriteAll(kOrbaxFiles, "run/11.orbax-checkpoint-tmp-1700000000/state");
  const auto checkpoint = OpenCheckpoint(folder() / "run");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ((*checkpoint)->tensors().size(), 4u);
  using Metadata = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ((*checkpoint)->metadata(), (Metadata{{"step", "10"}}));
  ASSERT_EQ((*checkpoint)->unread().size(), 1u);
  EXPECT_EQ((*checkpoint)->unread()[0].name, "9");
  EXPECT_EQ((*checkpoint)->unread()[0].kind, PartKind::kAside);
  EXPECT_EQ(*MainFileOf(folder() / "run/9"), folder() / "run/9/_CHECKPOINT_METADATA");
  WriteText("run/10/_CHECKPOINT_METADATA", "{}");
  EXPECT_EQ(*MainFileOf(folder() / "run"), folder() / "run/10/_CHECKPOINT_METADATA");
}

TEST_F(OrbaxFiles, AreNeverReadWhereADatabaseIsCutOffOrChanged) {
  WriteAll(kOrbaxFiles, "ck");
  for (const StoredFile& file : kOrbaxFiles) {
    if (file.path.starts_with('_')) continue;
    const std::string whole = *FromBase64Text(file.base64), path = "ck/" + std::string(file.path);
    const std::string digest = DigestCheckpoint(**OpenCheckpoint(folder() / "ck"))->sha256;
    for (std::size_t at = 0; at < whole.size(); at += 3) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      for (const std::string& content : {whole.substr(0, at), changed}) {
        Write(content, path);
        const auto checkpoint = OpenCheckpoint(folder() / "ck");
        if (!checkpoint.ok()) continue;
        // Bytes that the latest version does not use, or values, which have no checksum.
        const auto read = DigestCheckpoint(**checkpoint);
        EXPECT_TRUE(!read.ok() || read->sha256 == digest || content.size() == whole.size()) << path;
      }
    }
    Write(whole, path);
  }
}

TEST_F(OrbaxFiles, OfATreeOfSeveralLevelsHaveAllKeys) {
  WriteAll(kDeepFiles, "deep");
  const auto store = ReadOcdbt(folder() / "deep", nullptr);
  ASSERT_TRUE(store.ok()) << store.error().ToString();
  ASSERT_EQ(store->values.size(), 30u);
  for (int i = 0; i < 30; ++i) {
    const std::string key =
        "key/" + std::to_string(i % 3) + (i < 10 ? "/0" : "/") + std::to_string(i);
    const auto value = store->values.find(key);
    ASSERT_NE(value, store->values.end()) << key;
    std::string bytes(value->second.size_bytes, '\0');
    ASSERT_TRUE(ReadStored(value->second, 0, std::as_writable_bytes(std::span(bytes))).ok());
    EXPECT_EQ(bytes, std::string(static_cast<std::size_t>(i % 9), static_cast<char>(65 + i)));
  }
}

std::string Listed(const std::vector<std::uint64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ","));
}

// Random shapes in random grids, as files of zarr 2 without compression, whose margins hold bytes
// that belong to no element.
TEST_F(OrbaxFiles, AreReadInTheOrderOfElementsWhateverTheGrid) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const std::size_t rank = random() % 4;
    std::vector<std::uint64_t> shape, chunk;
    std::uint64_t elements = 1, in_chunk = 1, cells = 1;
    std::vector<std::uint64_t> grid;
    for (std::size_t i = 0; i < rank; ++i) {
      shape.push_back(1 + random() % 6);
      chunk.push_back(1 + random() % 7);
      grid.push_back((shape[i] + chunk[i] - 1) / chunk[i]);
      elements *= shape[i];
      in_chunk *= chunk[i];
      cells *= grid[i];
    }
    const std::string name = "r" + std::to_string(round);
    WriteText(name + "/w/.zarray", fmt::format(R"({{"zarr_format":2,"shape":{},"chunks":{},)"
                                               R"("dtype":"<u2","order":"C","compressor":null,)"
                                               R"("filters":null,"fill_value":0}})",
                                               Listed(shape), Listed(chunk)));
    std::vector<std::vector<std::uint16_t>> stored(cells,
                                                   std::vector<std::uint16_t>(in_chunk, 0xdead));
    std::vector<std::uint16_t> values(elements);
    for (std::uint64_t flat = 0; flat < elements; ++flat) {
      values[flat] = static_cast<std::uint16_t>(random());
      std::uint64_t rest = flat, cell = 0, inside = 0, cell_stride = 1, stride = 1;
      for (std::size_t i = rank; i-- > 0; rest /= shape[i]) {
        const std::uint64_t index = rest % shape[i];
        cell += index / chunk[i] * cell_stride;
        inside += index % chunk[i] * stride;
        cell_stride *= grid[i];
        stride *= chunk[i];
      }
      stored[cell][inside] = values[flat];
    }
    for (std::uint64_t cell = 0; cell < cells; ++cell) {
      std::string key;
      std::uint64_t rest = cell;
      for (std::size_t i = rank; i-- > 0; rest /= grid[i]) {
        key = std::to_string(rest % grid[i]) + (key.empty() ? "" : "." + key);
      }
      Write(BytesOf(stored[cell]), name + "/w/" + (key.empty() ? "0" : key));
    }
    const auto checkpoint = OpenCheckpoint(folder() / name);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    ASSERT_EQ((*checkpoint)->tensors().size(), 1u);
    EXPECT_TRUE(ReadAll(**checkpoint, 0) == BytesOf(values)) << Listed(shape) << Listed(chunk);
  }
}

TEST_F(OrbaxFiles, HaveElementsOf0WhereNoChunkIsStored) {
  const auto write = [&](const char* fill) {
    WriteText("ck/w/.zarray", fmt::format(R"({{"zarr_format":2,"shape":[4],"chunks":[2],)"
                                          R"("dtype":"|u1","fill_value":{}}})",
                                          fill));
  };
  write("0");
  Write("ab", "ck/w/1");
  EXPECT_EQ(ReadAll(**OpenCheckpoint(folder() / "ck"), 0), "\0\0ab"s);
  write("5");
  const auto filled = OpenCheckpoint(folder() / "ck");
  EXPECT_EQ(filled.error().code, ErrorCode::kUnsupported);
}

TEST_F(OrbaxFiles, AreRefusedWithTheFaultNamed) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"zarr_format":4})", "zarr_format 4"},
      {R"({"zarr_format":2,"shape":[2],"chunks":[0],"dtype":"|u1"})", "a chunk of no element"},
      {R"({"zarr_format":2,"shape":[2],"chunks":[1,1],"dtype":"|u1"})", "number of dimensions"},
      {R"({"zarr_format":2,"shape":[-2],"chunks":[1],"dtype":"|u1"})", "shape: expected a list"},
      {R"({"zarr_format":2,"shape":[2],"chunks":[2],"dtype":">f4"})", "the type '>f4'"},
      {R"({"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|u1","filters":[{}]})", "filters"},
      {R"({"zarr_format":2,"shape":[2,2],"chunks":[2,2],"dtype":"|u1","order":"F"})", "Fortran"},
      {R"({"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|u1","compressor":{"id":"blosc"}})",
       "the codec 'blosc'"},
      {R"({"zarr_format":2,"shape":[9007199254740992],"chunks":[1],"dtype":"|u1"})", "chunks"},
      {R"({"zarr_format":2,"shape":[9007199254740992],"chunks":[9007199254740992],"dtype":"|u1"})",
       "stored bytes stand for"},
      {R"({"zarr_format":2,"shape":[3],"chunks":[3],"dtype":"|u1"})", "of 2 bytes; expected 3"},
      {"[", "expected"},
  };
  for (const auto& [description, words] : rows) {
    WriteText("ck/w/.zarray", description);
    if (words != "stored bytes stand for") Write("ab", "ck/w/0");
    const auto result = OpenCheckpoint(folder() / "ck");
    ASSERT_FALSE(result.ok()) << words;
    EXPECT_NE(result.error().ToString().find(words), std::string::npos)
        << result.error().ToString();
    fs::remove(folder() / "ck/w/0");
  }
}

TEST_F(OrbaxFiles, AreAnErrorOrReadableWhateverABodyWithARightChecksumSays) {
  const std::string leaf = LeafOf(
      {{"w/.zarray", R"({"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"|u1","fill_value":0})"},
       {"w/0", "ab"},
       {"w/1", "cd"}});
  const auto write = [&](const std::string& body, const std::string& manifest) {
    WriteText("ck/d/x", OcdbtPart(kOcdbtNodeMagic, body));
    WriteText("ck/manifest.ocdbt", OcdbtPart(kOcdbtManifestMagic, manifest));
  };
  const std::string manifest = ManifestBodyOf(leaf.size() + 18);
  write(leaf, manifest);
  const auto whole = OpenCheckpoint(folder() / "ck");
  ASSERT_TRUE(whole.ok()) << whole.error().ToString();
  EXPECT_EQ(ReadAll(**whole, 0), "abcd");
  std::size_t refused = 0;
  for (const bool of_leaf : {true, false}) {
    const std::string& body = of_leaf ? leaf : manifest;
    for (std::size_t at = 0; at < body.size(); ++at) {
      for (const int byte : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string changed = body;
        changed[at] = static_cast<char>(byte);
        of_leaf ? write(changed, manifest) : write(leaf, changed);
        const auto checkpoint = OpenCheckpoint(folder() / "ck");
        if (!checkpoint.ok()) {
          EXPECT_NE(checkpoint.error().where, "");
          ++refused;
        } else {
          (void)DigestCheckpoint(**checkpoint);
        }
      }
    }
  }
  EXPECT_GT(refused, leaf.size());
}

TEST_F(OrbaxFiles, NeverLeaveTheirFolder) {
  std::string body = ManifestBodyOf(100);
  body.replace(body.find("d/x"), 3, "../");
  WriteText("ck/manifest.ocdbt", OcdbtPart("\x0c\xdb\x3a\x2a", body));
  const auto outside = OpenCheckpoint(folder() / "ck");
  ASSERT_FALSE(outside.ok());
  EXPECT_NE(outside.error().message.find("expected one below the database"), std::string::npos)
      << outside.error().ToString();
}

}  // namespace
}  // namespace rharness
