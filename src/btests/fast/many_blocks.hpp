// Layout one: a lane of a vector is a block. No evaluation is wasted on diagonals or padding, whatever the block size;
// needs as many blocks as lanes and their rows in cache. Paired samples only: h(z_a, z_b) is formed in registers.
#pragma once
#include "deal.hpp"
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T, class Shape, int D> struct ManyBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int tile = 16;

    const Task& t;
    const std::int64_t d, g, capacity;
    Scratch<T> xs, ys;         // [row][coordinate][lane]
    Scratch<double> between;   // [group][group][lane]: sum of h over pairs a < b
    Scratch<double> totals;    // [lane]

    explicit ManyBlocks(const Task& task)
        : t(task), d(D ? D : task.d), g(task.n_groups), capacity(task.n_x / task.n_blocks + 1),
          xs(capacity * d * lanes), ys(capacity * d * lanes), between(g * g * lanes), totals(lanes) {}

    // Put the rows of each lane's block side by side; spare lanes repeat the last block.
    template <class Input> void pack(const Side& s, T* out, std::int64_t first, int n_used, std::int64_t b) const {
        const Input* rows = static_cast<const Input*>(s.rows);
        const std::int64_t start = s.start(first), n_coordinates = D ? D : d;
        const double scale = t.scale;
        const double* __restrict origin = t.origin;
        for (int lane = 0; lane < lanes; ++lane) {
            const std::int64_t position = start + std::min(lane, n_used - 1) * b;
            T* __restrict to = out + lane;
            for (std::int64_t r = 0; r < b; ++r) {
                if (s.order) prefetch_row(t, s, position + r + 16);
                const Input* row = rows + (s.order ? s.order[position + r] : position + r) * n_coordinates;
                // Scalar on purpose: a vector of lanes would be gathered, which is slower than these loads.
                for (std::int64_t k = 0; k < n_coordinates; ++k, to += lanes)
                    *to = T((double(row[k]) - origin[k]) * scale);
            }
        }
    }
    void pack(const Side& s, T* out, std::int64_t first, int n_used, std::int64_t b) const {
        if (t.rows_are_float32) pack<float>(s, out, first, n_used, b);
        else pack<double>(s, out, first, n_used, b);
    }

    // Add h(z_a, z_b) of `lanes` blocks at once to `sum` and the cell of the pair's groups, for n rows b side by side:
    // two of them share the loads of row a.
    template <int n> void meet(const T* xa, const T* ya, const T* xb, const T* yb, Doubles* sum, double* const* cells) const {
        using Metric = typename Shape::Metric;
        Vec<T> xx[n] = {}, yy[n] = {}, xy[n] = {}, yx[n] = {};
        const std::int64_t n_coordinates = D ? D : d;
        const std::int64_t step = n_coordinates * lanes;
        for (std::int64_t k = 0; k < n_coordinates; ++k) {
            const Vec<T> p = load(xa + k * lanes), q = load(ya + k * lanes);
            for (int i = 0; i < n; ++i) {
                const Vec<T> u = in_register(load(xb + i * step + k * lanes));
                const Vec<T> v = in_register(load(yb + i * step + k * lanes));
                xx[i] = Metric::template term<T>(xx[i], p - u);
                yy[i] = Metric::template term<T>(yy[i], q - v);
                xy[i] = Metric::template term<T>(xy[i], p - v);
                yx[i] = Metric::template term<T>(yx[i], q - u);
            }
        }
        for (int i = 0; i < n; ++i) {
            const Vec<T> h = (Shape::template value<T>(xx[i]) - Shape::template value<T>(xy[i])) +
                             (Shape::template value<T>(yy[i]) - Shape::template value<T>(yx[i]));
            add_to(sum, h);
            Doubles cell[parts<T>];
            std::memcpy(cell, cells[i], sizeof cell);
            add_to(cell, h);
            std::memcpy(cells[i], cell, sizeof cell);
        }
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
                    auto next = [&] { double* cell = row + v * lanes; if (++v == g) v = 0; return cell; };
                    for (; j + 1 < end; j += 2) {
                        double* first = next();
                        double* const cells[2] = {first, next()};
                        meet<2>(xa, ya, xs.get() + j * step, ys.get() + j * step, sum, cells);
                    }
                    if (j < end) {
                        double* const cells[1] = {next()};
                        meet<1>(xa, ya, xs.get() + j * step, ys.get() + j * step, sum, cells);
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
