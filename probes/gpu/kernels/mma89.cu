// Tensor-core instructions of fp8, as in mma75.cu: one a kernel, one warp.
#define BYTES(name, type)                                                                       \
  extern "C" __global__ void name(const unsigned char* a, const unsigned char* b,               \
                                  const float* c, float* d, int cases) {                        \
    const int lane = (int)threadIdx.x;                                                          \
    for (int i = 0; i < cases; ++i, a += 32, b += 32) {                                         \
      unsigned a0 = 0, a2 = 0, b0 = 0, b1 = 0;                                                  \
      if (lane < 4) {                                                                           \
        for (int k = 0; k < 4; ++k) {                                                           \
          a0 |= (unsigned)a[4 * lane + k] << (8 * k);                                           \
          a2 |= (unsigned)a[4 * lane + 16 + k] << (8 * k);                                      \
          b0 |= (unsigned)b[4 * lane + k] << (8 * k);                                           \
          b1 |= (unsigned)b[4 * lane + 16 + k] << (8 * k);                                      \
        }                                                                                       \
      }                                                                                         \
      float d0 = lane == 0 ? c[i] : 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;                      \
      asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." type "." type                       \
                   ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%5}, {%7,%8}, {%0,%1,%2,%3};"                 \
                   : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)                                     \
                   : "r"(a0), "r"(0u), "r"(a2), "r"(b0), "r"(b1));                              \
      if (lane == 0) d[i] = d0;                                                                 \
    }                                                                                           \
  }
BYTES(mma_e4m3_k32, "e4m3")
BYTES(mma_e5m2_k32, "e5m2")
