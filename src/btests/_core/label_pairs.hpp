// Sums of the entries of a matrix over the pairs of some of its rows, for many choices of rows.
#pragma once
#include <cstdint>

#include "constants.hpp"

namespace btests {
namespace BTESTS_ISA {

// The sum of n numbers in the order in which numpy adds them up: eight partial sums of at most 128 numbers, and halves of
// more, so that the compiled loop and its numpy version give the same bits.
inline double pairwise_sum(const double* a, std::int64_t n) {
    if (n > 128) {
        const std::int64_t half = n / 2 - n / 2 % 8;
        return pairwise_sum(a, half) + pairwise_sum(a + half, n - half);
    }
    std::int64_t i = 0;
    double total = 0.0;
    if (n >= 8) {
        double r[8];
        for (int j = 0; j < 8; ++j) r[j] = a[j];
        for (i = 8; i + 8 <= n; i += 8)
            for (int j = 0; j < 8; ++j) r[j] += a[i + j];
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; ++i) total += a[i];
    return total;
}

// out[r] = sum over j < i < k of matrix[labels[r][i]][labels[r][j]], for the choices first .. last - 1 of k labels.
inline void label_pairs(const double* matrix, const std::int64_t* labels, double* out, std::int64_t n, std::int64_t k,
                        std::int64_t first, std::int64_t last) {
    double found[MAX_LABELS * (MAX_LABELS - 1) / 2];
    for (std::int64_t r = first; r < last; ++r) {
        const std::int64_t* chosen = labels + r * k;
        double* next = found;
        for (std::int64_t i = 1; i < k; ++i) {
            const double* row = matrix + chosen[i] * n;
            for (std::int64_t j = 0; j < i; ++j) *next++ = row[chosen[j]];
        }
        out[r] = pairwise_sum(found, next - found);
    }
}

}  // namespace BTESTS_ISA
}  // namespace btests
