// The arguments of sums of random Fourier features. Mirrors btests._core.fourier_sums.FourierTask field by field.
#pragma once
#include <cstdint>

namespace btests {

struct FourierTask {
    const void* rows;             // row-major (n, d)
    const std::int64_t* order;    // rows, those of a bin together
    const std::int64_t* edges;    // of the bins in `order`: (n_bins + 1,)
    const double* origin;         // subtracted from every row: (d,)
    const double* frequencies;    // in turns for a unit of each coordinate: (n_frequencies, d)
    const std::int32_t* doublings;  // of the angle before each level, 0 before the first: (n_levels,)
    std::int64_t* sums;           // out, in units of 2^-bits: added to (n_bins, n_levels, 2, n_frequencies), cosines then sines
    std::int64_t d, n_frequencies, n_levels;
    std::int64_t first_bin, last_bin;
    std::int64_t bits;            // at most 40, and 20 for arithmetic in float32
    std::int32_t rows_are_float32;
    std::int32_t in_float32;      // arithmetic
    std::int32_t instructions;    // GENERIC, AVX2 or AVX512
};

}  // namespace btests
