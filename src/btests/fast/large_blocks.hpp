// Layout two: a lane of a vector is a row of the block. For few or large blocks and for samples of unequal sizes.
// Rows of one sample meet columns of another in tiles: distances into a buffer in cache, then a sweep of the kernel
// over the buffer. Columns lie in stripes of `width` slots, slot = group, so that the accumulators of a sweep are sums
// by group already.
#pragma once
#include <cmath>
#include <type_traits>

#include "deal.hpp"
#include "families.hpp"
#include "group_sums.hpp"
#include "transpose.hpp"

namespace btests {
namespace BTESTS_ISA {

enum class Pairs { upper, all, all_but_own };  // b > a, every (a, b), every (a, b) but a = b

template <class T, class Shape, int width> struct LargeBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int stripe = width / lanes;   // vectors in a stripe
    static constexpr int pair = 2 * lanes;         // columns that are computed together
    static constexpr int four = 4, many = BTESTS_BYTES == 64 ? 8 : 4;  // rows computed together, by registers
    static constexpr int depth = 256;              // coordinates per pass; few rows at a time suit a first-level cache of 32 KiB
    static constexpr int columns = 256;            // columns of a tile

    const Task& t;
    const std::int64_t d, g;
    const bool product;  // |x|^2 + |y|^2 - 2 x.y: one operation a coordinate, where d is large enough to matter
    const std::int64_t quad, rows_per_tile;
    const std::int64_t most_x, most_y, most_rest;  // rows of a block: of x, of y, and of the longer without a partner
    Scratch<T> rows_x, rows_y, rows_r, columns_x, columns_y, columns_r, norms_x, norms_y, norms_r, buffer;
    Scratch<std::int64_t> slots;  // of each row
    GroupSums<width> found, total;  // of a part, and of all parts of a large block
    NodeSums nodes;
    std::int64_t part = 0, n_parts = 1;
    const Levels levels;

    static std::int64_t capacity(std::int64_t n, std::int64_t g) { return ((n + g - 1) / g * width + pair - 1) / pair * pair; }

    explicit LargeBlocks(const Task& task)
        : t(task), d(task.d), g(task.n_groups),
          product(std::is_same<typename Shape::Metric, Euclidean>::value && task.d > 36),
          quad(product ? many : four), rows_per_tile(task.d > 48 ? 8 : quad),
          most_x(task.n_x / task.n_blocks + 1), most_y(task.n_y / task.n_blocks + 1),
          most_rest(task.paired ? 1 : std::abs(most_x - most_y) + 1),
          rows_x((most_x + many) * d), rows_y((most_y + many) * d), rows_r((most_rest + many) * d),
          columns_x(capacity(most_x, g) * d), columns_y(capacity(most_y, g) * d), columns_r(capacity(most_rest, g) * d),
          norms_x(capacity(most_x, g)), norms_y(capacity(most_y, g)), norms_r(capacity(most_rest, g)),
          buffer(32 * columns), slots(std::max(most_x, most_y) + many), found(task), total(task), nodes(task, task.n_groups + !task.paired), levels(task) {
        for (std::int64_t r = 0; r < std::max(most_x, most_y) + many; ++r) slots[r] = r / g * width + r % g;
    }

    // Looked up: a division for each row of each tile would be felt.
    std::int64_t slot(std::int64_t r) const { return slots[r]; }

    // Rows one after another; and columns in pairs of vectors, one coordinate of all of them after another.
    struct Packed {
        const T *rows, *columns, *norms;
        std::int64_t n;
    };
    Packed pack(const Side& s, std::int64_t start, std::int64_t b, T* rows, T* cols, T* norms) const {
        for (std::int64_t r = 0; r < b; ++r) {
            prefetch_row(t, s, start + r + 16);
            T* row = rows + r * d;
            each_coordinate<T>(t, s, start + r, [&](std::int64_t k, T v) { row[k] = v; });
            if (product) norms[slot(r)] = squared_norm(row);
        }
        auto column = [&](std::int64_t at) { return cols + at / pair * pair * d + at % pair; };
        for (std::int64_t r = 0; r < b;) {
            const std::int64_t at = slot(r);
            if (at % lanes == 0 && r % g + lanes <= g && r + lanes <= b) {  // rows that fill a vector
                const T* from[lanes];
                for (int i = 0; i < lanes; ++i) from[i] = rows + (r + i) * d;
                transpose(from, d, column(at), pair);
                r += lanes;
            } else {
                T* to = column(at);
                for (std::int64_t k = 0; k < d; ++k) to[k * pair] = rows[r * d + k];
                ++r;
            }
        }
        return {rows, cols, norms, b};
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

    // The same for all kernels of a family. Columns of one slot, a stripe apart, go side by side into one sum.
    void sweep_family(const T* q, std::int64_t from, std::int64_t to, double* sums) const {
        constexpr int slots = BTESTS_BYTES == 64 && stripe % 2 == 0 ? 2 : 1;  // 16 vectors in flight, or 8
        for (std::int64_t s = 0; s < width; s += slots * lanes) {
            std::int64_t p = from / width * width + s;
            for (; p < from; p += width)  // the stripe that begins before the first column
                for (int i = 0; i < slots; ++i)
                    if (p + i * lanes >= from && p + i * lanes < to) side_by_side<1, 1>(q + p + i * lanes, sums + s + i * lanes);
            for (; p + 7 * width + slots * lanes <= to; p += 8 * width) side_by_side<8, slots>(q + p, sums + s);
            for (; p + width + slots * lanes <= to; p += 2 * width) side_by_side<2, slots>(q + p, sums + s);
            for (; p < to; p += width)
                for (int i = 0; i < slots; ++i)
                    if (p + i * lanes < to) side_by_side<1, 1>(q + p + i * lanes, sums + s + i * lanes);
        }
    }
    template <int n, int slots> void side_by_side(const T* q, double* sums) const {
        Doubles distances[n * slots];
        for (int i = 0; i < n * slots; ++i) distances[i] = load(q + i / slots * width + i % slots * lanes);
        levels.template each<n * slots>(distances, n * slots, [&](std::int64_t level, const Doubles* u) BTESTS_INLINE {
            Doubles all = {};
            for (int s = 0; s < slots; ++s) {
                Doubles sum = u[s];
                for (int i = 1; i < n; ++i) sum += u[i * slots + s];
                double* at = sums + level * width + s * lanes;
                store(at, load(at) + (sum + double(n)));  // k = u + 1; the far points of padding have k = 0
                all += sum;
            }
            return all;
        });
    }

    void matrix(const Packed& left, const Packed& right, Pairs pairs, double* sums) {
        constexpr T far = Shape::template far<T>;
        const std::int64_t n_rows = left.n, n_columns = right.n;
        if (n_rows == 0 || n_columns == 0) return;
        const std::int64_t end = (slot(n_columns - 1) + lanes) / lanes * lanes;   // slots that hold anything
        for (std::int64_t r0 = 0; r0 < n_rows; r0 += rows_per_tile) {
            if (r0 / rows_per_tile % n_parts != part) continue;
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
                    double* to = sums + r % g * t.n_kernels * width;
                    if constexpr (is_family<Shape>) sweep_family(q, from, c1, to);
                    else sweep(q, from, c1, to);
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
        const std::int64_t first = t.edges[t.first_node];
        n_parts = std::min(x.whole, y.whole) >= LARGE ? PARTS : 1;
        for (std::int64_t node = t.first_node; node < t.last_node; ++node)
            for (std::int64_t i = t.edges[node]; i < t.edges[node + 1]; ++i) {
                double* sums = t.sums + (i - first) * 6 * 32 * 32 * t.n_kernels;
                if (t.step != CONCLUDE) add_up(x, y, i);
                if (t.step == SUMS) found.exchange(sums);
                if (t.step == CONCLUDE) total.exchange(sums);
                if (t.step != SUMS)
                    (t.step == ALL && n_parts == 1 ? found : total)
                        .conclude(x.size(i), y.size(i), nodes, node, i, t.values + i - first);
            }
    }

    // Meet the rows of a block: those of one part, for step SUMS, or of all parts one after another.
    void add_up(const Side& x, const Side& y, std::int64_t i) {
        const std::int64_t b = x.size(i), c = y.size(i), n = std::min(b, c);
        const Packed left = pack(x, x.start(i), n, rows_x.get(), columns_x.get(), norms_x.get());
        const Packed right = pack(y, y.start(i), n, rows_y.get(), columns_y.get(), norms_y.get());
        const Packed rest = pack(b > c ? x : y, (b > c ? x : y).start(i) + n, std::max(b, c) - n, rows_r.get(),
                                 columns_r.get(), norms_r.get());
        const std::int64_t first = t.step == SUMS ? t.part : 0, last = t.step == SUMS ? t.part + 1 : n_parts;
        for (part = first; part < last; ++part) {
            found.clear();
            matrix(left, left, Pairs::upper, found.xx.get());
            matrix(right, right, Pairs::upper, found.yy.get());
            matrix(left, right, t.paired ? Pairs::all_but_own : Pairs::all, found.xy.get());
            matrix(left, rest, Pairs::all, found.xr.get());
            matrix(right, rest, Pairs::all, found.yr.get());
            matrix(rest, rest, Pairs::upper, found.rr.get());
            if (t.step == ALL && n_parts > 1) found.collect(total, part == 0);
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
