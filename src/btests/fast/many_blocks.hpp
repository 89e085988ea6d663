// Layout one: a lane of a vector is a block. No evaluation is wasted on diagonals or padding, whatever the block size;
// needs as many blocks as lanes and their rows in cache. Paired samples only: h(z_a, z_b) is formed in registers.
#pragma once
#include "deal.hpp"
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T, class Shape, int D> struct ManyBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int tile = 8;

    const Task& t;
    const std::int64_t d, g, capacity;
    Scratch<T> xs, ys;         // [row][coordinate][lane]
    Scratch<double> between;   // [group][group][lane]: sum of h over pairs a < b
    Scratch<double> totals;    // [lane]

    explicit ManyBlocks(const Task& task)
        : t(task), d(D ? D : task.d), g(task.n_groups), capacity(task.n_x / task.n_blocks + 1),
          xs(capacity * d * lanes), ys(capacity * d * lanes), between(g * g * lanes), totals(lanes) {}

    void pack(const Side& s, T* out, std::int64_t first, int n_used, std::int64_t b) const {
        for (int lane = 0; lane < lanes; ++lane) {
            const std::int64_t start = s.start(first + std::min(lane, n_used - 1));  // spare lanes repeat the last
            for (std::int64_t r = 0; r < b; ++r) {
                prefetch_row(t, s, start + r + 16);
                T* to = out + r * d * lanes + lane;
                each_coordinate<T>(t, s, start + r, [&](std::int64_t k, T v) { to[k * lanes] = v; });
            }
        }
    }

    // h(z_a, z_b) of `lanes` blocks at once.
    Vec<T> core(const T* xa, const T* ya, const T* xb, const T* yb) const {
        using Metric = typename Shape::Metric;
        Vec<T> xx{}, yy{}, xy{}, yx{};
        const std::int64_t n = D ? D : d;
        for (std::int64_t k = 0; k < n; ++k) {
            const Vec<T> p = load(xa + k * lanes), q = load(ya + k * lanes);
            const Vec<T> u = load(xb + k * lanes), v = load(yb + k * lanes);
            xx = Metric::template term<T>(xx, p - u);
            yy = Metric::template term<T>(yy, q - v);
            xy = Metric::template term<T>(xy, p - v);
            yx = Metric::template term<T>(yx, q - u);
        }
        return (Shape::template value<T>(xx) - Shape::template value<T>(xy)) +
               (Shape::template value<T>(yy) - Shape::template value<T>(yx));
    }

    void compute(std::int64_t b) {
        std::memset(between.get(), 0, g * g * lanes * sizeof(double));
        Doubles sum[parts<T>] = {};
        const std::int64_t step = d * lanes;
        for (std::int64_t a0 = 0; a0 < b; a0 += tile)
            for (std::int64_t b0 = a0; b0 < b; b0 += tile)
                for (std::int64_t i = a0; i < std::min(a0 + tile, b); ++i) {
                    const T *xa = xs.get() + i * step, *ya = ys.get() + i * step;
                    double* row = between.get() + (i % g) * g * lanes;
                    std::int64_t j = std::max(i + 1, b0), v = j % g;
                    const std::int64_t end = std::min(b0 + tile, b);
                    for (; j < end; ++j) {
                        const Vec<T> h = core(xa, ya, xs.get() + j * step, ys.get() + j * step);
                        add_to(sum, h);
                        Doubles cell[parts<T>];
                        std::memcpy(cell, row + v * lanes, sizeof cell);
                        add_to(cell, h);
                        std::memcpy(row + v * lanes, cell, sizeof cell);
                        if (++v == g) v = 0;
                    }
                }
        std::memcpy(totals.get(), sum, sizeof sum);
    }

    void run() {
        const Side x = side_x(t), y = side_y(t);
        const std::int64_t first = t.fold_edges[t.first_fold], last = t.fold_edges[t.last_fold];
        std::int64_t fold = t.first_fold;
        for (std::int64_t i = first; i < last;) {
            const std::int64_t b = x.size(i);
            int n_used = 1;
            while (n_used < lanes && i + n_used < last && x.size(i + n_used) == b) ++n_used;
            pack(x, xs.get(), i, n_used, b);
            pack(y, ys.get(), i, n_used, b);
            compute(b);
            const double unit = 1.0 / (double(b) * double(b - 1));
            for (int lane = 0; lane < n_used; ++lane) {
                t.values[i + lane - first] = 2.0 * totals[lane] * unit;
                while (i + lane >= t.fold_edges[fold + 1]) ++fold;
                double* core = t.cores + (fold - t.first_fold) * g * g;
                for (std::int64_t u = 0; u < g; ++u)
                    for (std::int64_t v = u + 1; v < g; ++v) {
                        const double h = unit * (between[(u * g + v) * lanes + lane] + between[(v * g + u) * lanes + lane]);
                        core[u * g + v] += h;
                        core[v * g + u] += h;
                    }
            }
            i += n_used;
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
