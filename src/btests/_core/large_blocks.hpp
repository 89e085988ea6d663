// Layout LargeBlocks: a lane of a vector is a row of the block. For few or large blocks and for samples of unequal sizes.
// The Gram matrix of two sets of rows is computed in tiles: distances into a buffer in cache, then the kernel over the
// buffer. Columns are in stripes of `width` slots, slot = group, so that vectors of sums are sums by group already.
#pragma once
#include <cmath>
#include <type_traits>

#include "sample.hpp"
#include "families.hpp"
#include "group_sums.hpp"
#include "panels.hpp"
#include "tiles.hpp"

namespace btests {
namespace BTESTS_ISA {

enum class Pairs { upper, all, all_but_own };  // b > a, every (a, b), every (a, b) but a = b

template <class T, class Shape, int width> struct LargeBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int stripe = width / lanes;   // vectors in a stripe
    static constexpr int few = Tile<T>::few, many = Tile<T>::many, most_across = Tile<T>::most_across;
    static constexpr int columns = 256;            // columns that are buffered
    static constexpr int row_step = columns + 2 * lanes;  // not a power of two, which would crowd into a few sets of the cache
    static constexpr int tile_rows = 128;          // with more rows the columns would not stay in second-level cache

    const Task& t;
    const std::int64_t d, g;
    const bool product;  // |x|^2 + |y|^2 - 2 x.y: one operation a coordinate, where d is large enough to matter
    const std::int64_t quad, rows_per_tile, step;  // rows of a tile and of a stack of tiles, and where columns may begin
    const std::int64_t depth;  // coordinates per pass: three panels of columns and one of rows fill no more than 32 KiB
    const std::int64_t most_x, most_y, most_rest;  // rows of a block: of x, of y, and the unpaired ones of the longer
    Panels<T, width> panels_x, panels_y, panels_r;
    Scratch<T> buffer;
    GroupSums<width> found, total;  // of a part, and of all parts of a large block
    NodeSums nodes;
    std::int64_t part = 0, n_parts = 1;
    const Levels levels;

    explicit LargeBlocks(const Task& task)
        : t(task), d(task.d), g(task.n_groups),
          product(std::is_same<typename Shape::Metric, Euclidean>::value && task.d > DIRECT_COORDINATES),
          quad(product ? many : few), rows_per_tile(product ? rows_of(task) : few), step(product ? lanes : 2 * lanes),
          depth(even_depth(task.d)),
          most_x(task.n_x / task.n_blocks + 1), most_y(task.n_y / task.n_blocks + 1),
          most_rest(task.paired ? 1 : std::abs(most_x - most_y) + 1),
          panels_x(task, most_x), panels_y(task, most_y), panels_r(task, most_rest), buffer(tile_rows * row_step), found(task),
          total(task), nodes(task, task.n_groups + !task.paired), levels(task) {}

    // Each part of a large block has two tiles at least, of many and of few pairs.
    static std::int64_t rows_of(const Task& t) { return std::min(t.n_x, t.n_y) / t.n_blocks < LARGE_BLOCK ? tile_rows : tile_rows / 2; }

    // As few passes as will do, and none of them much shorter than the others.
    static std::int64_t even_depth(std::int64_t d) {
        constexpr std::int64_t most = 32 * 1024 / (4 * BTESTS_BYTES);
        const std::int64_t passes = (d + most - 1) / most;
        return (d + passes - 1) / passes;
    }

    // Add the kernel over slots from .. to - 1 of one buffered row to the sums of its group.
    static void accumulate(const T* q, std::int64_t from, std::int64_t to, double* sums) {
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

    // The same for all kernels of a family, over whole stripes. Columns of one slot, a stripe apart, are added
    // to one sum: as many vectors at once as there are registers for.
    void accumulate_family(const T* q, std::int64_t from, std::int64_t to, double* sums) const {
        constexpr int slots = BTESTS_BYTES < 64 || stripe % 4 ? 1 : 4, most = slots == 4 ? 4 : 8;
        for (std::int64_t s = 0; s < width; s += slots * lanes) {
            std::int64_t p = from;
            for (; p + most * width <= to; p += most * width) side_by_side<most, slots>(q + p + s, sums + s);
            for (; p + 2 * width <= to; p += 2 * width) side_by_side<2, slots>(q + p + s, sums + s);
            if (p < to) side_by_side<1, slots>(q + p + s, sums + s);
        }
    }
    template <int n, int slots> void side_by_side(const T* q, double* sums) const {
        Doubles distances[n * slots];
        for (int i = 0; i < n * slots; ++i) distances[i] = load(q + i / slots * width + i % slots * lanes);
        auto use = [&](std::int64_t level, const Doubles* u) BTESTS_INLINE {
            Doubles all = {};
            for (int s = 0; s < slots; ++s) {
                Doubles sum = u[s];
                for (int i = 1; i < n; ++i) sum += u[i * slots + s];
                double* at = sums + level * width + s * lanes;
                store(at, load(at) + (sum + double(n)));  // k = u + 1; padding is far away and has k = 0
                all += sum;
            }
            return all;
        };
        if (levels.doubling) levels.template halve<n * slots>(distances, use);
        else levels.template each<n * slots>(distances, use);
    }

    void matrix(const Panels<T, width>& left, const Panels<T, width>& right, Pairs pairs, double* sums) {
        constexpr T far = Shape::template far<T>;
        if (left.n == 0 || right.n == 0) return;
        // The end of the slots in use.
        const std::int64_t end_row = left.slot(left.n - 1) + 1, end = (right.slot(right.n - 1) + lanes) / lanes * lanes;
        for (std::int64_t r0 = 0; r0 < end_row; r0 += rows_per_tile) {
            const std::int64_t turn = r0 / rows_per_tile, place = turn % n_parts;
            if ((turn / n_parts % 2 ? n_parts - 1 - place : place) != part) continue;  // back and forth: later rows have fewer pairs
            const std::int64_t r1 = std::min(r0 + rows_per_tile, end_row);
            auto first_slot = [&](std::int64_t r) { return pairs == Pairs::upper ? r / step * step : 0; };
            for (std::int64_t c0 = first_slot(r0) / columns * columns; c0 < end; c0 += columns) {
                const std::int64_t c1 = std::min(c0 + columns, end);
                T* base = buffer.get() - c0;  // base[slot] of the tile's first row
                for (std::int64_t k0 = 0; k0 < d; k0 += depth)
                    for (std::int64_t p = std::max(c0, first_slot(r0)), next; p < c1; p = next) {
                        next = p + lanes * n_across((c1 - p) / lanes);
                        for (std::int64_t r = r0; r < r1 && first_slot(r) < next; r += quad) {
                            if (r % width >= g) continue;
                            tile(left, right, r, std::max(p, first_slot(r)), next, k0, base + (r - r0) * row_step);
                        }
                    }
                for (std::int64_t r = r0; r < r1; ++r) {
                    T* q = base + (r - r0) * row_step;
                    std::int64_t from = std::max(c0, first_slot(r / quad * quad)), to = c1;
                    if (from >= c1 || r % width >= g) continue;
                    if (is_family<Shape>) from = from / width * width, to = (c1 + width - 1) / width * width;
                    for (std::int64_t p = std::max(from, right.slot(right.n)); p < to; ++p) q[p] = far;
                    if (pairs == Pairs::upper) for (std::int64_t p = from; p <= std::min(r, to - 1); ++p) q[p] = far;
                    if (pairs == Pairs::all_but_own && r >= from && r < to) q[r] = far;
                    double* row_sums = sums + r % width * t.n_kernels * width;
                    if constexpr (is_family<Shape>) accumulate_family(q, from, to, row_sums);
                    else accumulate(q, from, to, row_sums);
                }
            }
        }
    }

    // Vectors of columns of the next tile, of `left`. One alone is slow: four are two and two.
    std::int64_t n_across(std::int64_t left) const {
        return !product ? 2 : left < most_across ? left : left == 4 ? 2 : most_across;
    }

    // Rows from slot r on and columns p .. end - 1.
    void tile(const Panels<T, width>& left, const Panels<T, width>& right, std::int64_t r, std::int64_t p, std::int64_t end,
              std::int64_t k0, T* buffered) const {
        const std::int64_t n = std::min(depth, d - k0);
        const Tile<T> one = {left.place(r) + k0 * lanes, right.place(p) + k0 * lanes, lanes * d,
                             n, k0 == 0, k0 + n == d, buffered + p, row_step};
        if (product) one.products((end - p) / lanes, left.norms.get() + r, right.norms.get() + p);
        else one.template differences<typename Shape::Metric>();
    }

    void run() {
        const Sample x = sample_x(t), y = sample_y(t);
        const std::int64_t first = t.edges[t.first_node];
        n_parts = std::min(x.whole, y.whole) >= LARGE_BLOCK ? N_PARTS : 1;
        for (std::int64_t node = t.first_node; node < t.last_node; ++node)
            for (std::int64_t i = t.edges[node]; i < t.edges[node + 1]; ++i) {
                double* sums = t.sums + (i - first) * N_GROUP_SUMS * MAX_GROUPS * MAX_GROUPS * t.n_kernels;
                if (t.step != CONCLUDE_STEP) add_up(x, y, i);
                if (t.step == SUM_STEP) found.exchange(sums);
                if (t.step == CONCLUDE_STEP) total.exchange(sums);
                if (t.step != SUM_STEP)
                    (t.step == ALL_STEPS && n_parts == 1 ? found : total)
                        .conclude(x.size(i), y.size(i), nodes, node, i, t.values + i - first);
            }
    }

    // Sum the kernel over the pairs of a block: those of one part, for SUM_STEP, or of all parts in their order.
    void add_up(const Sample& x, const Sample& y, std::int64_t i) {
        const std::int64_t b = x.size(i), c = y.size(i), n = std::min(b, c);
        panels_x.pack(x, x.start(i), n);
        panels_y.pack(y, y.start(i), n);
        const Sample& longer = b > c ? x : y;
        panels_r.pack(longer, longer.start(i) + n, std::max(b, c) - n);
        const std::int64_t first = t.step == SUM_STEP ? t.part : 0, last = t.step == SUM_STEP ? t.part + 1 : n_parts;
        for (part = first; part < last; ++part) {
            found.clear();
            matrix(panels_x, panels_x, Pairs::upper, found.xx.get());
            matrix(panels_y, panels_y, Pairs::upper, found.yy.get());
            matrix(panels_x, panels_y, t.paired ? Pairs::all_but_own : Pairs::all, found.xy.get());
            matrix(panels_x, panels_r, Pairs::all, found.xr.get());
            matrix(panels_y, panels_r, Pairs::all, found.yr.get());
            matrix(panels_r, panels_r, Pairs::upper, found.rr.get());
            if (t.step == ALL_STEPS && n_parts > 1) found.collect(total, part == 0);
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
