// Layout TwoRows: blocks of two rows of one or two coordinates, the linear-time test. There is so little to compute for
// each that packing rows and looping over them would take most of the time. Vectors of blocks stay in registers.
#pragma once
#include "node_sums.hpp"
#include "shapes.hpp"
#include "transpose.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class Shape, int D> struct TwoRows {
    static constexpr int lanes = double_lanes;

    const Task& t;

    // The end of the nodes, from the first on, that this layout computes: full ones, of whole vectors.
    static std::int64_t end(const Task& t) {
        const Sample x = sample_x(t);
        std::int64_t node = t.first_node;
        if (x.whole != 2 || x.longer || t.order_x || t.order_y || t.rows_are_float32 || t.n_kernels != 1) return node;
        for (; node < t.last_node; ++node) {
            const std::int64_t n = t.edges[node + 1] - t.edges[node];
            if (n < lanes || n & (n - 1)) break;
        }
        return node;
    }

    // Values and moments equal those of ManyBlocks to the last bit.
    void run() const {
        for (std::int64_t node = t.first_node; node < t.last_node; ++node) {
            double left[64], sum = 0.0;  // pending left halves, by level
            for (std::int64_t i = t.edges[node], done = 0; i < t.edges[node + 1]; i += lanes, ++done) {
                const Doubles h = h_of(i);
                store(t.values + i - t.edges[t.first_node], h);  // 2 h over 2 (2 - 1)
                sum = sum_by_halves(h * 0.5);
                int level = 0;
                for (; done >> level & 1; ++level) sum = left[level] + sum;
                left[level] = sum;
            }
            const double moments[4] = {0.0, sum, sum, 0.0};
            std::memcpy(t.moments + (node - t.first_node) * 4, moments, sizeof moments);
        }
    }

private:
    // h of as many blocks as there are lanes, from `block` on.
    Doubles h_of(std::int64_t block) const {
        Doubles x[2 * D], y[2 * D], q[4] = {};
        read(t.x, block, x), read(t.y, block, y);
        for (int k = 0; k < D; ++k) {
            const Doubles xa = x[k], xb = x[D + k], ya = y[k], yb = y[D + k];
            q[0] = Shape::Metric::template term<double>(q[0], xa - xb);
            q[1] = Shape::Metric::template term<double>(q[1], ya - yb);
            q[2] = Shape::Metric::template term<double>(q[2], xa - yb);
            q[3] = Shape::Metric::template term<double>(q[3], ya - xb);
        }
        Doubles k[4];
        for (int i = 0; i < 4; ++i) k[i] = Shape::template value<double>(q[i]);
        return (k[0] - k[2]) + (k[1] - k[3]);
    }

    // Coordinates of the first rows of some blocks, and then of the second ones, centred and scaled.
    void read(const void* rows, std::int64_t block, Doubles* out) const {
        const double* at = static_cast<const double*>(rows) + block * 2 * D;
        if constexpr (D == 1) {
            out[0] = alternate<0>(load(at), load(at + lanes), std::make_index_sequence<lanes>());
            out[1] = alternate<1>(load(at), load(at + lanes), std::make_index_sequence<lanes>());
        } else {
            const double* from[lanes];
            for (int lane = 0; lane < lanes; ++lane) from[lane] = at + lane * 4;
            four_columns(from, 0, out);
        }
        for (int k = 0; k < 2 * D; ++k) out[k] = (out[k] - t.origin[k % D]) * t.scale;
    }
    template <std::size_t first, std::size_t... i> static Doubles alternate(Doubles a, Doubles b, std::index_sequence<i...>) {
        return shuffle<(2 * i + first)...>(a, b);
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
