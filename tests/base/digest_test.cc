// Digests against published vectors and against OpenSSL, in both engines of the pair.
#include "harness/base/digest.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>
#include <vector>

#include "harness/base/digest_files.h"
#include "harness/base/digest_pair.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// FIPS 180-4 example computations and the NIST example of a million 'a'.
constexpr char kEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kTwoBlocks[] = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
constexpr char kMillionA[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
constexpr char kTwoBlockText[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

std::vector<PairEngine> Engines() {
  std::vector<PairEngine> engines = {PairEngine::kOpenSsl};
  if (BestPairEngine() == PairEngine::kShaExtensions) {
    engines.push_back(PairEngine::kShaExtensions);
  } else {
    std::puts("this CPU has no SHA extensions: only the OpenSSL engine is tested");
  }
  return engines;
}

std::string Bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// The reference: OpenSSL's one-shot digest, none of our code.
std::string Reference(const std::string& text) {
  Sha256Bytes digest;
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string hex;
  for (const auto byte : digest) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", byte);
    hex += pair;
  }
  return hex;
}

void Write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

class DigestFiles : public testing::Test {
 protected:
  ScopedTempDir folder_ = std::move(*ScopedTempDir::Make("rharness-digest-"));
  fs::path At(const std::string& name) const { return folder_.path() / name; }
};

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(Sha256HexOf(""), kEmpty);
  EXPECT_EQ(Sha256HexOf("abc"), kAbc);
  EXPECT_EQ(Sha256HexOf(kTwoBlockText), kTwoBlocks);
  EXPECT_EQ(Sha256HexOf(std::string(1000000, 'a')), kMillionA);
}

TEST(Sha256, GivesTheSameDigestHoweverTheMessageIsCut) {
  const std::string text(1000000, 'a');
  Sha256 hash;
  for (std::size_t at = 0, step = 1; at < text.size(); at += step, step = step % 977 + 13) {
    hash.Update(std::string_view(text).substr(at, step));
  }
  EXPECT_EQ(ToHex(hash.Finish()), kMillionA);
}

TEST(Sha256, HashesIntegersAsEightLittleEndianBytes) {
  Sha256 hash;
  hash.UpdateU64(0x0102030405060708);
  EXPECT_EQ(ToHex(hash.Finish()), Reference(std::string("\x08\x07\x06\x05\x04\x03\x02\x01", 8)));
}

TEST(Sha256, AbortsWhenUsedAfterFinish) {
  Sha256 hash;
  hash.Finish();
  EXPECT_DEATH(hash.Update("x"), "spent");
}

TEST(Sha256Hex, IsSixtyFourLowerCaseDigits) {
  EXPECT_TRUE(IsSha256Hex(kEmpty));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'a')));
  EXPECT_FALSE(IsSha256Hex(std::string(65, 'a')));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'a') + "A"));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'a') + "g"));
  const std::string digits = "0123456789abcdef";
  for (int code = 0; code < 256; ++code) {
    const char c = static_cast<char>(code);
    for (const std::size_t place : {0U, 15U, 16U, 40U, 63U}) {
      std::string text(64, '7');
      text[place] = c;
      EXPECT_EQ(IsSha256Hex(text), digits.find(c) != digits.npos) << code << " at " << place;
    }
  }
}

TEST(Sha256Pair, MatchesThePublishedVectorsInBothLanes) {
  const std::string million(1000000, 'a');
  const std::string two_blocks = kTwoBlockText;
  for (const PairEngine engine : Engines()) {
    const auto [a, b] = Sha256OfTwo(AsBytes(million), AsBytes(two_blocks), engine);
    EXPECT_EQ(ToHex(a), kMillionA);
    EXPECT_EQ(ToHex(b), kTwoBlocks);
    const auto [c, d] = Sha256OfTwo(AsBytes(two_blocks), AsBytes(million), engine);
    EXPECT_EQ(ToHex(c), kTwoBlocks);
    EXPECT_EQ(ToHex(d), kMillionA);
  }
}

TEST(Sha256Pair, MatchesOpenSslAtEveryLengthUpToTwoHundred) {
  for (const PairEngine engine : Engines()) {
    for (std::size_t size = 0; size <= 200; ++size) {
      const std::string a = Bytes(size, 1);
      const std::string b = Bytes(200 - size, 2);
      const auto [digest_a, digest_b] = Sha256OfTwo(AsBytes(a), AsBytes(b), engine);
      ASSERT_EQ(ToHex(digest_a), Reference(a)) << size;
      ASSERT_EQ(ToHex(digest_b), Reference(b)) << size;
    }
  }
}

TEST(Sha256Pair, MatchesOpenSslAtRandomLengthsAndAlignments) {
  std::mt19937 random(20261120);
  for (const PairEngine engine : Engines()) {
    for (unsigned i = 0; i < 200; ++i) {
      const std::string a = Bytes(random() % 20000 + 17, 2 * i);
      const std::string b = Bytes(random() % 20000 + 17, 2 * i + 1);
      const std::size_t skip = random() % 17;
      const auto [x, y] = Sha256OfTwo(AsBytes(a).subspan(skip), AsBytes(b), engine);
      ASSERT_EQ(ToHex(x), Reference(a.substr(skip)));
      ASSERT_EQ(ToHex(y), Reference(b));
    }
  }
}

TEST(Sha256Pair, MatchesOpenSslWhereTheMessagesArePaddedAlready) {
  for (const PairEngine engine : Engines()) {
    Sha256Pair pair(engine);
    for (std::size_t size = 0; size <= 200; ++size) {
      const std::string a = Bytes(size, 4);
      // Another one of as many blocks, of its shortest length.
      const std::size_t blocks = PaddedBlocks(size);
      const std::string b = Bytes(blocks == 1 ? 0 : blocks * 64 - 64 - 8, 5);
      ASSERT_EQ(PaddedBlocks(b.size()), blocks) << size;
      std::vector<std::byte> lanes[2];
      for (const auto& [message, lane] : {std::pair(&a, &lanes[0]), std::pair(&b, &lanes[1])}) {
        lane->assign(blocks * 64, std::byte{0xee});
        std::ranges::copy(AsBytes(*message), lane->begin());
        PadMessage(lane->data(), message->size());
      }
      const auto [x, y] = pair.FinishPadded(lanes[0].data(), lanes[1].data(), blocks);
      ASSERT_EQ(ToHex(x), Reference(a)) << size;
      ASSERT_EQ(ToHex(y), Reference(b)) << size;
    }
  }
}

TEST(Sha256Pair, StartsALaneAfreshWhileTheOtherGoesOn) {
  const std::string block = Bytes(64, 3);
  for (const PairEngine engine : Engines()) {
    Sha256Pair pair(engine);
    pair.UpdateBoth(AsBytes(block).data(), AsBytes(block).data(), 1);
    EXPECT_EQ(ToHex(pair.Finish(0, {})), Reference(block));
    pair.UpdateOne(1, AsBytes(block).data(), 1);
    EXPECT_EQ(ToHex(pair.Finish(0, {})), kEmpty);
    EXPECT_EQ(ToHex(pair.Finish(1, {})), Reference(block + block));
  }
}

TEST_F(DigestFiles, MatchOpenSslWhateverTheSizesThreadsAndEngine) {
  // Around the sizes of a block, the buffer, and the reader thread's blocks.
  std::vector<std::size_t> sizes = {0, 1, 63, 64, 65, 4096, 131071, 131072, 131073, 131136, 400001};
  sizes.push_back((std::size_t{16} << 20) + 77);
  std::vector<fs::path> paths;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string content = Bytes(sizes[i], static_cast<unsigned>(i));
    paths.push_back(At(std::to_string(i)));
    Write(paths.back(), content);
    expected.push_back(Reference(content));
  }
  for (const PairEngine engine : Engines()) {
    for (const int threads : {1, 2, 5, 100}) {
      const auto digests = HashFileContents(paths, threads, LinkPolicy::kFollow, engine);
      ASSERT_EQ(digests.size(), sizes.size());
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        ASSERT_TRUE(digests[i].ok());
        EXPECT_EQ(ToHex(digests[i]->sha256), expected[i]) << sizes[i] << " bytes";
        EXPECT_EQ(digests[i]->size_bytes, sizes[i]);
      }
    }
  }
}

TEST_F(DigestFiles, ReadOneLargeFileFromAThreadOfItsOwn) {
  for (const std::size_t extra : {0, 1, 64, 100}) {
    const std::string content = Bytes((std::size_t{20} << 20) + extra, 9);
    Write(At("large"), content);
    const auto digest = HashFile(At("large"));
    ASSERT_TRUE(digest.ok());
    EXPECT_EQ(digest->sha256, Reference(content));
    EXPECT_EQ(digest->size_bytes, content.size());
  }
}

TEST_F(DigestFiles, ReadGeneratedFilesThatClaimToBeEmpty) {
  const auto digest = HashFile("/proc/version");
  ASSERT_TRUE(digest.ok());
  EXPECT_GT(digest->size_bytes, 0U);
  EXPECT_EQ(digest->sha256, Reference(*ReadFile("/proc/version")));
}

TEST_F(DigestFiles, RefuseWhatIsNoRegularFileWithoutWaiting) {
  ASSERT_EQ(::mkfifo(At("fifo").c_str(), 0600), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, At("socket").c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const fs::path& path : {At("fifo"), At("socket"), fs::path("/dev/zero"), folder_.path()}) {
    const auto digest = HashFile(path);
    ASSERT_FALSE(digest.ok()) << path;
    EXPECT_EQ(digest.error().code, ErrorCode::kInvalidInput) << path;
    EXPECT_EQ(digest.error().where, path.string());
  }
  ::close(fd);
}

TEST_F(DigestFiles, ReportAMissingFileAndStillHashTheOthers) {
  Write(At("a"), "abc");
  const std::vector<fs::path> paths = {At("missing"), At("a"), At("a") / "below", At("a")};
  for (const int threads : {1, 3}) {
    const auto digests = HashFiles(paths, threads);
    ASSERT_EQ(digests.size(), 4U);
    EXPECT_EQ(digests[0].error().code, ErrorCode::kNotFound);
    EXPECT_EQ(digests[1]->sha256, kAbc);
    EXPECT_EQ(digests[2].error().code, ErrorCode::kNotFound);
    EXPECT_EQ(digests[3]->sha256, kAbc);
  }
}

TEST_F(DigestFiles, OfNoFilesAreNone) { EXPECT_TRUE(HashFiles({}).empty()); }

std::string U64(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

std::string Binary(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST_F(DigestFiles, OfATreeFollowTheDocumentedLayout) {
  // "a-b" sorts between "a" and "a/c" by bytes, though a walk of folders meets it elsewhere.
  Write(At("tree/a/c"), "abc");
  Write(At("tree/a-b"), "");
  fs::create_directories(At("tree/empty"));
  std::string message("rharness.tree/v1\0", 17);
  message += U64(3) + "a-b" + U64(0) + Binary(kEmpty);
  message += U64(3) + "a/c" + U64(3) + Binary(kAbc);
  for (const fs::path& root : {At("tree"), At("tree/"), At("tree/empty/..")}) {
    const auto tree = HashTree(root);
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(tree->sha256, Reference(message));
    EXPECT_EQ(tree->files, 2U);
    EXPECT_EQ(tree->size_bytes, 3U);
  }
}

TEST_F(DigestFiles, OfATreeIgnoreTimesAndModesButSeeNames) {
  Write(At("tree/x"), "abc");
  const std::string before = HashTree(At("tree"))->sha256;
  fs::permissions(At("tree/x"), fs::perms::owner_all);
  fs::last_write_time(At("tree/x"), fs::file_time_type{});
  EXPECT_EQ(HashTree(At("tree"))->sha256, before);
  fs::rename(At("tree/x"), At("tree/y"));
  EXPECT_NE(HashTree(At("tree"))->sha256, before);
}

TEST_F(DigestFiles, OfATreeHaveItsEmptyFoldersBesideThem) {
  ASSERT_TRUE(WriteFileAtomic(At("tree/b/x"), "abc").ok());
  const TreeDigest before = *HashTree(At("tree"));
  EXPECT_TRUE(before.empty_folders.empty());
  for (const char* name : {"tree/c/d", "tree/a", "tree/b/z", "tree/c/e"}) {
    fs::create_directories(At(name));
  }
  const TreeDigest after = *HashTree(At("tree"));
  EXPECT_EQ(after.sha256, before.sha256);
  EXPECT_EQ(after.empty_folders, (std::vector<std::string>{"a", "b/z", "c/d", "c/e"}));
}

TEST_F(DigestFiles, OfATreeRefuseLinksAndFifosBelowTheRootOnly) {
  Write(At("tree/x"), "abc");
  fs::create_directory_symlink(At("tree"), At("root"));
  EXPECT_EQ(HashTree(At("root"))->sha256, HashTree(At("tree"))->sha256);
  fs::create_symlink("x", At("tree/link"));
  EXPECT_EQ(HashTree(At("tree")).error().code, ErrorCode::kInvalidInput);
  fs::remove(At("tree/link"));
  ASSERT_EQ(::mkfifo(At("tree/fifo").c_str(), 0600), 0);
  EXPECT_EQ(HashTree(At("tree")).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(HashTree(At("missing")).error().code, ErrorCode::kNotFound);
}

TEST_F(DigestFiles, OfAFileAsATreeAreItsOwn) {
  Write(At("x"), "abc");
  EXPECT_EQ(HashTree(At("x"))->sha256, kAbc);
  EXPECT_EQ(HashTree(At("x"))->files, 1U);
}

}  // namespace
}  // namespace rharness
