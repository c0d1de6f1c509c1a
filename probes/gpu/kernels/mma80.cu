// Tensor-core instructions of compute capability 8.0, as in mma75.cu: one a kernel, one warp.
#define HALVES(name, type)                                                                      \
  extern "C" __global__ void name(const unsigned short* a, const unsigned short* b,             \
                                  const float* c, float* d, int cases) {                        \
    const int lane = (int)threadIdx.x;                                                          \
    for (int i = 0; i < cases; ++i, a += 16, b += 16) {                                         \
      unsigned a0 = 0, a2 = 0, b0 = 0, b1 = 0;                                                  \
      if (lane < 4) {                                                                           \
        a0 = a[2 * lane] | ((unsigned)a[2 * lane + 1] << 16);                                   \
        a2 = a[2 * lane + 8] | ((unsigned)a[2 * lane + 9] << 16);                               \
        b0 = b[2 * lane] | ((unsigned)b[2 * lane + 1] << 16);                                   \
        b1 = b[2 * lane + 8] | ((unsigned)b[2 * lane + 9] << 16);                               \
      }                                                                                         \
      float d0 = lane == 0 ? c[i] : 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;                      \
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                       \
                   ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%5}, {%7,%8}, {%0,%1,%2,%3};"                 \
                   : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)                                     \
                   : "r"(a0), "r"(0u), "r"(a2), "r"(b0), "r"(b1));                              \
      if (lane == 0) d[i] = d0;                                                                 \
    }                                                                                           \
  }
HALVES(mma_f16_k16, "f16")
HALVES(mma_bf16_k16, "bf16")

extern "C" __global__ void mma_tf32_k4(const unsigned* a, const unsigned* b, const float* c,
                                       float* d, int cases) {
  const int lane = (int)threadIdx.x;
  for (int i = 0; i < cases; ++i, a += 4, b += 4) {
    const unsigned a0 = lane < 4 ? a[lane] : 0, b0 = lane < 4 ? b[lane] : 0;
    float d0 = lane == 0 ? c[i] : 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a0), "r"(0u), "r"(b0));
    if (lane == 0) d[i] = d0;
  }
}

extern "C" __global__ void mma_tf32_k8(const unsigned* a, const unsigned* b, const float* c,
                                       float* d, int cases) {
  const int lane = (int)threadIdx.x;
  for (int i = 0; i < cases; ++i, a += 8, b += 8) {
    unsigned a0 = 0, a2 = 0, b0 = 0, b1 = 0;
    if (lane < 4) a0 = a[lane], a2 = a[lane + 4], b0 = b[lane], b1 = b[lane + 4];
    float d0 = lane == 0 ? c[i] : 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%5}, "
        "{%7,%8}, {%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a0), "r"(0u), "r"(a2), "r"(b0), "r"(b1));
    if (lane == 0) d[i] = d0;
  }
}

// Row 0 of A is in lanes 0 to 3, one value each, and so is column 0 of B.
extern "C" __global__ void mma_f64_k4(const double* a, const double* b, const double* c, double* d,
                                      int cases) {
  const int lane = (int)threadIdx.x;
  for (int i = 0; i < cases; ++i, a += 4, b += 4) {
    const double a0 = lane < 4 ? a[lane] : 0.0, b0 = lane < 4 ? b[lane] : 0.0;
    double d0 = lane == 0 ? c[i] : 0.0, d1 = 0.0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d0), "+d"(d1)
                 : "d"(a0), "d"(b0));
    if (lane == 0) d[i] = d0;
  }
}
