// The parts of distributed checkpoints for tests: torch.save archives, written byte by byte.
//
// Role: a writer that shares no code with the reader under test, its CRC-32 included.
#ifndef RHARNESS_TESTS_COMPARE_WEIGHTS_DISTRIBUTED_PART_H_
#define RHARNESS_TESTS_COMPARE_WEIGHTS_DISTRIBUTED_PART_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/compare/weights/distributed_files.h"

namespace rharness::distributed {

// ITU-T V.42, bit by bit.
inline std::uint32_t Crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320 & (0U - (crc & 1)));
  }
  return ~crc;
}

// A zip archive of stored members.
inline std::string Archive(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file, directory;
  for (const auto& [name, content] : members) {
    const std::string common = Number(0x14, 2) + Number(0, 8) + Number(Crc32(content), 4) +
                               Number(content.size(), 4) + Number(content.size(), 4) +
                               Number(name.size(), 2) + Number(0, 2);
    directory +=
        "PK\1\2" + Number(0x14, 2) + common + std::string(10, '\0') + Number(file.size(), 4) + name;
    file += "PK\3\4" + common + name + content;
  }
  return file + directory + "PK\5\6" + Number(0, 4) + Number(members.size(), 2) +
         Number(members.size(), 2) + Number(directory.size(), 4) + Number(file.size(), 4) +
         Number(0, 2);
}

// torch.save(tensor): a contiguous tensor, its storage's class and its bytes.
inline std::string Saved(std::string_view storage, std::uint64_t elements,
                         const std::vector<std::uint64_t>& shape, const std::string& bytes) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  const auto sizes = [](const std::vector<std::uint64_t>& values) {
    std::vector<Pickled> items;
    for (const std::uint64_t value : values) items.push_back(Int(value));
    return Tuple(items);
  };
  const Pickled id =
      Tuple({Text("storage"), Global("torch", storage), Text("0"), Text("cpu"), Int(elements)}) +
      "Q";
  const Pickled tensor = Call(Global("torch._utils", "_rebuild_tensor_v2"),
                              {id, Int(0), sizes(shape), sizes(strides), "\x89",
                               Call(Global("collections", "OrderedDict"), {})});
  return Archive({{"archive/data.pkl", "\x80\x04" + tensor + "."},
                  {"archive/data/0", bytes},
                  {"archive/version", "3\n"}});
}

}  // namespace rharness::distributed

#endif  // RHARNESS_TESTS_COMPARE_WEIGHTS_DISTRIBUTED_PART_H_
