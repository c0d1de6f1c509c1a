// Convolutions as products of unfolded operands.
#include "tests/gpu/emulator/libraries/convolution_sum.h"

#include <fmt/format.h>

#include <bit>

#include "tests/gpu/emulator/libraries/kept_results.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

std::size_t U(std::int64_t value) { return static_cast<std::size_t>(value); }

// One operand's numbers, by index; zero outside.
class Values {
 public:
  Values(const ConvolutionCall& call, const ConvolutionOperand& operand, const void* pointer,
         std::string_view which)
      : operand_(operand) {
    bytes_ = ReadFrom(pointer, operand.Bytes(), SizeOf(operand.element), call.device,
                      fmt::format("{}: {}", call.name, which));
    if (bytes_ == nullptr) return;
    values_ = LoadAll(operand.element, bytes_, operand.Bytes() / SizeOf(operand.element));
    if (call.places == 0 || operand.element != Element::kF32) return;
    // Tensor cores drop the low bits of fp32.
    for (double& value : values_) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      value = static_cast<double>(std::bit_cast<float>(bits & ~0x1fffU));
    }
  }
  bool ok() const { return bytes_ != nullptr; }
  void AddTo(ResultKey* key) const { key->Add(bytes_, operand_.Bytes()); }
  double At(std::int64_t a, std::int64_t b, std::int64_t row, std::int64_t column) const {
    const bool inside =
        row >= 0 && column >= 0 && row < operand_.dims[2] && column < operand_.dims[3];
    if (!inside) return 0;
    const auto& s = operand_.strides;
    return values_[U(a * s[0] + b * s[1] + row * s[2] + column * s[3])];
  }

 private:
  ConvolutionOperand operand_;
  const std::byte* bytes_ = nullptr;
  std::vector<double> values_;
};

// Calls `visit` for every index of three dimensions, the last fastest.
template <class Visit>
void ForEach(std::int64_t a, std::int64_t b, std::int64_t c, const Visit& visit) {
  for (std::int64_t i = 0; i < a; ++i) {
    for (std::int64_t j = 0; j < b; ++j) {
      for (std::int64_t k = 0; k < c; ++k) visit(i, j, k);
    }
  }
}

void UnfoldForward(const ConvolutionCall& call, const Values& x, const Values& w, Product* p) {
  const auto &xd = call.x.dims, &wd = call.w.dims, &yd = call.y.dims;
  ForEach(xd[0], yd[2], yd[3], [&](auto image, auto row, auto column) {
    ForEach(wd[1], wd[2], wd[3], [&](auto c, auto r, auto s) {
      p->a.push_back(x.At(image, c, row + r - call.padding, column + s - call.padding));
    });
  });
  for (std::int64_t k = 0; k < wd[0]; ++k) {
    ForEach(wd[1], wd[2], wd[3], [&](auto c, auto r, auto s) { p->b.push_back(w.At(k, c, r, s)); });
  }
  p->m = static_cast<int>(xd[0] * yd[2] * yd[3]), p->n = static_cast<int>(wd[0]);
  p->k = static_cast<int>(wd[1] * wd[2] * wd[3]);
}

void UnfoldBackwardData(const ConvolutionCall& call, const Values& y, const Values& w, Product* p) {
  const auto &xd = call.x.dims, &wd = call.w.dims;
  ForEach(xd[0], xd[2], xd[3], [&](auto image, auto row, auto column) {
    ForEach(wd[0], wd[2], wd[3], [&](auto k, auto r, auto s) {
      p->a.push_back(y.At(image, k, row - r + call.padding, column - s + call.padding));
    });
  });
  for (std::int64_t c = 0; c < wd[1]; ++c) {
    ForEach(wd[0], wd[2], wd[3], [&](auto k, auto r, auto s) { p->b.push_back(w.At(k, c, r, s)); });
  }
  p->m = static_cast<int>(xd[0] * xd[2] * xd[3]), p->n = static_cast<int>(wd[1]);
  p->k = static_cast<int>(wd[0] * wd[2] * wd[3]);
}

void UnfoldBackwardFilter(const ConvolutionCall& call, const Values& x, const Values& y,
                          Product* p) {
  const auto &wd = call.w.dims, &yd = call.y.dims;
  ForEach(wd[1], wd[2], wd[3], [&](auto c, auto r, auto s) {
    ForEach(yd[0], yd[2], yd[3], [&](auto image, auto row, auto column) {
      p->a.push_back(x.At(image, c, row + r - call.padding, column + s - call.padding));
    });
  });
  for (std::int64_t k = 0; k < wd[0]; ++k) {
    ForEach(yd[0], yd[2], yd[3], [&](auto image, auto row, auto column) {
      p->b.push_back(y.At(image, k, row, column));
    });
  }
  p->m = static_cast<int>(wd[1] * wd[2] * wd[3]), p->n = static_cast<int>(wd[0]);
  p->k = static_cast<int>(yd[0] * yd[2] * yd[3]);
}

// Sums are m by n as Unfold... numbers them, rows fastest.
bool WriteSums(const ConvolutionCall& call, const std::vector<double>& sums) {
  const bool forward = call.pass == PassKind::kForward;
  const bool to_filter = call.pass == PassKind::kBackwardFilter;
  const ConvolutionOperand& out = forward ? call.y : to_filter ? call.w : call.x;
  void* pointer = forward ? call.y_at : to_filter ? call.w_at : call.x_at;
  std::byte* bytes = WriteTo(pointer, out.Bytes(), SizeOf(out.element), call.device,
                             fmt::format("{}: the result", call.name));
  if (bytes == nullptr) return false;
  const auto& d = out.dims;
  std::size_t at = 0;
  const auto put = [&](auto a, auto b, auto row, auto column) {
    const auto& s = out.strides;
    Store(out.element, sums[at++],
          bytes + U(a * s[0] + b * s[1] + row * s[2] + column * s[3]) * SizeOf(out.element));
  };
  // A product's columns: filters of y, channels of x, filters of w.
  for (std::int64_t column = 0; column < (to_filter ? d[0] : d[1]); ++column) {
    ForEach(to_filter ? d[1] : d[0], d[2], d[3], [&](auto first, auto row, auto last) {
      if (to_filter) return put(column, first, row, last);
      put(first, column, row, last);
    });
  }
  return true;
}

ResultKey KeyOf(const ConvolutionCall& call) {
  ResultKey key;
  const auto add = [&](const auto& value) { key.Add(&value, sizeof(value)); };
  add(call.pass), add(call.order.slices), add(call.order.lanes), add(call.order.group);
  add(call.order.turn), add(call.places), add(call.padding);
  for (const ConvolutionOperand* operand : {&call.x, &call.w, &call.y}) {
    add(operand->element), add(operand->dims), add(operand->strides);
  }
  return key;
}

}  // namespace

std::uint64_t ConvolutionOperand::Bytes() const {
  std::int64_t last = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return static_cast<std::uint64_t>(last) * SizeOf(element);
}

bool ShapesFit(const ConvolutionOperand& x, const ConvolutionOperand& w,
               const ConvolutionOperand& y, std::int64_t padding) {
  const auto out = [&](std::size_t dim) { return x.dims[dim] + 2 * padding - w.dims[dim] + 1; };
  return x.dims[0] == y.dims[0] && x.dims[1] == w.dims[1] && w.dims[0] == y.dims[1] && out(2) > 0 &&
         out(3) > 0 && y.dims[2] == out(2) && y.dims[3] == out(3);
}

bool RunConvolution(const ConvolutionCall& call) {
  const bool forward = call.pass == PassKind::kForward;
  const bool to_data = call.pass == PassKind::kBackwardData;
  const Values first =
      to_data ? Values(call, call.y, call.y_at, "dy") : Values(call, call.x, call.x_at, "x");
  const Values second = forward || to_data ? Values(call, call.w, call.w_at, "w")
                                           : Values(call, call.y, call.y_at, "dy");
  if (!first.ok() || !second.ok()) return false;
  ResultKey key = KeyOf(call);
  first.AddTo(&key);
  second.AddTo(&key);
  if (const auto kept = KeptResult(key)) return WriteSums(call, *kept);
  Product product;
  product.order = call.order;
  product.arithmetic = call.places > 0 ? Arithmetic::kTensor : Arithmetic::kF32;
  product.places = call.places;
  if (forward) {
    UnfoldForward(call, first, second, &product);
  } else if (to_data) {
    UnfoldBackwardData(call, first, second, &product);
  } else {
    UnfoldBackwardFilter(call, first, second, &product);
  }
  const std::uint64_t size = U(product.m) * U(product.n) * U(product.k);
  const std::vector<double> sums = Multiply(product);
  if (size >= kWorthKeeping) KeepResult(key, sums);
  return WriteSums(call, sums);
}

}  // namespace rharness
