// Prints what searches need and how often they are wrong, beside the usual ways: search_table
// [SEARCHES a cell].
//
// Planted: 1 to 3 causes among 4 to 64 axes, each trial wrong at half of the overlap (of two
// outcome distributions that overlap by 30 %, cut where they cross, each has 15 % on the wrong
// side). "wrong" names something that is not a planted cause; "undecided" names none.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compare/stats/proportions.h"
#include "tests/experiments/isolate/planted.h"

namespace rharness {
namespace {

enum class Shape { kOne, kPair, kEither, kTriple, kOneOrPair, kAnyOfThree };
constexpr Shape kShapes[] = {Shape::kOne,    Shape::kPair,      Shape::kEither,
                             Shape::kTriple, Shape::kOneOrPair, Shape::kAnyOfThree};

std::string ShapeName(Shape shape) {
  switch (shape) {
    case Shape::kOne:
      return "one";
    case Shape::kPair:
      return "two together";
    case Shape::kEither:
      return "either of two";
    case Shape::kTriple:
      return "three together";
    case Shape::kOneOrPair:
      return "one, or two together";
    case Shape::kAnyOfThree:
      return "any of three";
  }
  return "";
}

PlantedCauses Plant(Shape shape, std::size_t axes, std::mt19937_64* random) {
  std::vector<std::size_t> order(axes);
  for (std::size_t i = 0; i < axes; ++i) order[i] = i;
  for (std::size_t i = 0; i < 3; ++i) std::swap(order[i], order[i + (*random)() % (axes - i)]);
  const auto [a, b, c] = std::array{order[0], order[1], order[2]};
  switch (shape) {
    case Shape::kOne:
      return {{a}};
    case Shape::kPair:
      return {{a, b}};
    case Shape::kEither:
      return {{a}, {b}};
    case Shape::kTriple:
      return {{a, b, c}};
    case Shape::kOneOrPair:
      return {{a}, {b, c}};
    case Shape::kAnyOfThree:
      return {{a}, {b}, {c}};
  }
  return {};
}

struct Counts {
  int searches = 0;
  int wrong = 0;
  int undecided = 0;
  double reruns = 0.0;
  int most = 0;
  double singly = 0.0;
  int singly_wrong = 0;
  double plain = 0.0;
  int plain_wrong = 0;
  double repeated = 0.0;
  int repeated_wrong = 0;

  void Add(const Counts& other) {
    searches += other.searches;
    wrong += other.wrong;
    undecided += other.undecided;
    reruns += other.reruns;
    most = std::max(most, other.most);
    singly += other.singly;
    singly_wrong += other.singly_wrong;
    plain += other.plain;
    plain_wrong += other.plain_wrong;
    repeated += other.repeated;
    repeated_wrong += other.repeated_wrong;
  }
};

bool IsPlanted(const PlantedCauses& causes, const std::set<std::size_t>& named) {
  return std::ranges::find(causes, named) != causes.end();
}

void CountOne(std::size_t axes, const PlantedCauses& causes, double wrong, std::uint64_t seed,
              Counts* counts) {
  PlantedTraining run(causes, wrong, seed);
  const SearchRules rules{.false_reproduces = wrong,
                          .miss = wrong,
                          .alternatives = static_cast<int>(causes.size()) - 1};
  const auto ask = [&](const Positions& at) {
    return run.Asked(at) ? TrialAnswer::kReproduces : TrialAnswer::kDoesNot;
  };
  const PlayedSearch played = PlaySearch(Positions(axes, 1), rules, ask, 5000);
  ++counts->searches;
  counts->reruns += played.answers;
  counts->most = std::max(counts->most, played.answers);
  if (played.state.end != SearchEnd::kNamed) {
    ++counts->undecided;
  } else if (!NamedRightly(played.state, causes)) {
    ++counts->wrong;
  }
  PlantedTraining singly(causes, wrong, seed);
  const UsualWay one = OneAtATime(axes, &singly);
  counts->singly += one.reruns;
  counts->singly_wrong += IsPlanted(causes, one.named) ? 0 : 1;
  PlantedTraining plain(causes, wrong, seed);
  const UsualWay bisected = PlainBisection(axes, false, &plain);
  counts->plain += bisected.reruns;
  counts->plain_wrong += IsPlanted(causes, bisected.named) ? 0 : 1;
  PlantedTraining again(causes, wrong, seed);
  const UsualWay repeated = PlainBisection(axes, true, &again);
  counts->repeated += repeated.reruns;
  counts->repeated_wrong += IsPlanted(causes, repeated.named) ? 0 : 1;
}

void PrintRow(const std::string& axes, const std::string& shape, const std::string& overlap,
              const Counts& counts) {
  const double n = counts.searches;
  const stats::Interval interval = stats::ClopperPearson(counts.wrong, n, 0.05);
  const auto percent = [&](int count) { return 100.0 * count / n; };
  fmt::print(
      "| {} | {} | {} | {} | {:.1f} | {} | {:.1f} ({:.1f}..{:.1f}) | {:.1f} | {:.1f} | {:.0f} | "
      "{:.1f} | {:.0f} | {:.1f} | {:.0f} |\n",
      axes, shape, overlap, counts.searches, counts.reruns / n, counts.most, percent(counts.wrong),
      100.0 * interval.low, 100.0 * interval.high, percent(counts.undecided), counts.singly / n,
      percent(counts.singly_wrong), counts.plain / n, percent(counts.plain_wrong),
      counts.repeated / n, percent(counts.repeated_wrong));
}

void PrintTable(int searches) {
  fmt::print(
      "| axes | causes | overlap % | searches | reruns, mean | most | wrong % (95 % interval) | "
      "undecided % | one at a time: reruns | wrong % | plain bisection: reruns | wrong % | "
      "bisection, repeated: reruns | wrong % |\n|{}\n",
      "--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  std::mt19937_64 random(20261123);
  Counts all;
  std::vector<Counts> by_overlap(4);
  for (const Shape shape : kShapes) {
    for (const std::size_t axes : {4, 8, 16, 32, 64}) {
      for (int overlap = 0; overlap <= 30; overlap += 10) {
        Counts counts;
        for (int i = 0; i < searches; ++i) {
          const PlantedCauses causes = Plant(shape, axes, &random);
          CountOne(axes, causes, overlap / 200.0, random(), &counts);
        }
        PrintRow(std::to_string(axes), ShapeName(shape), std::to_string(overlap), counts);
        by_overlap[static_cast<std::size_t>(overlap / 10)].Add(counts);
        all.Add(counts);
      }
    }
  }
  for (int i = 0; i < 4; ++i) {
    PrintRow("all", "all", std::to_string(10 * i), by_overlap[static_cast<std::size_t>(i)]);
  }
  PrintRow("all", "all", "all", all);
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) {
  const int searches = argc > 1 ? std::atoi(argv[1]) : 100;
  if (searches < 1) {
    std::fputs("usage: search_table [SEARCHES a cell]\n", stderr);
    return 2;
  }
  rharness::PrintTable(searches);
  return 0;
}
