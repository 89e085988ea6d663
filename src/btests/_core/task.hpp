// What one call of the compiled loops is asked to do. Mirrors btests._core._Task field by field.
#pragma once
#include <cstdint>

namespace btests {

struct Task {
    const void* x;            // rows of the first sample, row-major (n_x, d)
    const void* y;            // rows of the second sample, (n_y, d)
    const std::int64_t* order_x;  // the order in which rows are dealt, or null for their own
    const std::int64_t* order_y;
    const double* origin;     // subtracted from every row: (d,)
    const std::int64_t* edges;  // first block of each node (see btests.pairwise_sum), and the end: (n_nodes + 1,)
    const double* ratios;     // per kernel: what the scaled distance is multiplied by; widest kernel first
    const std::int32_t* squarings;  // per kernel: 0, or it is the one before, squared so many times
    double* values;           // out: per kernel, one value per block of nodes first_node .. last_node - 1
    double* cores;            // out: per kernel, one (k, k) per node, k = n_groups if paired, else one more
    double* sums;             // per block 6 x 32 x (n_kernels x 32) sums by group, out or in as `step` says
    std::int64_t n_x, n_y, d;
    std::int64_t n_blocks, n_groups;
    std::int64_t first_node, last_node;
    std::int64_t n_kernels;   // 1, or the members of a family
    std::int64_t n_wide;      // of a family: so many of the first are wide, and `scale` is that of the last of these
    std::int64_t values_step, cores_step;  // from one kernel's values and cores to the next one's
    std::int64_t part;        // which rows of a large block, for step SUMS
    double scale;             // coordinates are multiplied by this
    std::int32_t shape;       // which function of the distance
    std::int32_t power;       // its integer parameter
    std::int32_t rows_are_float32;
    std::int32_t paired;
    std::int32_t lanes_are_blocks;  // which of the two layouts
    std::int32_t step;              // ALL, or one of the halves of the work on large blocks
};

// The work on a block of that many rows a side or more is always cut into parts, in one call or in several, so that the
// sums are the same in the last bit.
constexpr std::int64_t LARGE = 1024, PARTS = 8;

enum Step : std::int32_t { ALL = 0, SUMS = 1, CONCLUDE = 2 };
enum Shape : std::int32_t {
    GAUSSIAN = 0, LAPLACIAN = 1, MATERN = 2, RATIONAL = 3, DISTANCE = 4, GAUSSIANS = 5, LAPLACIANS = 6
};

// The loops of one instruction set.
struct Loops {
    const char* name;
    int (*summarize_f64)(const Task&);
    int (*summarize_f32)(const Task&);
    void (*flip)(const double* cores, const std::uint64_t* words, double* out, std::int64_t n_folds,
                 std::int64_t n_groups, std::int64_t n_words, std::int64_t first_word, std::int64_t last_word);
    double (*sum_exponentials)(std::int64_t n_evaluations, std::int32_t is_float32);
    double (*sum_products)(std::int64_t n_multiply_adds, std::int32_t is_float32);
};

}  // namespace btests
