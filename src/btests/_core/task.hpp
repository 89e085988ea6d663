// The arguments of one call of the compiled loops. Mirrors btests._core.library.Task field by field.
#pragma once
#include <cstdint>

#include "constants.hpp"  // written by CMake from constants.py

namespace btests {

struct Task {
    const void* x;            // rows of the first sample, row-major (n_x, d)
    const void* y;            // rows of the second sample, (n_y, d)
    const std::int64_t* order_x;  // permutation of the rows, or null for the order in memory
    const std::int64_t* order_y;
    const double* origin;     // subtracted from every row: (d,)
    const std::int64_t* edges;  // first block of each node (see btests.pairwise_sum), and the end: (n_nodes + 1,)
    const double* ratios;     // per kernel: factor of the scaled distance; widest kernel first
    const std::int32_t* squarings;  // per kernel: 0, or it is the one before, squared so many times
    double* values;           // out: per kernel, one value per block of nodes first_node .. last_node - 1
    double* moments;          // out: per kernel, one (k, k) per node, k = n_groups if paired, else one more
    double* sums;             // per block N_GROUP_SUMS x MAX_GROUPS x (n_kernels x MAX_GROUPS), out or in as `step` says
    std::int64_t n_x, n_y, d;
    std::int64_t n_blocks, n_groups;
    std::int64_t first_node, last_node;
    std::int64_t n_kernels;   // 1, or the members of a family
    std::int64_t n_wide;      // of a family: so many of the first are wide, and `scale` is that of the last of these
                              // (of HSIC: so many are stored as k - 1, and `scale` is that of the first)
    std::int64_t values_step, moments_step;  // from one kernel's values and moments to the next one's
    std::int64_t part;        // which rows of a large block, for SUM_STEP
    std::int64_t tuple_size;  // of HSIC: rows of a tuple, which are in n_groups groups
    double scale;             // factor of the coordinates
    std::int32_t shape;       // which function of the distance
    std::int32_t power;       // its integer parameter
    std::int32_t rows_are_float32;
    std::int32_t paired;
    std::int32_t lanes_are_blocks;  // ManyBlocks, else LargeBlocks
    std::int32_t step;              // ALL_STEPS, or one of the halves of the work on large blocks
    std::int32_t instructions;      // GENERIC, AVX2 or AVX512
};

struct FourierTask;  // see fourier_task.hpp

// The loops of one instruction set.
struct Loops {
    int (*summarize_f64)(const Task&);
    int (*summarize_f32)(const Task&);
    // HSIC of pairs (x, y): each task has the rows of one side as its x, and its kernels; that of x has the results.
    int (*hsic)(const Task& x, const Task& y);
    std::int64_t (*hsic_sums)(const Task& x, const Task& y);  // numbers of a part of the sums of a block
    void (*flip)(const double* moments, const std::uint64_t* words, double* out, std::int64_t n_strata,
                 std::int64_t n_groups, std::int64_t n_words, std::int64_t first_word, std::int64_t last_word);
    void (*label_pairs)(const double* matrix, const std::int64_t* labels, double* out, std::int64_t n, std::int64_t k,
                        std::int64_t first, std::int64_t last);
    int (*fourier_sums)(const FourierTask&);
};

}  // namespace btests
