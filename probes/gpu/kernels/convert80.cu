// fp32 to bf16 and tf32 by the device's own instructions, over bit patterns.
#define CONVERT(name, instruction)                                                       \
  extern "C" __global__ void name(const unsigned* in, unsigned* out, int n) {            \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                          \
    if (i >= n) return;                                                                  \
    unsigned short result;                                                               \
    asm(instruction " %0, %1;" : "=h"(result) : "f"(__uint_as_float(in[i])));            \
    out[i] = result;                                                                     \
  }
CONVERT(bf16_rn, "cvt.rn.bf16.f32")
CONVERT(bf16_rz, "cvt.rz.bf16.f32")
CONVERT(bf16_rn_relu, "cvt.rn.relu.bf16.f32")

extern "C" __global__ void tf32_rna(const unsigned* in, unsigned* out, int n) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out[i]) : "f"(__uint_as_float(in[i])));
}
