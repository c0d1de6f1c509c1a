// exp and log whose bits are the same on every IEEE 754 machine. The library functions are not:
// glibc picks a variant with or without FMA by the CPU it finds.
#ifndef RHARNESS_SCENARIOS_DIGITS_PORTABLE_EXP_LOG_H_
#define RHARNESS_SCENARIOS_DIGITS_PORTABLE_EXP_LOG_H_

namespace rharness::scenarios {

// e^x, within 1 ULP of the exact value (also where the result is subnormal). Overflow gives
// infinity above 709.79, underflow 0 below -745.14; NaN gives NaN. Only +, -, * on double in the
// order written, after Cody and Waite's argument reduction ("Software Manual for the Elementary
// Functions", 1980, chapter 6) and the Taylor polynomial of degree 14 on |r| <= ln(2)/2.
double PortableExp(double x);

// ln(x), within 1 ULP. 0 gives -infinity, negative numbers and NaN give NaN, infinity gives
// infinity. Only +, -, *, / on double: ln(1+f) = f - s (f - 2 (s^2/3 + s^4/5 + ...)) with
// s = f / (2 + f) and 1 + f in [sqrt(1/2), sqrt(2)].
double PortableLog(double x);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_PORTABLE_EXP_LOG_H_
