// The compiler's mathematical functions over bit patterns, one kernel a function. A double is made
// of two words of the input.
#define KERNEL(name) extern "C" __global__ void name(const unsigned* in, unsigned* out, int n)
#define SINGLE(name, expression)                                \
  KERNEL(name) {                                                \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); \
    if (i >= n) return;                                         \
    const float x = __uint_as_float(in[i]);                     \
    out[i] = __float_as_uint(expression);                       \
  }
#define DOUBLE(name, expression)                                                          \
  KERNEL(name) {                                                                          \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                           \
    if (i >= n) return;                                                                   \
    const double x = __hiloint2double((int)in[i], (int)(in[i] * 2654435761u));            \
    const double y = expression;                                                          \
    out[2 * i] = (unsigned)__double2loint(y);                                             \
    out[2 * i + 1] = (unsigned)__double2hiint(y);                                         \
  }

SINGLE(expf_32, expf(x))
SINGLE(logf_32, logf(x))
SINGLE(sinf_32, sinf(x))
SINGLE(cosf_32, cosf(x))
SINGLE(tanhf_32, tanhf(x))
SINGLE(erff_32, erff(x))
SINGLE(powf_32, powf(fabsf(x), 1.7f))
SINGLE(rsqrtf_32, rsqrtf(x))
SINGLE(sqrtf_32, sqrtf(x))
SINGLE(fast_exp, __expf(x))
SINGLE(fast_log, __logf(x))
SINGLE(fast_sin, __sinf(x))
SINGLE(fast_pow, __powf(fabsf(x), 1.7f))
DOUBLE(exp_64, exp(x))
DOUBLE(log_64, log(x))
DOUBLE(sin_64, sin(x))
DOUBLE(tanh_64, tanh(x))
DOUBLE(erf_64, erf(x))
DOUBLE(rsqrt_64, rsqrt(x))
