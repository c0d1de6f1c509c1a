// The peer of row J1: each line of a file as a document of nlohmann's, and nothing done with it.
//
// usage: rharness-parse FILE
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::size_t members = 0;
  for (std::string line; std::getline(file, line);) members += nlohmann::json::parse(line).size();
  std::printf("members %zu\n", members);
  return members == 0 ? 2 : 0;
}
