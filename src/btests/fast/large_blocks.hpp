// Layout two: a lane of a vector is a row of the block. For few or large blocks and for samples of unequal sizes.
// Rows of one sample meet columns of another in tiles: distances into a buffer in cache, then a sweep of the kernel
// over the buffer. Columns lie in stripes of `width` slots, slot = group, so that the accumulators of a sweep are sums
// by group already.
#pragma once
#include <cmath>
#include <type_traits>

#include "deal.hpp"
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

enum class Pairs { upper, all, all_but_own };  // b > a, every (a, b), every (a, b) but a = b

template <class T, class Shape, int width> struct LargeBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int stripe = width / lanes;   // vectors in a stripe
    static constexpr int pair = 2 * lanes;         // columns that are computed together
    static constexpr int four = 4, many = BTESTS_BYTES == 64 ? 8 : 4;  // rows computed together, by registers
    static constexpr int depth = 128;               // coordinates per pass: a pair of columns stays in L1
    static constexpr int columns = 256;            // columns of a tile

    const Task& t;
    const std::int64_t d, g;
    const bool product;  // |x|^2 + |y|^2 - 2 x.y: one operation a coordinate, where d is large enough to matter
    const std::int64_t quad, rows_per_tile;
    Scratch<T> rows_x, rows_y, columns_x, columns_y, norms_x, norms_y, buffer;
    Scratch<double> xx, yy, xy;   // [group][width]

    static std::int64_t capacity(std::int64_t n, std::int64_t g) { return ((n + g - 1) / g * width + pair - 1) / pair * pair; }

    explicit LargeBlocks(const Task& task)
        : t(task), d(task.d), g(task.n_groups),
          product(std::is_same<typename Shape::Metric, Euclidean>::value && task.d > 36),
          quad(product ? many : four), rows_per_tile(task.d > 48 ? 32 : quad),
          rows_x((task.n_x / task.n_blocks + 1 + many) * task.d), rows_y((task.n_y / task.n_blocks + 1 + many) * task.d),
          columns_x(capacity(task.n_x / task.n_blocks + 1, task.n_groups) * task.d),
          columns_y(capacity(task.n_y / task.n_blocks + 1, task.n_groups) * task.d),
          norms_x(capacity(task.n_x / task.n_blocks + 1, task.n_groups)),
          norms_y(capacity(task.n_y / task.n_blocks + 1, task.n_groups)), buffer(32 * columns), xx(g * width), yy(g * width), xy(g * width) {}

    std::int64_t slot(std::int64_t r) const { return r / g * width + r % g; }

    // Rows one after another; and columns in pairs of vectors, one coordinate of all of them after another.
    void pack(const Side& s, std::int64_t block, T* rows, T* cols, T* norms) const {
        const std::int64_t b = s.size(block), start = s.start(block);
        for (std::int64_t r = 0; r < b; ++r) {
            prefetch_row(t, s, start + r + 16);
            T* row = rows + r * d;
            each_coordinate<T>(t, s, start + r, [&](std::int64_t k, T v) { row[k] = v; });
            if (product) norms[slot(r)] = squared_norm(row);
        }
        for (std::int64_t r0 = 0; r0 < b; r0 += 8) {  // eight rows at once: a cache line is filled in one go
            const int n = static_cast<int>(std::min<std::int64_t>(8, b - r0));
            const T* from[8];
            T* to[8];
            for (int i = 0; i < 8; ++i) {
                const std::int64_t r = r0 + std::min(i, n - 1), at = slot(r);
                from[i] = rows + r * d;
                to[i] = cols + at / pair * pair * d + at % pair;
            }
            for (std::int64_t k = 0; k < d; ++k)
                for (int i = 0; i < 8; ++i) to[i][k * pair] = from[i][k];
        }
    }

    T squared_norm(const T* row) const {
        Doubles sum[parts<T>] = {};
        double total = 0;
        std::int64_t k = 0;
        for (; k + lanes <= d; k += lanes) add_to(sum, load(row + k) * load(row + k));
        for (; k < d; ++k) total += double(row[k]) * double(row[k]);
        for (auto& part : sum) for (int i = 0; i < double_lanes; ++i) total += part[i];
        return T(total);
    }

    // Add the distances of four rows to two vectors of columns over n coordinates.
    static void differences(const T* rows, std::int64_t row_step, const T* cols, std::int64_t n, T* out, bool fresh) {
        using Metric = typename Shape::Metric;
        Vec<T> a[four][2];
        for (int i = 0; i < four; ++i)
            for (int j = 0; j < 2; ++j) a[i][j] = fresh ? Vec<T>{} : load(out + i * columns + j * lanes);
        for (std::int64_t k = 0; k < n; ++k) {
            const Vec<T> c0 = load(cols + k * pair), c1 = load(cols + k * pair + lanes);
            for (int i = 0; i < four; ++i) {
                const Vec<T> r = in_register(spread(rows[i * row_step + k]));
                a[i][0] = Metric::template term<T>(a[i][0], r - c0);
                a[i][1] = Metric::template term<T>(a[i][1], r - c1);
            }
        }
        for (int i = 0; i < four; ++i)
            for (int j = 0; j < 2; ++j) store(out + i * columns + j * lanes, a[i][j]);
    }

    // The same for squared distances as products; the last pass turns x.y into |x|^2 + |y|^2 - 2 x.y, at least 0.
    static void products(const T* rows, std::int64_t row_step, const T* cols, std::int64_t n, T* out, bool fresh,
                         bool last, const T* row_norms, const T* column_norms) {
        Vec<T> a[many][2];
        for (int i = 0; i < many; ++i)
            for (int j = 0; j < 2; ++j) a[i][j] = fresh ? Vec<T>{} : load(out + i * columns + j * lanes);
        for (std::int64_t k = 0; k < n; ++k) {
            const Vec<T> c0 = load(cols + k * pair), c1 = load(cols + k * pair + lanes);
            for (int i = 0; i < many; ++i) {
                const Vec<T> r = in_register(spread(rows[i * row_step + k]));
                a[i][0] += r * c0;
                a[i][1] += r * c1;
            }
        }
        for (int i = 0; i < many; ++i)
            for (int j = 0; j < 2; ++j) {
                if (last) {
                    const Vec<T> q = (row_norms[i] + load(column_norms + j * lanes)) - T(2) * a[i][j];
                    a[i][j] = q < T(0) ? Vec<T>{} : q;  // infinity - infinity stays NaN: beyond any reach
                }
                store(out + i * columns + j * lanes, a[i][j]);
            }
    }

    // Add the kernel over slots from .. to - 1 of one buffered row to the sums of its group.
    static void sweep(const T* q, std::int64_t from, std::int64_t to, double* sums) {
        auto single = [&](std::int64_t p) {
            Doubles part[parts<T>];
            double* at = sums + p % width;
            std::memcpy(part, at, sizeof part);
            add_to(part, Shape::template value<T>(load(q + p)));
            std::memcpy(at, part, sizeof part);
        };
        std::int64_t p = from;
        for (; p < to && p % width; p += lanes) single(p);
        if (p + width <= to) {
            Doubles part[stripe * parts<T>];
            std::memcpy(part, sums, sizeof part);
            for (; p + width <= to; p += width)
                for (int j = 0; j < stripe; ++j)
                    add_to(part + j * parts<T>, Shape::template value<T>(load(q + p + j * lanes)));
            std::memcpy(sums, part, sizeof part);
        }
        for (; p < to; p += lanes) single(p);
    }

    // One sample of one block, packed.
    struct Packed {
        const T *rows, *columns, *norms;
        std::int64_t n;
    };

    void matrix(const Packed& left, const Packed& right, Pairs pairs, double* sums) {
        constexpr T far = Shape::template far<T>;
        const std::int64_t n_rows = left.n, n_columns = right.n;
        const std::int64_t end = (slot(n_columns - 1) + lanes) / lanes * lanes;   // slots that hold anything
        for (std::int64_t r0 = 0; r0 < n_rows; r0 += rows_per_tile) {
            if (r0 / rows_per_tile % t.n_parts != t.part) continue;
            const std::int64_t r1 = std::min(r0 + rows_per_tile, n_rows);
            auto first_slot = [&](std::int64_t r) { return pairs == Pairs::upper ? slot(r) / pair * pair : 0; };
            for (std::int64_t c0 = first_slot(r0) / columns * columns; c0 < end; c0 += columns) {
                const std::int64_t c1 = std::min(c0 + columns, end);
                T* base = buffer.get() - c0;  // base[slot] of the tile's first row
                for (std::int64_t k0 = 0; k0 < d; k0 += depth)
                    for (std::int64_t p = std::max(c0, first_slot(r0)); p < c1; p += pair)
                        for (std::int64_t r = r0; r < r1 && first_slot(r) <= p; r += quad)
                            tile(left, right, r, p, k0, base + (r - r0) * columns + p);
                for (std::int64_t r = r0; r < r1; ++r) {
                    T* q = base + (r - r0) * columns;
                    const std::int64_t own = slot(r), from = std::max(c0, first_slot(r0 + (r - r0) / quad * quad));
                    if (from >= c1) continue;
                    for (std::int64_t p = slot(n_columns); p < c1; ++p) if (p >= from) q[p] = far;
                    if (pairs == Pairs::upper) for (std::int64_t p = from; p <= std::min(own, c1 - 1); ++p) q[p] = far;
                    if (pairs == Pairs::all_but_own && own >= from && own < c1) q[own] = far;
                    sweep(q, from, c1, sums + r % g * width);
                }
            }
        }
    }

    void tile(const Packed& left, const Packed& right, std::int64_t r, std::int64_t p, std::int64_t k0, T* out) const {
        const T *rows = left.rows + r * d + k0, *cols = right.columns + p * d + k0 * pair;
        const std::int64_t n = std::min<std::int64_t>(depth, d - k0);
        if (!product) return differences(rows, d, cols, n, out, k0 == 0);
        T row_norms[many];
        for (int i = 0; i < many; ++i) row_norms[i] = r + i < left.n ? left.norms[slot(r + i)] : T(0);
        products(rows, d, cols, n, out, k0 == 0, k0 + n == d, row_norms, right.norms + p);
    }

    void run() {
        const Side x = side_x(t), y = side_y(t);
        const std::int64_t first = t.fold_edges[t.first_fold];
        for (std::int64_t fold = t.first_fold; fold < t.last_fold; ++fold)
            for (std::int64_t i = t.fold_edges[fold]; i < t.fold_edges[fold + 1]; ++i) {
                const std::int64_t b = x.size(i), c = y.size(i);
                for (double* sums : {xx.get(), yy.get(), xy.get()}) std::memset(sums, 0, g * width * sizeof(double));
                pack(x, i, rows_x.get(), columns_x.get(), norms_x.get());
                pack(y, i, rows_y.get(), columns_y.get(), norms_y.get());
                const Packed left{rows_x.get(), columns_x.get(), norms_x.get(), b};
                const Packed right{rows_y.get(), columns_y.get(), norms_y.get(), c};
                matrix(left, left, Pairs::upper, xx.get());
                matrix(right, right, Pairs::upper, yy.get());
                matrix(left, right, t.paired ? Pairs::all_but_own : Pairs::all, xy.get());
                t.values[i - first] = conclude(b, c, t.cores + (fold - t.first_fold) * g * g);
            }
    }

    // Add the core of the block to the fold's, and return its value: the formulas of statistics/gram.py.
    double conclude(std::int64_t b, std::int64_t c, double* core) const {
        double sum_x = 0, sum_y = 0, sum_xy = 0, precision = 0;
        for (std::int64_t u = 0; u < g; ++u) {
            precision += 1.0 / (1.0 / group_size(b, g, u) + 1.0 / group_size(c, g, u));
            for (std::int64_t v = 0; v < g; ++v) {
                sum_x += xx[u * width + v];
                sum_y += yy[u * width + v];
                sum_xy += xy[u * width + v];
            }
        }
        const double size = 2.0 / (1.0 / b + 1.0 / c), factor = size / (size - 1.0) / (precision * precision);
        for (std::int64_t u = 0; u < g; ++u) {
            const double bu = group_size(b, g, u), cu = group_size(c, g, u), wu = 1.0 / (1.0 / bu + 1.0 / cu);
            for (std::int64_t v = 0; v < g; ++v) {
                if (u == v) continue;
                const double bv = group_size(b, g, v), cv = group_size(c, g, v), wv = 1.0 / (1.0 / bv + 1.0 / cv);
                const double within = (xx[u * width + v] + xx[v * width + u]) / (bu * bv) +
                                      (yy[u * width + v] + yy[v * width + u]) / (cu * cv);
                const double across = xy[u * width + v] / (bu * cv) + xy[v * width + u] / (bv * cu);
                core[u * g + v] += factor * wu * wv * difference(within, across);
            }
        }
        const double n_cross = t.paired ? double(b) * double(b - 1) : double(b) * double(c);
        const double within = sum_x / (double(b) * double(b - 1)) + sum_y / (double(c) * double(c - 1));
        return 2.0 * difference(within, sum_xy / n_cross);
    }

    // a - b, and 0 where that is no more than the rounding of both: equal samples must not seem to differ.
    static double difference(double a, double b) {
        constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
        return std::abs(a - b) <= rounding * (std::abs(a) + std::abs(b)) ? 0.0 : a - b;
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
