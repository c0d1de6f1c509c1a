// Fisher's exact test of a 2 x 2 table: did a share of runs change?
//
// Role: private to this folder.
// Source: Fisher 1935; two-sided as the sum of all tables no more likely than the observed one.
#ifndef RHARNESS_COMPARE_RESULTS_FISHER_EXACT_H_
#define RHARNESS_COMPARE_RESULTS_FISHER_EXACT_H_

namespace rharness {

// P value for `a` of a + b runs against `c` of c + d, all >= 0. 1 for an empty group and when all
// runs or none succeed.
double FisherExactTwoSided(int a, int b, int c, int d);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_FISHER_EXACT_H_
