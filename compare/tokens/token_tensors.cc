// Log-probabilities in tensors: [sequences, length] with a mask or lengths, as trainers hold them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "compare/tokens/token_builder.h"

namespace rharness {
namespace {

constexpr std::array<std::string_view, 3> kLengthNames = {"response_lengths", "lengths",
                                                          "input_lengths"};
constexpr std::array<std::string_view, 2> kPromptNames = {"prompt_id", "index"};

float FromHalf(std::uint16_t bits) {
  const float size =
      std::ldexp(static_cast<float>((bits & 0x3ff) | ((bits & 0x7c00) != 0 ? 0x400 : 0)),
                 std::max((bits >> 10 & 31), 1) - 25);
  if ((bits & 0x7c00) == 0x7c00) {
    const auto wide = (bits & 0x8000u) << 16 | 0x7f800000u | (bits & 0x3ffu) << 13;
    return std::bit_cast<float>(wide);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::optional<double> NumberAt(DType type, const std::byte* at) {
  switch (type) {
    case DType::kF64:
      return Load<double>(at);
    case DType::kF32:
      return Load<float>(at);
    case DType::kF16:
      return FromHalf(Load<std::uint16_t>(at));
    case DType::kBF16:
      return std::bit_cast<float>(std::uint32_t{Load<std::uint16_t>(at)} << 16);
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> IntegerAt(DType type, const std::byte* at) {
  switch (type) {
    case DType::kBool:
    case DType::kU8:
      return Load<std::uint8_t>(at);
    case DType::kI8:
      return Load<std::int8_t>(at);
    case DType::kI16:
      return Load<std::int16_t>(at);
    case DType::kU16:
      return Load<std::uint16_t>(at);
    case DType::kI32:
      return Load<std::int32_t>(at);
    case DType::kU32:
      return Load<std::uint32_t>(at);
    case DType::kI64:
    case DType::kU64:
      return Load<std::int64_t>(at);
    default:
      return std::nullopt;
  }
}

bool IsFloating(DType type) {
  return type == DType::kF64 || type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

// A tensor read row by row; width: elements of a row.
class Rows {
 public:
  Rows() = default;
  Rows(const Checkpoint* checkpoint, std::size_t index) : checkpoint_(checkpoint), index_(index) {
    const TensorInfo& of = info();
    rows_ = of.shape.size() > 1 ? of.shape[0] : 1;
    width_ = rows_ == 0 ? 0 : of.elements / rows_;
    bytes_ = static_cast<std::size_t>(BitsOf(of.dtype)) / 8;
  }

  explicit operator bool() const { return checkpoint_ != nullptr; }
  const TensorInfo& info() const { return checkpoint_->tensors()[index_]; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t width() const { return width_; }

  // All of it as one row.
  void MakeOneRow() {
    if (checkpoint_ == nullptr) return;
    width_ *= rows_;
    rows_ = 1;
  }
  Status Read(std::uint64_t row) {
    if (checkpoint_ == nullptr) return {};
    buffer_.resize(width_ * bytes_);
    return checkpoint_->Read(index_, row * width_ * bytes_, buffer_);
  }
  double Number(std::uint64_t column) const {
    return NumberAt(info().dtype, buffer_.data() + column * bytes_).value_or(0.0);
  }
  std::int64_t Integer(std::uint64_t column) const {
    return IntegerAt(info().dtype, buffer_.data() + column * bytes_).value_or(0);
  }

  // A mask may be of floating point.
  double MaskValue(std::uint64_t column) const {
    return IsFloating(info().dtype) ? Number(column) : static_cast<double>(Integer(column));
  }

 private:
  const Checkpoint* checkpoint_ = nullptr;
  std::size_t index_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t width_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::byte> buffer_;
};

template <class Names>
Rows RowsNamed(const Checkpoint& checkpoint, const Names& names) {
  for (const std::string_view name : names) {
    const auto at = std::ranges::find(checkpoint.tensors(), name, &TensorInfo::name);
    if (at == checkpoint.tensors().end()) continue;
    return Rows(&checkpoint, static_cast<std::size_t>(at - checkpoint.tensors().begin()));
  }
  return {};
}

struct TensorColumns {
  Rows logprobs, sampler, tokens, mask, lengths, prompts, samples, experts;
  std::uint64_t layers = 0;  // of the experts
  std::uint64_t chosen = 0;  // experts of a layer
  bool flat = false;         // one dimension: sequences follow each other
};

Status CheckShape(const Rows& rows, const Rows& logprobs, bool integers, std::string_view file) {
  if (!rows) return {};
  const TensorInfo& of = rows.info();
  const bool floating = IsFloating(of.dtype);
  if (BitsOf(of.dtype) < 8 || of.dtype == DType::kBlocks || (integers && floating) ||
      (!integers && !floating)) {
    return InvalidInput(fmt::format("tensor {} is {}; expected {}", of.name, DTypeName(of.dtype),
                                    integers ? "integers" : "floating point"),
                        std::string(file));
  }
  if (of.shape.size() > 2 || rows.rows() != logprobs.rows() || rows.width() < logprobs.width() ||
      rows.width() > kMostTokens) {
    return InvalidInput(
        fmt::format("tensor {} has {} rows of {}; expected {} of {}, as the log-probabilities",
                    of.name, rows.rows(), rows.width(), logprobs.rows(), logprobs.width()),
        std::string(file));
  }
  return {};
}

// One value a row.
Status CheckList(const Rows& rows, std::uint64_t sequences, std::string_view file) {
  if (!rows || (rows.info().elements == sequences && !IsFloating(rows.info().dtype) &&
                BitsOf(rows.info().dtype) >= 8)) {
    return {};
  }
  return InvalidInput(fmt::format("tensor {} has {} elements; expected {} integers, one a sequence",
                                  rows.info().name, rows.info().elements, sequences),
                      std::string(file));
}

Status CheckExperts(TensorColumns* columns, std::string_view file) {
  if (!columns->experts) return {};
  const std::vector<std::uint64_t>& shape = columns->experts.info().shape;
  const Rows& logprobs = columns->logprobs;
  if (shape.size() != 4 || shape[0] != logprobs.rows() || shape[1] < logprobs.width() ||
      IsFloating(columns->experts.info().dtype) || shape[2] == 0 || shape[3] == 0 ||
      columns->experts.width() > kMostTokens) {
    return InvalidInput(fmt::format("tensor {}: expected integers of the shape [sequences, length, "
                                    "layers, experts] of a token",
                                    columns->experts.info().name),
                        std::string(file));
  }
  columns->layers = shape[2];
  columns->chosen = shape[3];
  return {};
}

Result<TensorColumns> ColumnsOf(const Checkpoint& checkpoint, std::string_view file) {
  TensorColumns columns{.logprobs = RowsNamed(checkpoint, kLogprobNames),
                        .sampler = RowsNamed(checkpoint, kSamplerNames),
                        .tokens = RowsNamed(checkpoint, kTokenNames),
                        .mask = RowsNamed(checkpoint, kMaskNames),
                        .lengths = RowsNamed(checkpoint, kLengthNames),
                        .prompts = RowsNamed(checkpoint, kPromptNames),
                        .samples = RowsNamed(checkpoint, std::array{std::string_view("sample")}),
                        .experts = RowsNamed(checkpoint, kExpertNames)};
  if (!columns.logprobs) std::swap(columns.logprobs, columns.sampler);
  RETURN_IF_ERROR(CheckShape(columns.logprobs, columns.logprobs, false, file));
  RETURN_IF_ERROR(CheckShape(columns.sampler, columns.logprobs, false, file));
  RETURN_IF_ERROR(CheckShape(columns.tokens, columns.logprobs, true, file));
  if (columns.mask) {
    RETURN_IF_ERROR(
        CheckShape(columns.mask, columns.logprobs, !IsFloating(columns.mask.info().dtype), file));
  }
  RETURN_IF_ERROR(CheckExperts(&columns, file));
  columns.flat = columns.logprobs.info().shape.size() == 1 && (columns.lengths || columns.prompts);
  const std::uint64_t sequences = columns.flat && columns.lengths ? columns.lengths.info().elements
                                  : columns.flat                  ? columns.logprobs.width()
                                                                  : columns.logprobs.rows();
  for (const Rows* list : {&columns.lengths, &columns.prompts, &columns.samples}) {
    RETURN_IF_ERROR(CheckList(*list, sequences, file));
  }
  return columns;
}

std::uint32_t ExpertsAt(const TensorColumns& columns, std::uint64_t token, std::uint64_t layer) {
  std::vector<std::int64_t> experts(columns.chosen);
  for (std::uint64_t k = 0; k < columns.chosen; ++k) {
    experts[k] = columns.experts.Integer((token * columns.layers + layer) * columns.chosen + k);
  }
  return DigestOfExperts(std::move(experts));
}

// Tokens [begin, end) of the rows that were read. Log-probabilities belong to the last tokens of a
// row, and to the last values of its mask.
Status AddRange(const TensorColumns& columns, std::uint64_t begin, std::uint64_t end,
                std::uint64_t sequence, TokenBuilder* out) {
  const std::uint64_t width = columns.logprobs.width();
  std::vector<ScoredToken> tokens;
  std::vector<std::uint32_t> experts;
  TokenPrompt of_prompt;
  for (std::uint64_t i = begin; i < end; ++i) {
    if (columns.mask) {
      const double mask = columns.mask.MaskValue(columns.mask.width() - width + i);
      if (mask != 0.0 && mask != 1.0) {
        return out->Fail(fmt::format("token {}: expected a mask of 0 or 1, found {:g}", i, mask));
      }
      if (mask == 0.0 && tokens.empty()) ++of_prompt.masked;
      if (mask == 0.0) continue;
    }
    ScoredToken token{.logprob = columns.logprobs.Number(i)};
    if (columns.sampler) {
      token.sampler = columns.sampler.Number(columns.sampler.width() - width + i);
    }
    if (columns.tokens) {
      const std::int64_t id = columns.tokens.Integer(columns.tokens.width() - width + i);
      if (id < 0 || id >= std::int64_t{TokenName::kNotStated}) {
        return out->Fail(fmt::format("token {}: expected the id of a token, found {}", i, id));
      }
      token.name.id = static_cast<std::uint32_t>(id);
    }
    tokens.push_back(token);
    const std::uint64_t at = columns.experts ? columns.experts.info().shape[1] - width + i : 0;
    for (std::uint64_t layer = 0; layer < columns.layers; ++layer) {
      experts.push_back(ExpertsAt(columns, at, layer));
    }
  }
  std::optional<std::string> prompt;
  if (columns.prompts) prompt = fmt::format("{}", columns.prompts.Integer(sequence));
  std::optional<std::int64_t> sample;
  if (columns.samples) sample = columns.samples.Integer(sequence);
  ++out->records;
  return out->Add(prompt, sample, tokens, static_cast<bool>(columns.sampler), experts, of_prompt);
}

// Every sequence a row; a length counts from the first token.
Status AddPadded(TensorColumns* columns, std::string_view file, TokenBuilder* out) {
  for (std::uint64_t row = 0; row < columns->logprobs.rows(); ++row) {
    out->At(fmt::format("{}: sequence {}", file, row));
    for (Rows* rows : {&columns->logprobs, &columns->sampler, &columns->tokens, &columns->mask,
                       &columns->experts}) {
      RETURN_IF_ERROR(rows->Read(row));
    }
    const auto width = static_cast<std::int64_t>(columns->logprobs.width());
    const std::int64_t length = columns->lengths ? columns->lengths.Integer(row) : width;
    if (length < 0 || length > width) {
      return out->Fail(fmt::format("a length of {}; expected 0 to {}", length, width));
    }
    RETURN_IF_ERROR(AddRange(*columns, 0, static_cast<std::uint64_t>(length), row, out));
  }
  return {};
}

// All tokens in one row, one sequence after the other: by their lengths, or a new one wherever the
// id of the prompt, or the sample, changes.
Status AddFlat(TensorColumns* columns, std::string_view file, TokenBuilder* out) {
  for (Rows* rows : {&columns->logprobs, &columns->sampler, &columns->tokens, &columns->mask}) {
    RETURN_IF_ERROR(rows->Read(0));
  }
  const std::uint64_t size = columns->logprobs.width();
  std::uint64_t begin = 0;
  std::uint64_t sequence = 0;
  for (; begin < size; ++sequence) {
    out->At(fmt::format("{}: sequence {}", file, sequence));
    std::uint64_t end = begin + 1;
    if (columns->lengths) {
      const std::int64_t length =
          sequence < columns->lengths.width() ? columns->lengths.Integer(sequence) : -1;
      if (length < 0 || static_cast<std::uint64_t>(length) > size - begin) {
        return out->Fail(
            fmt::format("the lengths do not add up to the {} log-probabilities", size));
      }
      end = begin + static_cast<std::uint64_t>(length);
      RETURN_IF_ERROR(AddRange(*columns, begin, end, sequence, out));
    } else {
      const auto same = [&](const Rows& rows) {
        return !rows || rows.Integer(end) == rows.Integer(begin);
      };
      while (end < size && same(columns->prompts) && same(columns->samples)) ++end;
      RETURN_IF_ERROR(AddRange(*columns, begin, end, begin, out));
    }
    begin = end;
  }
  for (; columns->lengths && sequence < columns->lengths.width(); ++sequence) {
    if (columns->lengths.Integer(sequence) == 0) continue;
    return out->Fail(fmt::format("the lengths do not add up to the {} log-probabilities", size));
  }
  return {};
}

}  // namespace

bool LooksLikeTokenScores(const Checkpoint& checkpoint) {
  const Rows own = RowsNamed(checkpoint, kLogprobNames);
  const Rows logprobs = own ? own : RowsNamed(checkpoint, kSamplerNames);
  return logprobs && IsFloating(logprobs.info().dtype) && logprobs.info().shape.size() <= 2 &&
         (RowsNamed(checkpoint, kTokenNames) || RowsNamed(checkpoint, kMaskNames));
}

Result<TokenScores> LoadTokenScores(const Checkpoint& checkpoint, std::string_view file) {
  ASSIGN_OR_RETURN(TensorColumns columns, ColumnsOf(checkpoint, file));
  TokenBuilder out{std::string(file)};
  out.Format("tensors of log-probabilities");
  // Lists of one value a sequence are read once.
  for (Rows* list : {&columns.lengths, &columns.prompts, &columns.samples}) {
    list->MakeOneRow();
    RETURN_IF_ERROR(list->Read(0));
  }
  RETURN_IF_ERROR(columns.flat ? AddFlat(&columns, file, &out) : AddPadded(&columns, file, &out));
  RETURN_IF_ERROR(checkpoint.CheckUnchanged());
  return std::move(out).Finish();
}

}  // namespace rharness
