// Final losses of real repeats: runs of one training script that differ in their seeds alone, in
// groups of one code state each.
#ifndef RHARNESS_TESTS_COMPARE_METRICS_REPEAT_GROUPS_H_
#define RHARNESS_TESTS_COMPARE_METRICS_REPEAT_GROUPS_H_

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace rharness {

using RepeatGroups = std::map<int, std::vector<double>>;  // final losses, one a run

// Columns: group, ..., run (7th), step (8th), val_loss (9th); a run's last step counts.
inline RepeatGroups ReadRepeatGroups(const std::filesystem::path& csv) {
  struct Last {
    double step = -1.0;
    double loss = 0.0;
  };
  std::map<int, std::map<int, Last>> last;
  std::ifstream file(csv);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    if (cells.size() < 9) continue;
    Last& at = last[std::stoi(cells[0])][std::stoi(cells[6])];
    const double step = std::stod(cells[7]);
    if (step > at.step) at = {step, std::stod(cells[8])};
  }
  RepeatGroups groups;
  for (const auto& [group, runs] : last) {
    for (const auto& [run, one] : runs) groups[group].push_back(one.loss);
  }
  return groups;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_METRICS_REPEAT_GROUPS_H_
