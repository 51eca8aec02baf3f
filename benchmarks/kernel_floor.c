/* The floor: value and gradient of the two-parameter model, one exponential and one division a cell, written for
   gcc -O3 -march=native -ffast-math to vectorise. Answers are 1, -1, or 0 for not asked; no extreme values. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define BLOCK 256

static inline double power_of_e(double x) {
    double shifted = x * 1.4426950408889634 + 6755399441055744.0 + 1023.0;
    union { double d; int64_t i; } bits = {shifted}, scale;
    /* -ffast-math would simplify shifted - magic away: the rounding is taken from the bits instead. */
    int64_t n = (bits.i & 0xFFF) - 1023;
    double r = x - (double)n * 0.6931471805599453;
    scale.i = bits.i << 52;
    double p = 2.7626426376580332797e-7;
    p = p * r + 2.7640263790318920718e-6;
    p = p * r + 2.4801504180837138252e-5;
    p = p * r + 1.9841170070971307319e-4;
    p = p * r + 1.3888888932619635148e-3;
    p = p * r + 8.3333333858250861512e-3;
    p = p * r + 4.1666666666572767692e-2;
    p = p * r + 1.6666666666553954401e-1;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return p * scale.d;
}

double plain(const int8_t *codes, const double *theta, const double *a, const double *b, int students, int items,
             double *by_theta, double *by_a, double *by_b) {
    double value = 0.0;
    memset(by_theta, 0, students * sizeof(double));
    memset(by_a, 0, items * sizeof(double));
    memset(by_b, 0, items * sizeof(double));
    for (int first = 0; first < items; first += BLOCK) {
        int count = items - first < BLOCK ? items - first : BLOCK;
        for (int s = 0; s < students; s++) {
            const int8_t *restrict row = codes + (int64_t)s * items + first;
            const double *restrict aa = a + first, *restrict bb = b + first;
            double *restrict ga = by_a + first, *restrict gb = by_b + first;
            double t = theta[s], product = 1.0, total = 0.0, slope = 0.0;
            for (int i = 0; i < count; i++) {
                double y = row[i], u = t - bb[i], z = y * aa[i] * u;
                double e = power_of_e(-fabs(z)), w = 1.0 / (1.0 + e);
                total += z < 0 ? z : 0.0;
                product *= 1.0 + fabs(y) * e;
                double g = y * w * (z < 0 ? 1.0 : e);
                slope += aa[i] * g;
                ga[i] += g * u;
                gb[i] -= aa[i] * g;
            }
            value += total - log(product);
            by_theta[s] += slope;
        }
    }
    return value;
}
