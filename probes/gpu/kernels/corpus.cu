// Small kernels that exercise a compiler: each turns n words into at most 2 n words. No header, so
// that every compiler reads the same text.
#define KERNEL(name) extern "C" __global__ void name(const unsigned* in, unsigned* out, int n)
#define INDEX                                              \
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); \
  if (i >= n) return
#define X __uint_as_float(in[i])
#define NEXT __uint_as_float(in[(i + 1) % n])

KERNEL(add_mul) { INDEX; out[i] = __float_as_uint(X * NEXT + X); }
KERNEL(add_mul_separate) { INDEX; out[i] = __float_as_uint(__fadd_rn(__fmul_rn(X, NEXT), X)); }
KERNEL(divide) { INDEX; out[i] = __float_as_uint(X / NEXT); }
KERNEL(square_root) { INDEX; out[i] = __float_as_uint(sqrtf(fabsf(X))); }
KERNEL(reciprocal) { INDEX; out[i] = __float_as_uint(1.0f / X); }
KERNEL(fast_divide) { INDEX; out[i] = __float_as_uint(__fdividef(X, NEXT)); }
KERNEL(polynomial) {
  INDEX;
  const float x = X;
  out[i] = __float_as_uint(((1.5f * x + 0.25f) * x - 3.0f) * x + 0.125f);
}
KERNEL(dot4) {
  INDEX;
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    sum += __uint_as_float(in[(i + k) % n]) * __uint_as_float(in[(i + 5 * k) % n]);
  }
  out[i] = __float_as_uint(sum);
}
KERNEL(unrolled_sum) {
  INDEX;
  float sum = 0.0f;
#pragma unroll 8
  for (int k = 0; k < 32; ++k) sum += __uint_as_float(in[(i + k) % n]);
  out[i] = __float_as_uint(sum);
}
KERNEL(double_mix) {
  INDEX;
  const double y = (double)X * (double)NEXT + 0.1;
  out[2 * i] = (unsigned)__double2loint(y);
  out[2 * i + 1] = (unsigned)__double2hiint(y);
}
KERNEL(minimum_maximum) { INDEX; out[i] = __float_as_uint(fmaxf(fminf(X, NEXT), -1.0f)); }
KERNEL(absolute_maximum) {
  INDEX;
  const int a = (int)in[i], b = (int)in[(i + 1) % n];
  const int negated = -(b > 0 ? b : -b);
  out[i] = (unsigned)(a > negated ? a : negated);
}
KERNEL(logic_three) {
  INDEX;
  const unsigned a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
  out[i] = ((a & 0x0000ffffu) | (b & 0xffff0000u)) ^ (c >> 8);
}
KERNEL(byte_permute) {
  INDEX;
  out[i] = __byte_perm(in[i], in[(i + 1) % n], 0x5140) ^ ((in[i] & 0xffu) << 16);
}
KERNEL(shift_wide) {
  INDEX;
  const unsigned long long wide = ((unsigned long long)in[i] << 32) | in[(i + 1) % n];
  const unsigned long long moved = (wide >> (in[i] % 64)) * 0x9e3779b97f4a7c15ull;
  out[2 * i] = (unsigned)moved;
  out[2 * i + 1] = (unsigned)(moved >> 32);
}
KERNEL(divide_integers) {
  INDEX;
  const int a = (int)in[i], b = (int)(in[(i + 1) % n] | 1u);
  out[2 * i] = b == -1 ? 0u : (unsigned)(a / b);
  out[2 * i + 1] = (unsigned)(in[i] % 7u);
}
KERNEL(branchy) {
  INDEX;
  float x = X;
  if (x < 0.0f) {
    x = x * 0.5f;
  } else if (x > 1.0f) {
    x = x - 1.0f;
  } else {
    x = x * x;
  }
  out[i] = __float_as_uint(x);
}
KERNEL(pool_maximum) {
  INDEX;
  float best = X;
  unsigned at = 0;
  for (unsigned k = 1; k < 9; ++k) {
    const float one = __uint_as_float(in[(i + k) % n]);
    if (one > best) best = one, at = k;
  }
  out[2 * i] = __float_as_uint(best);
  out[2 * i + 1] = at;
}
KERNEL(shared_scan) {
  __shared__ float row[256];
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  row[threadIdx.x] = i < n ? X : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    const float before = (int)threadIdx.x >= offset ? row[threadIdx.x - offset] : 0.0f;
    __syncthreads();
    row[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n) out[i] = __float_as_uint(row[threadIdx.x]);
}
KERNEL(warp_sum) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = i < n ? X : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  if (i < n) out[i] = __float_as_uint(sum);
}
KERNEL(exponential) { INDEX; out[i] = __float_as_uint(expf(X)); }
KERNEL(half_round_trip) {
  INDEX;
  unsigned short half;
  float back;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(X));
  asm("cvt.f32.f16 %0, %1;" : "=f"(back) : "h"(half));
  out[i] = __float_as_uint(back);
}
