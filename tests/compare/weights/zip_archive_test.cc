// The zip reader: what writers write, what contradicts itself, and hostile archives.
#include "compare/weights/zip_archive.h"

#include <gtest/gtest.h>

#include <span>

#include "tests/compare/weights/safetensors_file.h"
#include "tests/compare/weights/zip_file.h"

namespace rharness {
namespace {

class Zips : public CheckpointFiles {
 protected:
  InputFile File(std::string_view content) {
    auto file = InputFile::Open(Write(content, "x.zip"));
    EXPECT_TRUE(file.ok());
    return std::move(file).value();
  }
  Result<ZipDirectory> Directory(std::string_view content) {
    return ReadZipDirectory(File(content));
  }
  void ExpectRefused(std::string_view content, ErrorCode code, std::string_view text) {
    const auto directory = Directory(content);
    ASSERT_FALSE(directory.ok()) << text;
    EXPECT_EQ(directory.error().code, code) << directory.error().ToString();
    EXPECT_NE(directory.error().where.find("x.zip: byte "), std::string::npos);
    EXPECT_NE(directory.error().message.find(text), std::string::npos)
        << directory.error().ToString();
  }
};

TEST_F(Zips, ReadsMembersInEveryWayToWriteThem) {
  ASSERT_EQ(Crc32Of("123456789"), 0xcbf43926u);
  std::vector<TestMember> members;
  for (int bits = 0; bits < 8; ++bits) {
    members.push_back({.name = "d/" + std::to_string(bits),
                       .content = std::string(static_cast<std::size_t>(bits) * 1000, 'a'),
                       .deflate = (bits & 1) != 0,
                       .descriptor = (bits & 2) != 0,
                       .zip64 = (bits & 4) != 0});
  }
  members.push_back({.name = "\xc3\xa9", .content = "e", .flags = 1u << 11});
  members.push_back({.name = "d/"});
  for (const std::string& comment : std::initializer_list<std::string>{"", "PK\5\6 a comment"}) {
    const InputFile file = File(ZipOf(members, comment));
    const auto directory = ReadZipDirectory(file);
    ASSERT_TRUE(directory.ok()) << directory.error().ToString();
    EXPECT_EQ(directory->members.size(), members.size());
    EXPECT_EQ(directory->Find("absent"), nullptr);
    for (const TestMember& member : members) {
      const ZipMember* found = directory->Find(member.name);
      ASSERT_NE(found, nullptr) << member.name;
      EXPECT_EQ(found->deflated, member.deflate);
      EXPECT_EQ(*ReadZipMember(file, *found, 1 << 20), member.content);
      EXPECT_TRUE(CheckZipMember(file, *found).ok());
      if (found->deflated) continue;
      std::string bytes(member.content.size(), '\0');
      ASSERT_TRUE(file.ReadAt(found->data_offset, std::as_writable_bytes(std::span(bytes))).ok());
      EXPECT_EQ(bytes, member.content);
    }
  }
}

TEST_F(Zips, ReadsAnArchiveInTheMiddleOfAFile) {
  const std::string zip = ZipOf({{.name = "a", .content = "content"}});
  const InputFile file = File("before" + zip + "PK\5\6 after");
  const auto directory = ReadZipDirectory(file, 6, zip.size());
  ASSERT_TRUE(directory.ok()) << directory.error().ToString();
  EXPECT_EQ(directory->members[0].header_offset, 6u);
  EXPECT_EQ(*ReadZipMember(file, directory->members[0], 100), "content");
}

// APPNOTE 4.3.14 and 4.3.15.
std::string Zip64Of(const TestMember& member, std::uint64_t record_offset_change = 0,
                    std::uint64_t stated_members = 0xffff) {
  const TestMemberBytes bytes = BytesOfMember(member, 0);
  const std::uint64_t offset = bytes.local.size();
  const std::uint64_t size = bytes.central.size();
  return bytes.local + bytes.central + "PK\6\6" + Little(44, 8) + Little(45, 2) + Little(45, 2) +
         Little(0, 8) + Little(1, 8) + Little(1, 8) + Little(size, 8) + Little(offset, 8) +
         "PK\6\7" + Little(0, 4) + Little(offset + size + record_offset_change, 8) + Little(1, 4) +
         EndRecord(stated_members, 0xffffffff, 0xffffffff);
}

TEST_F(Zips, ReadsZip64EndRecords) {
  const TestMember member = {.name = "a", .content = "content", .zip64 = true};
  const InputFile file = File(Zip64Of(member));
  const auto directory = ReadZipDirectory(file);
  ASSERT_TRUE(directory.ok()) << directory.error().ToString();
  EXPECT_EQ(*ReadZipMember(file, directory->members[0], 100), "content");
  ExpectRefused(Zip64Of(member, ~std::uint64_t{0}), ErrorCode::kInvalidInput,
                "expected a zip64 end record");
  ExpectRefused(Zip64Of(member, 1000), ErrorCode::kInvalidInput, "is said to be at");
  ExpectRefused(Zip64Of(member, 0, 2), ErrorCode::kInvalidInput, "contradicts the plain one");
}

TEST_F(Zips, RefusesNamesThatLeaveTheirFolderOrAreTwoThings) {
  for (const std::string& name :
       std::initializer_list<std::string>{"../a", "a/../../b", "/a", "a/..", "", "a\\b", "a//b",
                                          "./a", "a\nb", "a\x1b[0m", "..", "a/./b", "\xff"}) {
    ExpectRefused(ZipOf({{.name = name, .content = "x"}}), ErrorCode::kInvalidInput, "member '");
  }
  ExpectRefused(ZipOf({{.name = std::string("a\0b", 3)}}), ErrorCode::kInvalidInput, "a\\x00b");
  ExpectRefused(ZipOf({{.name = "\xc3\xa9"}}), ErrorCode::kInvalidInput, "not marked as UTF-8");
  ExpectRefused(ZipOf({{.name = "a"}, {.name = "b"}, {.name = "a"}}), ErrorCode::kInvalidInput,
                "member 'a': the name occurs twice");
  ExpectRefused(ZipOf({{.name = "a/", .content = "x"}}), ErrorCode::kInvalidInput, "a folder");
}

TEST_F(Zips, RefusesWhatItDoesNotRead) {
  const auto unsupported = ErrorCode::kUnsupported;
  ExpectRefused(ZipOf({{.name = "a", .flags = 1}}), unsupported, "member 'a': is encrypted");
  ExpectRefused(ZipOf({{.name = "a", .flags = 1u << 13}}), unsupported, "member 'a': flags 0x2000");
  ExpectRefused(ZipOf({{.name = "a", .method = 14}}), unsupported, "compression method 14");
  std::string disks = ZipOf({{.name = "a"}});
  disks[disks.size() - 18] = 1;
  ExpectRefused(disks, unsupported, "several disks");
}

TEST_F(Zips, RefusesHeadersThatContradictEachOther) {
  const auto invalid = ErrorCode::kInvalidInput;
  ExpectRefused(ZipOf({{.name = "a", .content = "x", .local_name = "b"}}), invalid, "another name");
  ExpectRefused(ZipOf({{.name = "a", .content = "x", .local_grow = 1}}), invalid,
                "local header says size 2; expected 1");
  ExpectRefused(ZipOf({{.name = "a", .content = "x", .deflate = true, .grow = 1}}), invalid,
                "size 1; expected 2");
  ExpectRefused(ZipOf({{.name = "a", .content = "x", .descriptor = true, .grow = 1}}), invalid, "");
  ExpectRefused(
      ZipOf({{.name = "a", .content = "x", .deflate = true, .descriptor = true, .grow = 1}}),
      invalid, "expected a data descriptor");
  ExpectRefused(ZipOf({{.name = "a", .content = "x", .grow = 1000}}), invalid, "beyond the dir");
  ExpectRefused(
      ZipOf({{.name = "a", .content = "x", .deflate = true, .descriptor = true, .grow = 1 << 20}}),
      invalid, "no more than 1032 times");
  const std::string zip = ZipOf({{.name = "a", .content = "x"}});
  std::string flags = zip;
  flags[6] = 2;
  ExpectRefused(flags, invalid, "local header says flags 2; expected 0");
  std::string signature = zip;
  signature[0] = 'Q';
  ExpectRefused(signature, invalid, "member 'a': expected a local header");
  ExpectRefused(zip + "x", invalid, "no end record");
  ExpectRefused("", invalid, "no end record");
  ExpectRefused("x" + zip, invalid, "expected it to end at");
}

TEST_F(Zips, RefusesMembersThatOverlap) {
  // The content of "a" is a whole member "b", which the directory lists, too.
  const TestMember inner = {.name = "b", .content = "x"};
  const TestMember outer = {.name = "a", .content = BytesOfMember(inner, 0).local};
  const TestMemberBytes bytes = BytesOfMember(outer, 0);
  const std::string directory = bytes.central + BytesOfMember(inner, 31).central;
  ExpectRefused(bytes.local + directory + EndRecord(2, directory.size(), bytes.local.size()),
                ErrorCode::kInvalidInput, "member 'b': overlaps member 'a', which ends at byte");
}

TEST_F(Zips, ChecksContentAgainstCrcAndSize) {
  struct Row {
    TestMember member;
    ErrorCode code;
    std::string_view text;
  };
  const std::string deflated = DeflateStored("content");
  for (const Row& row : std::vector<Row>{
           {{.name = "a", .content = "content", .crc_change = 1}, ErrorCode::kIntegrity, "CRC-32"},
           {{.name = "a", .content = "content", .deflate = true, .crc_change = 1},
            ErrorCode::kIntegrity,
            "CRC-32"},
           {{.name = "a", .content = "content", .deflate = true, .data = DeflateStored("conten")},
            ErrorCode::kIntegrity,
            "inflates to 6 bytes; expected 7"},
           {{.name = "a", .content = "content", .deflate = true, .data = DeflateStored("contents")},
            ErrorCode::kIntegrity,
            "inflates to more than the stated 7"},
           {{.name = "a", .content = "content", .deflate = true, .data = deflated + "x"},
            ErrorCode::kInvalidInput,
            "1 bytes after the end of the deflated ones"},
           {{.name = "a", .content = "content", .deflate = true, .data = deflated.substr(0, 9)},
            ErrorCode::kInvalidInput,
            "in the middle of a block"},
           {{.name = "a", .content = "content", .deflate = true, .data = "\7 bad"},
            ErrorCode::kInvalidInput,
            "malformed deflated bytes"}}) {
    const InputFile file = File(ZipOf({row.member}));
    const auto directory = ReadZipDirectory(file);
    ASSERT_TRUE(directory.ok()) << directory.error().ToString();
    const ZipMember& member = directory->members[0];
    for (const Error& error :
         {ReadZipMember(file, member, 100).error(), CheckZipMember(file, member).error()}) {
      EXPECT_EQ(error.code, row.code) << error.ToString();
      EXPECT_NE(error.message.find(row.text), std::string::npos) << error.ToString();
      EXPECT_NE(error.message.find("member 'a'"), std::string::npos) << error.ToString();
      EXPECT_NE(error.where.find("x.zip: byte "), std::string::npos) << error.ToString();
    }
  }
}

TEST_F(Zips, ReadsNothingBeyondTheCallersLimit) {
  const InputFile file = File(ZipOf({{.name = "a", .content = "content"}}));
  const auto directory = ReadZipDirectory(file);
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ(ReadZipMember(file, directory->members[0], 6).error().code, ErrorCode::kUnsupported);
}

TEST_F(Zips, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string whole =
      ZipOf({{.name = "a", .content = "stored"},
             {.name = "b", .content = "deflated", .deflate = true, .descriptor = true},
             {.name = "c", .content = "wide", .zip64 = true}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ExpectRefused(whole.substr(0, size), ErrorCode::kInvalidInput, "");
  }
  std::size_t unseen = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const InputFile file = File(changed);
      const auto directory = ReadZipDirectory(file);
      if (!directory.ok()) {
        ASSERT_NE(directory.error().where.find("x.zip: byte "), std::string::npos);
        continue;
      }
      bool seen = false;
      for (const ZipMember& member : directory->members) {
        seen = seen || !CheckZipMember(file, member).ok();
      }
      unseen += seen ? 0 : 1;
    }
  }
  // Versions, times, attributes and numbers that a descriptor replaces are not looked at.
  EXPECT_LT(unseen, whole.size());
}

TEST_F(Zips, ReadsZstdWhereItIsAskedForAlone) {
  const std::string content(200, 'z');
  const auto zip = [&](std::string data, std::uint64_t crc_change = 0) {
    return ZipOf({{.name = "a",
                   .content = content,
                   .data = std::move(data),
                   .method = 93,
                   .crc_change = crc_change},
                  {.name = "b", .content = content, .deflate = true}});
  };
  ExpectRefused(zip(ZstdStored(content)), ErrorCode::kUnsupported, "compression method 93");
  const auto read = [&](std::string_view archive) -> Result<std::string> {
    const InputFile file = File(archive);
    ASSIGN_OR_RETURN(const ZipDirectory directory,
                     ReadZipDirectory(file, ZipMethods::kDeflateAndZstd));
    EXPECT_EQ(*ReadZipMember(file, *directory.Find("b"), 1 << 20), content);
    return ReadZipMember(file, *directory.Find("a"), 1 << 20);
  };
  const std::string good = ZstdStored(content);
  EXPECT_EQ(*read(zip(good)), content);
  EXPECT_EQ(read(zip(good, 1)).error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(read(zip(ZstdStored(content + "z"))).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(read(zip(ZstdStored(content.substr(1)))).error().code, ErrorCode::kInvalidInput);
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_FALSE(read(zip(good.substr(0, size))).ok()) << size;
  }
  EXPECT_FALSE(read(zip(good + "x")).ok());
  // No block of zstd holds as much in as few bytes.
  EXPECT_FALSE(ReadZipDirectory(File(ZipOf({{.name = "a",
                                             .content = std::string(1 << 20, 'z'),
                                             .data = "0123456789",
                                             .method = 93}})),
                                ZipMethods::kDeflateAndZstd)
                   .ok());
}

}  // namespace
}  // namespace rharness
