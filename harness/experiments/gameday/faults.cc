// Faults out of text, and into words.
#include "harness/experiments/gameday/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "compare/curves/series.h"
#include "harness/judge/gang_facts.h"
#include "harness/records/manifest/command_arguments.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr const char* kOption = "--fault";

Error Refuse(const std::string& text, const std::string& why) {
  return InvalidInput(fmt::format("'{}': {}", SafeText(text, 200), why), kOption);
}

std::optional<double> NumberIn(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

Fault Named(FaultKind kind, std::string_view family, std::string_view subject, double size,
            std::string_view form) {
  Fault fault{.kind = kind, .name = {}, .subject = std::string(subject), .size = size};
  fault.name = fmt::format(fmt::runtime("{}:{}" + std::string(form)), family, subject, size);
  return fault;
}

// "NAME*0.99,0.95@--lr"
Result<std::vector<Fault>> Scaled(const std::string& text, FaultKind kind, std::string_view family,
                                  const std::string& rest) {
  const auto times = rest.find('*');
  const auto at = rest.find('@', times == rest.npos ? 0 : times);
  if (times == rest.npos || times == 0) return Refuse(text, "expected NAME*FACTOR[,FACTOR...]");
  std::vector<Fault> faults;
  std::string factors = rest.substr(times + 1, at == rest.npos ? rest.npos : at - times - 1) + ",";
  for (std::size_t begin = 0; begin < factors.size(); begin = factors.find(',', begin) + 1) {
    const auto factor = NumberIn(factors.substr(begin, factors.find(',', begin) - begin));
    if (!factor || *factor <= 0.0 || *factor == 1.0) {
      return Refuse(text, "expected factors above 0 and other than 1, such as 0.95");
    }
    faults.push_back(Named(kind, family, rest.substr(0, times), *factor, "*{}"));
    if (at != rest.npos) faults.back().option = rest.substr(at + 1);
  }
  const std::string& option = faults.front().option;
  const bool option_wanted = kind == FaultKind::kHyperparameter && at != rest.npos;
  if (at != rest.npos && (!option_wanted || !option.starts_with("-") || option.size() < 2)) {
    return Refuse(text, "expected an option behind '@', such as @--lr");
  }
  return faults;
}

Result<std::vector<Fault>> Assigned(const std::string& text, FaultKind kind,
                                    std::string_view family, const std::string& rest) {
  const auto equals = rest.find('=');
  if (equals == rest.npos || equals == 0) return Refuse(text, "expected NAME=VALUE");
  Fault fault = Named(kind, family, rest.substr(0, equals), 1.0, "");
  fault.value = rest.substr(equals + 1);
  fault.name += "=" + fault.value;
  if (kind == FaultKind::kVariable && !IsVariableName(fault.subject)) {
    return Refuse(text, "no name of a variable; expected letters, digits and '_'");
  }
  return std::vector{std::move(fault)};
}

Fault DataFault(std::string_view subject, std::string_view what) {
  Fault fault = Named(what.starts_with("order") ? FaultKind::kDataOrder : FaultKind::kDataRow,
                      "data", subject, 1.0, "");
  fault.name += fmt::format("={}", what);
  fault.unseen = what.ends_with("-unseen");
  return fault;
}

Result<std::vector<Fault>> OfData(const std::string& text, const std::string& rest) {
  const auto equals = rest.rfind('=');
  const std::string what = equals == rest.npos ? "" : rest.substr(equals + 1);
  if (equals == 0 || (what != "row" && what != "row-unseen" && what != "order-unseen")) {
    return Refuse(text, "expected NAME=row, NAME=row-unseen or NAME=order-unseen");
  }
  return std::vector{DataFault(rest.substr(0, equals), what)};
}

Result<std::vector<Fault>> OfTensors(const std::string& text, const std::string& rest) {
  if (rest == "bit") return std::vector{Named(FaultKind::kTensorBit, "tensor", rest, 1.0, "")};
  if (rest == "zero") return std::vector{Named(FaultKind::kTensorZero, "tensor", rest, 1.0, "")};
  if (rest == "bf16") return std::vector{Named(FaultKind::kTensorBf16, "tensor", rest, 1.0, "")};
  return Refuse(text, "expected tensor:bit, tensor:zero or tensor:bf16");
}

Result<std::vector<Fault>> OfMetric(const std::string& text, const std::string& rest) {
  const auto plus = rest.rfind('+');
  const bool unit = rest.ends_with("sd");
  const auto size = plus == rest.npos || !unit
                        ? std::nullopt
                        : NumberIn(std::string_view(rest).substr(plus + 1, rest.size() - plus - 3));
  if (!size || plus == 0 || *size <= 0.0) return Refuse(text, "expected NAME+2sd");
  return std::vector{Named(FaultKind::kMetric, "metric", rest.substr(0, plus), *size, "+{}sd")};
}

std::string Lowered(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    const auto one = static_cast<unsigned char>(c);
    lower += c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(one));
  }
  return lower;
}

}  // namespace

bool NamesLearningRate(std::string_view name) {
  const std::string lower = Lowered(name);
  const std::string last = lower.substr(lower.find_last_of("./") + 1);
  return last == "lr" || last == "learning_rate" || last == "learningrate" ||
         last.ends_with("_lr") || last.ends_with("_learning_rate");
}

namespace {

Fault OnRank(Fault fault, int rank) {
  fault.rank = rank;
  fault.name += fmt::format("{}{}", kOnRank, rank);
  return fault;
}

Result<std::vector<Fault>> ParseOnRank(const std::string& text, std::size_t at) {
  const std::string number = text.substr(at + kOnRank.size());
  int rank = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
  const bool is_rank = error == std::errc() && end == number.data() + number.size() && rank >= 0;
  if (!is_rank) return Refuse(text, "expected the number of a rank, such as 'on rank 3'");
  ASSIGN_OR_RETURN(std::vector<Fault> faults, ParseFaults(text.substr(0, at)));
  for (Fault& fault : faults) {
    if (!fault.IsRerun()) return Refuse(text, "is planted in what a run left, and no rank's");
    fault = OnRank(std::move(fault), rank);
  }
  return faults;
}

}  // namespace

Result<std::vector<Fault>> ParseFaults(const std::string& text) {
  const auto on_rank = text.rfind(kOnRank);
  if (on_rank != text.npos) return ParseOnRank(text, on_rank);
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == text.npos ? "" : text.substr(colon + 1);
  if (text.find_first_of(std::string("\n\r\0", 3)) != text.npos) {
    return Refuse(text, "has a line break or a NUL");
  }
  if (kind == "seed" && rest == "lost") {
    return std::vector{Named(FaultKind::kSeedLost, "seed", "lost", 1.0, "")};
  }
  if (kind == "hyperparameter") return Scaled(text, FaultKind::kHyperparameter, kind, rest);
  if (kind == "curve") return Scaled(text, FaultKind::kCurve, kind, rest);
  if (kind == "argument") return Assigned(text, FaultKind::kArgument, kind, rest);
  if (kind == "env") return Assigned(text, FaultKind::kVariable, kind, rest);
  if (kind == "data") return OfData(text, rest);
  if (kind == "tensor") return OfTensors(text, rest);
  if (kind == "metric") return OfMetric(text, rest);
  return Refuse(text,
                "expected seed:lost, hyperparameter:NAME*FACTOR, argument:NAME=VALUE, "
                "env:NAME=VALUE, data:NAME=row, tensor:bit, metric:NAME+2sd or curve:NAME*FACTOR");
}

std::vector<Fault> DefaultFaults(const Manifest& run) {
  std::vector<Fault> faults;
  const auto add = [&](Fault fault) {
    if (faults.size() < kMostFaults) faults.push_back(std::move(fault));
  };
  add(Named(FaultKind::kSeedLost, "seed", "lost", 1.0, ""));
  if (run.gang && run.gang->starts() > 1) {
    add(OnRank(Named(FaultKind::kSeedLost, "seed", "lost", 1.0, ""), run.gang->starts() - 1));
  }
  if (!run.data.empty()) {
    for (const char* what : {"row", "row-unseen", "order-unseen"}) {
      add(DataFault(run.data.front().name, what));
    }
  }
  for (const auto& [name, value] : run.hyperparameters) {
    if (!NamesLearningRate(name)) continue;
    for (const double factor : {0.999, 0.99, 0.95, 0.9}) {
      add(Named(FaultKind::kHyperparameter, "hyperparameter", name, factor, "*{}"));
    }
  }
  if (std::ranges::any_of(run.artifacts, IsCheckpoint)) {
    add(Named(FaultKind::kTensorBit, "tensor", "bit", 1.0, ""));
    add(Named(FaultKind::kTensorZero, "tensor", "zero", 1.0, ""));
    add(Named(FaultKind::kTensorBf16, "tensor", "bf16", 1.0, ""));
  }
  const auto blas = [](const auto& entry) { return entry.first.starts_with("openblas"); };
  if (std::ranges::any_of(run.environment.software, blas)) {
    Fault fault = Named(FaultKind::kVariable, "env", "OPENBLAS_CORETYPE", 1.0, "");
    fault.value = "Nehalem";
    fault.name += "=Nehalem";
    add(std::move(fault));
  }
  for (const Metric& metric : run.metrics) {
    for (const double size : {1.0, 3.0, 5.0}) {
      if (metric.primary) add(Named(FaultKind::kMetric, "metric", metric.name, size, "+{}sd"));
    }
  }
  for (const Curve& curve : run.curves) {
    for (const double factor : {1.001, 1.01, 1.05, 1.1}) {
      if (KindOfCurve(curve.name) == CurveKind::kLoss) {
        add(Named(FaultKind::kCurve, "curve", curve.name, factor, "*{}"));
      }
    }
  }
  return faults;
}

std::string FaultWords(const Fault& fault) {
  if (fault.rank) {
    Fault everywhere = fault;
    everywhere.rank.reset();
    return fmt::format("{}{}{}", FaultWords(everywhere), kOnRank, *fault.rank);
  }
  std::string subject = SafeText(fault.subject, 80);
  const auto scaled = [&](std::string_view article) {
    if (!article.empty()) std::ranges::replace(subject, '_', ' ');
    const double percent = 100 * std::abs(fault.size - 1.0);
    return fmt::format("{}{} {} % {}", article, subject, FormatNumber(percent, 3),
                       fault.size < 1.0 ? "lower" : "higher");
  };
  switch (fault.kind) {
    case FaultKind::kSeedLost:
      return "a lost seed";
    case FaultKind::kHyperparameter:
      return scaled("a ");
    case FaultKind::kArgument:
    case FaultKind::kVariable:
      return fmt::format("{}={}", subject, SafeText(fault.value, 80));
    case FaultKind::kDataRow:
      return fmt::format("one row of {} replaced{}", subject, fault.unseen ? ", unhashed" : "");
    case FaultKind::kDataOrder:
      return fmt::format("the rows of {} in another order, unhashed", subject);
    case FaultKind::kTensorBit:
      return "one flipped bit in the weights";
    case FaultKind::kTensorZero:
      return "one tensor set to zero";
    case FaultKind::kTensorBf16:
      return "weights rounded to bfloat16";
    case FaultKind::kMetric:
      return fmt::format("{} worse by {} sd", subject, FormatNumber(fault.size, 3));
    case FaultKind::kCurve:
      return scaled("");
  }
  return subject;
}

}  // namespace rharness
