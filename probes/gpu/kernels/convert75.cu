// fp32 to fp16 by the device's own instructions, over bit patterns.
#define CONVERT(name, instruction)                                                       \
  extern "C" __global__ void name(const unsigned* in, unsigned* out, int n) {            \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                          \
    if (i >= n) return;                                                                  \
    unsigned short result;                                                               \
    asm(instruction " %0, %1;" : "=h"(result) : "f"(__uint_as_float(in[i])));            \
    out[i] = result;                                                                     \
  }
CONVERT(f16_rn, "cvt.rn.f16.f32")
CONVERT(f16_rz, "cvt.rz.f16.f32")
CONVERT(f16_rn_ftz, "cvt.rn.ftz.f16.f32")
