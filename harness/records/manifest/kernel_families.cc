// Kernel names, by the words in them.
#include "harness/records/manifest/kernel_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace rharness {
namespace {

constexpr std::size_t kLongestName = std::size_t{64} << 10;
constexpr std::size_t kMostFields = 1000;  // of a line; profilers write some twenty

// Lower-case parts of names. The first row that matches decides, so the more special come first: an
// implicit product of a convolution is a convolution, a fused attention is products and row sums.
struct Row {
  std::vector<std::string_view> words;
  std::vector<std::string_view> families;
  bool whole = false;  // matches whole words only: "sin" is not in "using"
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {{"nccl"}, {"collective"}},
      {{"triton_"}, {"compiler", "math", "reduction"}},
      {{"flash_", "fmha", "flash::", "attention", "sdpa"}, {"gemm", "math", "reduction"}},
      {{"fprop", "dgrad", "wgrad", "conv", "winograd", "cudnn", "fft"}, {"convolution"}},
      {{"gemm", "gemv", "nvjet", "cutlass", "splitk", "dot_kernel", "symv", "trsm", "syrk", "ger_"},
       {"gemm"}},
      {{"softmax", "layer_norm", "layernorm", "batch_norm", "rms_norm", "rmsnorm", "group_norm",
        "rowwisemoments", "gammabeta", "normalization", "log_softmax", "nll_loss", "cross_entropy"},
       {"math", "reduction"}},
      {{"reduce", "scan", "sum_kernel", "cumsum", "histogram", "segmented", "pool", "index_add",
        "scatter", "embedding_backward", "bincount", "argmax", "topk", "sort"},
       {"reduction"}},
      {{"elementwise", "multi_tensor", "gelu", "sigmoid", "tanh", "relu", "adam", "sgd", "exp",
        "cos", "sin", "pow", "erf", "rsqrt", "dropout", "distribution", "activation"},
       {"math"},
       true},
      // What only moves data: names that libraries give to just that.
      {{"memcpy", "memset", "CatArrayBatchedCopy", "FillFunctor", "direct_copy_kernel_cuda",
        "nchwToNhwcKernel", "nhwcToNchwKernel"},
       {},
       true},
  };
  return rows;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// A word ends before a non-letter, or before the next word: "Gelu" in "GeluFunctor".
bool StandsAlone(std::string_view name, std::size_t at, std::size_t size) {
  const bool begins =
      at == 0 || !IsLetter(name[at - 1]) || (IsUpper(name[at]) && !IsUpper(name[at - 1]));
  const std::size_t end = at + size;
  const bool ends =
      end == name.size() || !IsLetter(name[end]) || (IsUpper(name[end]) && !IsUpper(name[end - 1]));
  return begins && ends;
}

bool Says(std::string_view name, const std::string& lower, std::string_view word, bool whole) {
  const std::string wanted = Lower(word);
  for (auto at = lower.find(wanted); at != lower.npos; at = lower.find(wanted, at + 1)) {
    if (!whole || StandsAlone(name, at, wanted.size())) return true;
  }
  return false;
}

const Row* RowOf(std::string_view name) {
  const std::string lower = Lower(name);
  for (const Row& row : Rows()) {
    const bool matches = std::ranges::any_of(
        row.words, [&](std::string_view word) { return Says(name, lower, word, row.whole); });
    if (matches) return &row;
  }
  return nullptr;
}

// Fields between commas; a field in double quotes may contain commas and doubled quotes.
Result<std::vector<std::string>> FieldsOf(std::string_view line, std::string_view file,
                                          std::size_t number) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      if (fields.size() == kMostFields) {
        return InvalidInput(fmt::format("a line of more than {} fields", kMostFields),
                            fmt::format("{}:{}", file, number));
      }
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  if (quoted) return InvalidInput("a quote is not closed", fmt::format("{}:{}", file, number));
  return fields;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<std::pair<std::size_t, std::string_view>> LinesOf(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    if (!line.empty()) lines.emplace_back(number, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Which column of a CSV header names kernels; nothing when the line is no such header.
std::optional<std::size_t> NameColumn(std::string_view line, std::string_view file) {
  const auto fields = FieldsOf(line, file, 0);
  if (!fields.ok() || fields->size() < 2) return std::nullopt;
  for (const std::string_view wanted : {"Kernel Name", "Name", "Kernel"}) {
    const auto found = std::ranges::find(*fields, wanted);
    if (found != fields->end()) return static_cast<std::size_t>(found - fields->begin());
  }
  return std::nullopt;
}

Result<std::vector<std::string>> NamesOf(std::string_view text, std::string_view file) {
  const auto lines = LinesOf(text);
  std::size_t at = 0;
  std::optional<std::size_t> column;
  // A profiler may print its output path before its table.
  while (at < lines.size() && !(column = NameColumn(lines[at].second, file)) &&
         lines[at].second.find(',') == std::string_view::npos) {
    ++at;
  }
  std::vector<std::string> names;
  if (!column) {
    for (const auto& [number, line] : lines) names.emplace_back(line);
    return names;
  }
  for (++at; at < lines.size(); ++at) {
    ASSIGN_OR_RETURN(const auto fields, FieldsOf(lines[at].second, file, lines[at].first));
    if (*column < fields.size()) names.emplace_back(Trimmed(fields[*column]));
  }
  return names;
}

}  // namespace

Result<KernelFamilies> FamiliesOfKernels(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOf(text, file));
  KernelFamilies out;
  std::set<std::string> seen;
  std::set<std::string_view> families;
  for (const std::string& name : names) {
    if (name.size() > kLongestName) {
      return InvalidInput(fmt::format("a kernel's name of {} bytes; expected at most {}",
                                      name.size(), kLongestName),
                          std::string(file));
    }
    if (name.empty() || name.starts_with("[CUDA mem") || !seen.insert(name).second) continue;
    ++out.kernels;
    const Row* row = RowOf(name);
    if (row == nullptr) out.unknown.push_back(name);
    if (row != nullptr) families.insert(row->families.begin(), row->families.end());
  }
  if (out.kernels == 0) {
    return InvalidInput("names no kernel; expected one a line, or CSV with a column \"Name\"",
                        std::string(file));
  }
  out.families.assign(families.begin(), families.end());
  return out;
}

}  // namespace rharness
