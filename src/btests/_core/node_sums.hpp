// Sums of moments over the blocks of a node, in the order of the binary tree over block numbers (btests/pairwise_sum.py):
// the sum of a node is the sum of its halves. Moments come one block after another, or several blocks as a node of their own.
#pragma once
#include <utility>
#include <vector>

#include "sample.hpp"

namespace btests {
namespace BTESTS_ISA {

class NodeSums {
public:
    NodeSums(const Task& t, std::int64_t moment_size)
        : t_(t), size_(moment_size * moment_size), n_levels_(levels(t)), memory_(t.n_kernels * n_levels_ * (size_ + line), false) {
        for (std::int64_t i = 0; i < t.n_kernels * n_levels_; ++i) slots_.push_back(memory_.get() + i * (size_ + line));
    }

    // Where the moments of the next blocks are written before they are added.
    double* fresh(std::int64_t kernel) { return slots_[kernel * n_levels_]; }

    // Add the fresh moments of blocks `first .. first + 2^level - 1` to node `node`; after its last block, write it.
    void add(std::int64_t kernel, std::int64_t node, std::int64_t first, int level) {
        double **fresh = slots_.data() + kernel * n_levels_, **left = fresh + 1;  // pending left halves, by level
        const std::int64_t done = first - t_.edges[node], n = t_.edges[node + 1] - t_.edges[node];
        double** sum = fresh;
        auto join = [&](int at) {
            for (std::int64_t i = 0; i < size_; ++i) left[at][i] += (*sum)[i];
            sum = left + at;
        };
        int at = level;
        for (; done >> at & 1; ++at) join(at);
        if (done + (std::int64_t(1) << level) < n) return std::swap(*sum, left[at]);  // until the right half comes
        for (; done >> at; ++at) if (done >> at & 1) join(at);  // the last of all nodes may be short of blocks
        std::memcpy(t_.moments + kernel * t_.moments_step + (node - t_.first_node) * size_, *sum, size_ * sizeof(double));
    }

private:
    // Padding: without it one entry of all kernels would be a power of two apart, and in one set of the cache.
    static constexpr std::int64_t line = 64 / sizeof(double);
    static std::int64_t levels(const Task& t) {
        std::int64_t largest = 1, n = 2;
        for (std::int64_t i = t.first_node; i < t.last_node; ++i) largest = std::max(largest, t.edges[i + 1] - t.edges[i]);
        while (largest >>= 1) ++n;
        return n;
    }
    const Task& t_;
    const std::int64_t size_, n_levels_;
    Scratch<double> memory_;
    std::vector<double*> slots_;
};

}  // namespace BTESTS_ISA
}  // namespace btests
