// Fuzzes the zip reader: no crash, no undefined behaviour, members in the file and apart.
//
// An input is an archive.
// Run: rharness-zip-fuzz -max_total_time=60 -dict=zip.dict CORPUS zip_seeds
#include <algorithm>

#include "compare/weights/zip_archive.h"
#include "tests/fuzz/fuzz_file.h"

namespace rharness {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{1} << 20;

void CheckDirectory(const InputFile& file, ZipDirectory directory) {
  for (const ZipMember& member : directory.members) {
    Require(directory.Find(member.name) == &member);
    Require(member.header_offset < member.data_offset && member.data_offset <= file.size_bytes());
    Require(member.stored_bytes <= file.size_bytes() - member.data_offset);
    Require(!member.name.empty() && member.name[0] != '/' && !member.name.starts_with("../") &&
            member.name.find("/../") == std::string::npos);
    const auto content = ReadZipMember(file, member, kLimitBytes);
    if (content.ok()) {
      Require(content->size() == member.size_bytes && CheckZipMember(file, member).ok());
    } else {
      CheckError(content.error(), file.name());
    }
  }
  std::ranges::sort(directory.members, {}, &ZipMember::header_offset);
  for (std::size_t i = 1; i < directory.members.size(); ++i) {
    const ZipMember& before = directory.members[i - 1];
    Require(before.data_offset + before.stored_bytes <= directory.members[i].header_offset);
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = rharness::FuzzFile({reinterpret_cast<const char*>(data), size});
  const auto file = rharness::InputFile::Open(path);
  rharness::Require(file.ok());
  auto directory = rharness::ReadZipDirectory(*file);
  if (directory.ok()) {
    rharness::CheckDirectory(*file, std::move(*directory));
  } else {
    rharness::CheckError(directory.error(), path);
  }
  return 0;
}
