// One tensor-core instruction a kernel: the first row of A times the first column of B, plus C. One
// warp; a case is k values of A, k of B and one of C. Other rows and columns are zero. The places of
// values in registers are those of the PTX manual's figures: row 0 and column 0 are in lanes 0 to 3.
extern "C" __global__ void mma_f16_k8(const unsigned short* a, const unsigned short* b,
                                      const float* c, float* d, int cases) {
  const int lane = (int)threadIdx.x;
  for (int i = 0; i < cases; ++i, a += 8, b += 8) {
    unsigned a0 = 0, b0 = 0;
    if (lane < 4) {
      a0 = a[2 * lane] | ((unsigned)a[2 * lane + 1] << 16);
      b0 = b[2 * lane] | ((unsigned)b[2 * lane + 1] << 16);
    }
    float d0 = lane == 0 ? c[i] : 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a0), "r"(0u), "r"(b0));
    if (lane == 0) d[i] = d0;
  }
}
