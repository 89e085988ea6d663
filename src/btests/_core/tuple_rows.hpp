// Packed rows of a block for HSIC: tuples of q rows, in vectors of tuples of one group, tuple t in group t mod g. The last
// b mod q rows, which no swap moves, are a tuple of a group of their own, with members missing.
#pragma once
#include <vector>

#include "sample.hpp"

namespace btests {
namespace BTESTS_ISA {

// Where the tuples of a block of b rows are. A lane of a vector is a block, or a tuple of the one block.
struct Tuples {
    const int q;
    const std::int64_t g, b;
    const bool lanes_are_blocks;
    std::vector<std::int64_t> first;  // vector of each group, g groups and that of the rest; and the end

    Tuples(const Task& t, std::int64_t rows) : q(static_cast<int>(t.tuple_size)), g(t.n_groups), b(rows), lanes_are_blocks(t.lanes_are_blocks) {
        for (std::int64_t v = 0, at = 0; v <= g + 1; at += v <= g ? (n_of(v) + at_once() - 1) / at_once() : 0, ++v) first.push_back(at);
    }

    std::int64_t n_tuples() const { return b / q; }
    std::int64_t n_rest() const { return b % q; }
    std::int64_t n_vectors() const { return first[g + 1]; }
    std::int64_t at_once() const { return lanes_are_blocks ? 1 : double_lanes; }  // tuples of a vector
    std::int64_t n_of(std::int64_t v) const { return v == g ? n_rest() > 0 : group_size(n_tuples(), g, v); }
    // Tuple i of a group, counted over all groups; its vector, and its lane if lanes are tuples.
    std::int64_t number(std::int64_t v, std::int64_t i) const { return v == g ? n_tuples() : i * g + v; }
    std::int64_t vector(std::int64_t v, std::int64_t i) const { return first[v] + i / at_once(); }
    std::int64_t lane(std::int64_t i) const { return i % at_once(); }
    std::int64_t n_members(std::int64_t v) const { return v == g ? n_rest() : q; }
};

// Rows of one side, centred and scaled: [vector][member][coordinate][lane]. Missing rows are at the origin.
struct TupleRows {
    const Task& t;
    Scratch<double> numbers, norms;  // norms: [vector][member][lane]

    // `most` vectors.
    TupleRows(const Task& task, std::int64_t most)
        : t(task), numbers(most * task.tuple_size * task.d * double_lanes), norms(most * task.tuple_size * double_lanes) {}

    const double* tuple(std::int64_t vector) const { return numbers.get() + vector * t.tuple_size * t.d * double_lanes; }
    const double* norm(std::int64_t vector) const { return norms.get() + vector * t.tuple_size * double_lanes; }

    // Take block `block`, or as many blocks as lanes from there on: n_used of them, and the last one again in spare lanes.
    void pack(const Tuples& tuples, const Sample& s, std::int64_t block, int n_used) {
        const std::int64_t size = tuples.q * t.d * double_lanes;
        std::memset(numbers.get(), 0, tuples.n_vectors() * size * sizeof(double));
        const int n_blocks = tuples.lanes_are_blocks ? double_lanes : 1;
        for (int j = 0; j < n_blocks; ++j) {
            const std::int64_t start = s.start(block + std::min(j, n_used - 1));
            for (std::int64_t v = 0; v <= tuples.g; ++v)
                for (std::int64_t i = 0; i < tuples.n_of(v); ++i) {
                    double* to = numbers.get() + tuples.vector(v, i) * size + (tuples.lanes_are_blocks ? j : tuples.lane(i));
                    for (std::int64_t a = 0; a < tuples.n_members(v); ++a, to += t.d * double_lanes)
                        each_coordinate<double>(t, s, start + tuples.number(v, i) * tuples.q + a,
                                                [&](std::int64_t k, double x) { to[k * double_lanes] = x; });
                }
        }
        const double* row = numbers.get();
        for (std::int64_t r = 0; r < tuples.n_vectors() * tuples.q; ++r, row += t.d * double_lanes) {
            Doubles sum = {};  // in the order of products of rows, so that the distance of equal rows is 0
            for (std::int64_t k = 0; k < t.d; ++k) sum += load(row + k * double_lanes) * load(row + k * double_lanes);
            store(norms.get() + r * double_lanes, sum);
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
