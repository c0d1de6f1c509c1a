// Sections of cubins: found, and nothing read beyond the end.
#include "probes/gpu/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "harness/base/digest.h"

namespace rharness {
namespace {

// An ELF file of sections of the names and contents given, laid out by hand.
std::string Elf(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string names(1, '\0'), contents;
  std::vector<Elf64_Shdr> table(1);
  for (const auto& [name, content] : sections) {
    Elf64_Shdr one{};
    one.sh_name = static_cast<Elf64_Word>(names.size());
    one.sh_type = SHT_PROGBITS;
    one.sh_offset = sizeof(Elf64_Ehdr) + contents.size();
    one.sh_size = content.size();
    names += name + '\0';
    contents += content;
    table.push_back(one);
  }
  Elf64_Shdr of_names{};
  of_names.sh_type = SHT_STRTAB;
  of_names.sh_offset = sizeof(Elf64_Ehdr) + contents.size();
  of_names.sh_size = names.size();
  table.push_back(of_names);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = sizeof(header) + contents.size() + names.size();
  header.e_shnum = static_cast<Elf64_Half>(table.size());
  header.e_shstrndx = static_cast<Elf64_Half>(table.size() - 1);
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file += contents + names;
  file.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Elf64_Shdr));
  return file;
}

TEST(Cubin, DigestsTheCodeAndConstantsOfEachKernel) {
  const std::string file = Elf({{".text.one", "code1"},
                                {".nv.constant0.one", "k"},
                                {".text.two", "code2"},
                                {".nv.info", "metadata"}});
  const auto digests = CodeDigests(file);
  ASSERT_TRUE(digests.ok()) << digests.error().ToString();
  EXPECT_EQ(*digests, (std::map<std::string, std::string>{{"one", Sha256HexOf("code1k")},
                                                          {"two", Sha256HexOf("code2")}}));
}

TEST(Cubin, IgnoresMetadata) {
  EXPECT_EQ(*CodeDigests(Elf({{".text.one", "code"}, {".note", "13.0"}})),
            *CodeDigests(Elf({{".text.one", "code"}, {".note", "13.1"}})));
}

TEST(Cubin, RefusesWhatIsCutShortAnywhere) {
  const std::string file = Elf({{".text.one", "code"}});
  ASSERT_TRUE(CodeDigests(file).ok());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto digests = CodeDigests(std::string_view(file).substr(0, size));
    ASSERT_FALSE(digests.ok()) << size;
    EXPECT_EQ(digests.error().code, ErrorCode::kIntegrity) << size;
  }
}

TEST(Cubin, RefusesATableBeyondTheEndOfNumbers) {
  std::string file = Elf({{".text.one", "code"}});
  const std::uint64_t far = ~std::uint64_t{0} - 16;
  std::memcpy(file.data() + offsetof(Elf64_Ehdr, e_shoff), &far, sizeof(far));
  EXPECT_FALSE(CubinSections(file).ok());
}

// Sections that all have one content, and of which each one's name ends the name before it.
std::string Overlapping(int sections) {
  std::string names, file(sizeof(Elf64_Ehdr), '\0');
  for (int i = 0; i < sections; ++i) names += ".text.k";
  names += '\0';
  std::vector<Elf64_Shdr> table(static_cast<std::size_t>(sections));
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i].sh_name = static_cast<Elf64_Word>(i * 7);
    table[i].sh_type = SHT_PROGBITS;
    table[i].sh_offset = sizeof(Elf64_Ehdr);
    table[i].sh_size = names.size();
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = sizeof(header) + names.size();
  header.e_shnum = static_cast<Elf64_Half>(table.size());
  std::memcpy(file.data(), &header, sizeof(header));
  file += names;
  file.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Elf64_Shdr));
  return file;
}

TEST(Cubin, RefusesSectionsThatTogetherAreLargerThanTheFile) {
  EXPECT_TRUE(CodeDigests(Overlapping(1)).ok());
  for (const int sections : {50, 60'000}) {
    const auto digests = CodeDigests(Overlapping(sections));
    ASSERT_FALSE(digests.ok());
    EXPECT_EQ(digests.error().code, ErrorCode::kIntegrity);
    EXPECT_NE(digests.error().message.find("together larger than the file"), std::string::npos)
        << digests.error().ToString();
  }
}

TEST(Cubin, RefusesAFileWithoutCode) { EXPECT_FALSE(CodeDigests(Elf({{".data", "x"}})).ok()); }

}  // namespace
}  // namespace rharness
