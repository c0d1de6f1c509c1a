// A product's regions, revealed and replayed, as a case of a result.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/base/digest.h"
#include "probes/cpu/matrix_product.h"
#include "probes/cpu/reveal_case.h"
#include "probes/order/at.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRegions = 8;  // revealed: the first output's and the largest
constexpr int kReplayed = 200;           // inputs a region

// Ordinary inputs whose bits match the tree and its arithmetic.
struct Replay {
  int inputs = 0;
  int predicted = 0;
};

// Every output of a run has its own factors, so that one run is many inputs; those of a region are
// spread over it.
template <class T>
Replay ReplayRegion(const MatrixProduct<T>& product, const Region& region, const SumTree& tree,
                    const Arithmetic& arithmetic, std::uint64_t seed) {
  const auto m = At(product.shape.m), n = At(product.shape.n), k = At(product.shape.k);
  const std::size_t skip = At(product.terms()) - k;
  const std::size_t outputs = std::min(region.size(), At(kReplayed));
  std::vector<T> row(k + skip, T(1)), column(k + skip);
  Replay replay;
  while (replay.inputs < kReplayed) {
    seed += 3;
    const std::vector<T> a = RandomNumbers<T>(seed, m * k), b = RandomNumbers<T>(seed + 1, k * n);
    std::vector<T> old(m * n, T(0));
    if (skip > 0) old = RandomNumbers<T>(seed + 2, m * n);
    std::vector<T> c = old;
    product.run(a.data(), b.data(), c.data());
    for (std::size_t s = 0; s < outputs && replay.inputs < kReplayed; ++s, ++replay.inputs) {
      const std::size_t output = At(region[s * region.size() / outputs]);
      const std::size_t i = output % m, j = output / m;
      if (skip > 0) column[0] = old[output];
      for (std::size_t p = 0; p < k; ++p) {
        row[skip + p] = a[i + p * m];
        column[skip + p] = b[p + j * k];
      }
      const T told = ReplayProducts<T>(tree, arithmetic, row, column);
      replay.predicted += told == c[output] ? 1 : 0;
    }
  }
  return replay;
}

template <class T>
Json JsonOf(const Arithmetic& arithmetic, const SumTree& tree, const MatrixProduct<T>& product) {
  if (product.plain) {
    return Json().Set("name", arithmetic.SumsName()).Set("sums", arithmetic.Sums());
  }
  const int first = product.adds_to_old ? 1 : 0;
  return Json()
      .Set("name", arithmetic.ProductsName(tree, first) + "; " + arithmetic.SumsName())
      .Set("products", arithmetic.Products())
      .Set("sums", arithmetic.Sums());
}

// The region's number of each output, so that a moved border is seen.
std::string MapDigest(const std::vector<Region>& regions, std::size_t outputs) {
  std::vector<std::uint32_t> map(outputs);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    for (const int output : regions[r]) map[At(output)] = static_cast<std::uint32_t>(r);
  }
  return ToHex(Sha256Of(std::as_bytes(std::span(map))));
}

template <class T>
class RegionCase {
 public:
  RegionCase(const ProbeContext& context, const std::string& name, const MatrixProduct<T>& product,
             ProbeResult* result)
      : context_(context), name_(name), product_(product), result_(result) {}

  void Run() {
    if (!Repeats()) {
      result_->unstable.push_back(name_);
      result_->notes.push_back(name_ + ": tree not revealed: ordinary inputs come out different");
      return;
    }
    const std::vector<Region> regions = FindRegions(product_, context_.seed);
    const std::size_t shown = std::min(regions.size(), kMostRegions);
    Json details = Json::MakeObject(), others = Json::MakeArray();
    std::uint64_t covered = 0;
    for (std::size_t r = 0; r < shown && result_->status == ProbeStatus::kOk; ++r) {
      const auto tree = Reveal(regions[r], Label(r, regions[r]));
      if (!tree) {
        if (r == 0) break;
        continue;
      }
      covered += regions[r].size();
      Json told = Told(regions[r], *tree, Label(r, regions[r]));
      if (r == 0) {
        details = std::move(told);
        result_->trees.emplace(name_, *tree);
      } else {
        others.Append(WithPlace(regions[r].front(), DescribeTree(*tree), told));
      }
    }
    const std::size_t outputs = At(product_.outputs());
    result_->counts["outputs"] += outputs;
    result_->counts["outputs covered"] += covered;
    if (!result_->trees.contains(name_)) return;
    if (outputs > 1) {
      details.Set("all_outputs", outputs)
          .Set("regions_sha256", MapDigest(regions, outputs))
          .Set("regions", std::move(others));
    }
    result_->tree_details.emplace(name_, std::move(details));
    if (covered == outputs) return;
    result_->notes.push_back(fmt::format("{}: trees of {} of its {} regions cover {} of {} outputs",
                                         name_, shown, regions.size(), covered, outputs));
  }

 private:
  // Whether the outputs of ordinary inputs come out alike whenever they are made.
  bool Repeats() const {
    const auto m = At(product_.shape.m), n = At(product_.shape.n), k = At(product_.shape.k);
    const std::vector<T> a = RandomNumbers<T>(context_.seed, m * k);
    const std::vector<T> b = RandomNumbers<T>(context_.seed + 1, k * n);
    std::vector<T> first;
    for (int repeat = 0; repeat < context_.repeats; ++repeat) {
      std::vector<T> c(m * n, T(1));
      product_.run(a.data(), b.data(), c.data());
      if (repeat == 0) first = c;
      if (std::memcmp(first.data(), c.data(), c.size() * sizeof(T)) != 0) return false;
    }
    return true;
  }
  std::string Label(std::size_t number, const Region& region) const {
    if (number == 0) return name_;
    const int m = product_.shape.m;
    return fmt::format("{} from row {} column {}", name_, region.front() % m, region.front() / m);
  }
  Json WithPlace(int output, const Json& tree, const Json& told) const {
    const int m = product_.shape.m;
    Json region = Json().Set("row", output % m).Set("column", output / m);
    for (const Json* part : {&tree, &told}) {
      for (const auto& [key, value] : part->AsObject()) region.Set(key, value);
    }
    return region;
  }

  std::optional<SumTree> Reveal(const Region& region, const std::string& label) {
    if (product_.outputs() == 1 && !product_.adds_to_old) {
      const std::vector<T> ones(At(product_.shape.k), T(1));
      FunctionSum<T> sum(product_.shape.k, [&](std::span<const T> x) {
        T out = 0;
        product_.run(x.data(), ones.data(), &out);
        return out;
      });
      return RevealCase(context_, name_, label, sum, result_);
    }
    RegionSum<T> sum(product_, region);
    return RevealCase(context_, name_, label, sum, result_);
  }

  // {"arithmetic", "replayed", "outputs"}, as far as known.
  Json Told(const Region& region, const SumTree& tree, const std::string& label) {
    Json told = Json::MakeObject();
    RegionSum<T> sum(product_, region);
    const auto found = FindArithmetic<T>(sum, tree);
    if (!found.ok()) {
      result_->status = ProbeStatus::kFailed;
      result_->message = fmt::format("{}: {}", label, found.error().ToString());
      return told;
    }
    if (found->arithmetic) {
      const Replay replay =
          ReplayRegion(product_, region, tree, *found->arithmetic, context_.seed + 1000);
      told.Set("arithmetic", JsonOf(*found->arithmetic, tree, product_));
      told.Set("replayed", Json().Set("inputs", replay.inputs).Set("predicted", replay.predicted));
      result_->counts["inputs replayed"] += static_cast<std::uint64_t>(replay.inputs);
      result_->counts["inputs predicted"] += static_cast<std::uint64_t>(replay.predicted);
      if (replay.predicted < replay.inputs) {
        result_->notes.push_back(
            fmt::format("{}: not explained: the tree and its arithmetic predict the bits of {} of "
                        "{} inputs",
                        label, replay.predicted, replay.inputs));
      }
    } else {
      result_->notes.push_back(fmt::format("{}: arithmetic not found: {}", label, found->why));
    }
    return told.Set("outputs", region.size());
  }

  const ProbeContext& context_;
  const std::string& name_;
  const MatrixProduct<T>& product_;
  ProbeResult* result_;
};

}  // namespace

template <class T>
void AddProduct(const ProbeContext& context, const std::string& name,
                const MatrixProduct<T>& product, ProbeResult* result) {
  RegionCase<T>(context, name, product, result).Run();
}

template void AddProduct(const ProbeContext&, const std::string&, const MatrixProduct<float>&,
                         ProbeResult*);
template void AddProduct(const ProbeContext&, const std::string&, const MatrixProduct<double>&,
                         ProbeResult*);

}  // namespace rharness
