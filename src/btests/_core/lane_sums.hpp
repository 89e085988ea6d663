// Sums of ManyBlocks: h summed by pairs of groups, for as many blocks as a vector has lanes, and the values and moments
// that they become.
#pragma once
#include <vector>

#include "node_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

// A family of kernels has sums for groups u < v only, and so many cells pending at a time: see ManyBlocks.
template <class T, bool is_family> struct LaneSums {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int n_pending = 16;

    const Task& t;
    const std::int64_t g, n_kernels;
    const std::int64_t n_slots;  // of a cell: one for each kernel, and for powers
    // [group][group][slot][lane]: sum of h over pairs a < b. Kernels last: with groups last, the kernels of a pair would
    // be a power of two apart, and all of them in one set of the cache.
    Scratch<double> between;
    Scratch<double> totals;  // [kernel][lane]
    NodeSums nodes;
    std::vector<double*> moments;  // of each kernel, in `nodes`

    LaneSums(const Task& task, std::int64_t n_slots)
        : t(task), g(task.n_groups), n_kernels(task.n_kernels), n_slots(n_slots),
          between(std::max<std::int64_t>(g * g, n_pending) * n_slots * lanes, false), totals(n_kernels * lanes),
          nodes(task, task.n_groups), moments(n_kernels) {}

    double* cell(std::int64_t i) const { return between.get() + i * n_slots * lanes; }

    void clear(std::int64_t n_cells) { std::memset(between.get(), 0, n_cells * n_slots * lanes * sizeof(double)); }
    void clear_totals() { std::memset(totals.get(), 0, n_kernels * lanes * sizeof(double)); }
    void begin_moments() { for (std::int64_t k = 0; k < n_kernels; ++k) moments[k] = nodes.fresh(k); }

    // Add a cell [kernel][lane] to the totals.
    void add_to_totals(const double* cell) {
        double* total = totals.get();
        for (std::int64_t i = 0; i < n_kernels * lanes; i += lanes) store(total + i, load(total + i) + load(cell + i));
    }

    // Sum a cell [kernel][lane] over all lanes, each in its unit, into entry `place` of the moments.
    void reduce(const double* cell, const double* units, std::int64_t place) {
        std::int64_t k = 0;
        for (const Doubles unit = load(units); k + lanes <= n_kernels; k += lanes, cell += lanes * lanes) {
            Doubles of[lanes];
            // No product becomes part of a sum: see rounded().
            for (int i = 0; i < lanes; ++i) of[i] = in_register(unit * load(cell + i * lanes));
            const Doubles sums = sums_by_halves(of);
            for (int i = 0; i < lanes; ++i) moments[k + i][place] = sums[i];
        }
        for (; k < n_kernels; ++k, cell += lanes) moments[k][place] = sum_of<lanes>(units, cell, nullptr);
    }

    // Sum all cells over n lanes from `first` on, n a power of two, into the moments.
    template <int n> void reduce_all(int first, const double* units) {
        begin_moments();
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + 1; v < g; ++v) {
                const double *one = cell(u * g + v) + first, *two = cell(v * g + u) + first;
                for (std::int64_t k = 0; k < n_kernels; ++k, one += lanes, two += lanes)
                    moments[k][u * g + v] = sum_of<n>(units + first, one, is_family ? nullptr : two);
            }
    }

    // Add the moments, those of n blocks from `block` on, to their node.
    template <int n> void add_to_node(std::int64_t node, std::int64_t block) {
        for (std::int64_t k = 0; k < n_kernels; ++k) {
            for (std::int64_t u = 0; u < g; ++u) {
                moments[k][u * g + u] = 0.0;
                for (std::int64_t v = 0; v < u; ++v) moments[k][u * g + v] = moments[k][v * g + u];
            }
            nodes.add(k, node, block, log2_of(n));
        }
    }

    // Write the values of n_used blocks, from place `at` of the output on.
    void write_values(std::int64_t at, int n_used, const double* units) const {
        for (std::int64_t k = 0; k < n_kernels; ++k)
            for (int lane = 0; lane < n_used; ++lane)
                t.values[k * t.values_step + at + lane] = 2.0 * totals[k * lanes + lane] * units[lane];
    }

private:
    template <int n> BTESTS_INLINE static double sum_of(const double* units, const double* one, const double* two) {
        if constexpr (n == double_lanes && n > 1) {
            const Doubles both = two ? load(one) + load(two) : load(one);
            return sum_by_halves(in_register(load(units) * both));  // no product becomes part of a sum: see rounded()
        } else {
            double of[n];
            for (int i = 0; i < n; ++i) of[i] = rounded(units[i] * (two ? one[i] + two[i] : one[i]));
            return sum_by_halves<n>(of);
        }
    }
    static constexpr int log2_of(int n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }
};

}  // namespace BTESTS_ISA
}  // namespace btests
