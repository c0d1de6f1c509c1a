// Tensor-core instructions of a warpgroup, as in mma75.cu: one a kernel, four warps, row 0 of A
// times column 0 of B, plus C. A row of A and a column of B are 32 bytes in every type. A is in
// registers: row 0 is in lanes 0 to 3 of the first warp, first its first 16 bytes, then the others.
// B is in shared memory, unswizzled: two core matrices of 8 columns by 16 bytes, 128 bytes apart,
// where column 0 is the first 16 bytes of each. Both strides of the descriptor are that distance:
// one is along K, and the other is never taken, since all 8 columns are in one core matrix. Source:
// PTX manual, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#define WARPGROUP(name, instruction, transposed)                                                \
  extern "C" __global__ void name(const unsigned* a, const unsigned* b, const float* c,         \
                                  float* d, int cases) {                                        \
    __shared__ __align__(1024) unsigned tile[64];                                               \
    const int thread = (int)threadIdx.x;                                                        \
    const unsigned long long address = (unsigned long long)__cvta_generic_to_shared(tile);      \
    const unsigned long long matrix = ((address & 0x3ffffull) >> 4) | (8ull << 16) | (8ull << 32); \
    if (thread < 64) tile[thread] = 0;                                                          \
    __syncthreads();                                                                            \
    for (int i = 0; i < cases; ++i, a += 8, b += 8) {                                           \
      if (thread < 8) tile[32 * (thread / 4) + thread % 4] = b[thread];                         \
      unsigned a0 = 0, a2 = 0;                                                                  \
      if (thread < 4) a0 = a[thread], a2 = a[thread + 4];                                       \
      float d0 = thread == 0 ? c[i] : 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;                    \
      asm volatile("fence.proxy.async;" ::: "memory");                                          \
      __syncthreads();                                                                          \
      asm volatile(                                                                             \
          "{\n.reg .pred with_c;\nsetp.ne.u32 with_c, %8, 0;\n"                                 \
          "wgmma.fence.sync.aligned;\n"                                                         \
          "wgmma.mma_async.sync.aligned." instruction                                           \
          " {%0,%1,%2,%3}, {%4,%5,%6,%5}, %7, with_c, 1, 1" transposed ";\n"                    \
          "wgmma.commit_group.sync.aligned;\n"                                                  \
          "wgmma.wait_group.sync.aligned 0;\n}"                                                 \
          : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)                                              \
          : "r"(a0), "r"(0u), "r"(a2), "l"(matrix), "r"(1u)                                     \
          : "memory");                                                                          \
      if (thread == 0) d[i] = d0;                                                               \
      __syncthreads();                                                                          \
    }                                                                                           \
  }
WARPGROUP(wgmma_f16_k16, "m64n8k16.f32.f16.f16", ", 0")
WARPGROUP(wgmma_bf16_k16, "m64n8k16.f32.bf16.bf16", ", 0")
WARPGROUP(wgmma_tf32_k8, "m64n8k8.f32.tf32.tf32", "")
WARPGROUP(wgmma_e4m3_k32, "m64n8k32.f32.e4m3.e4m3", "")
