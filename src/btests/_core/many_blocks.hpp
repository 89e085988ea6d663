// Layout ManyBlocks: a lane of a vector is a block. No evaluation is wasted on diagonals or padding, for any block size;
// needs as many blocks as lanes, and their rows in cache. Paired samples only: h(z_a, z_b) is formed in registers.
// LaneDistances measures, LaneSums adds up, and this evaluates the kernel between the two.
#pragma once
#include <optional>
#include <vector>

#include "family_pairs.hpp"
#include "lane_distances.hpp"
#include "lane_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T, class Shape, int D> struct ManyBlocks {
    using Distances = LaneDistances<T, Shape, D>;
    static constexpr int lanes = Types<T>::lanes, tile = Distances::tile, pitch = Distances::pitch;
    static constexpr int rows_at_once = BTESTS_BYTES == 64 ? 2 : 1;  // rows a that share loads of two rows b, by registers
    static constexpr bool may_multiply = Distances::may_multiply;

    const Task& t;
    const std::int64_t g, capacity;  // groups, and rows of the largest block
    Distances distances;
    Scratch<T> buffer;                // [row a][row b][xx, yy, xy, yx][lane]
    std::vector<std::int64_t> group;  // of each row, and of one after the last: a division for each pair would be felt
    std::optional<FamilyPairs<typename Shape::Metric, D>> pairs;  // of a family
    LaneSums<T, is_family<Shape>> sums;

    explicit ManyBlocks(const Task& task)
        : t(task), g(task.n_groups), capacity(task.n_x / task.n_blocks + 1), distances(task, capacity),
          buffer(rows_at_once * pitch), group(capacity + 1), sums(task, begin_family()) {
        for (std::int64_t r = 0; r < capacity; ++r) group[r] = r % g;
    }

    // Return the numbers of a cell.
    std::int64_t begin_family() {
        if constexpr (is_family<Shape>) return pairs.emplace(t, distances.xs, distances.ys).n_slots();
        return t.n_kernels;
    }

    // All pairs of rows a < b, in tiles of rows whose distances are buffered.
    void compute(std::int64_t b) {
        sums.clear(g * g);
        Doubles sum[parts<T>] = {};
        for (std::int64_t a0 = 0; a0 < b; a0 += tile)
            for (std::int64_t b0 = a0; b0 < b; b0 += tile) {
                const std::int64_t end = std::min(b0 + tile, b);
                const Near of_b = distances.near_of(b0, end);
                for (std::int64_t i = a0; i < std::min(a0 + tile, b); i += rows_at_once) {
                    const std::int64_t first = std::max(i + 1, b0);
                    std::int64_t j = first;
                    auto at = [&] { return buffer.get() + (j - first) * 4 * lanes; };
                    // The second of two rows has no pair with itself: in blocks of two rows that would be half of the work.
                    if (rows_at_once == 2 && j == i + 1 && j < end) distances.template measure<1, 1>(i, j, at()), ++j;
                    for (; j + 1 < end; j += 2) distances.template measure<rows_at_once, 2>(i, j, at());
                    if (j < end) distances.template measure<rows_at_once, 1>(i, j, at());
                    for (std::int64_t a = i; a < i + rows_at_once; ++a) {
                        j = std::max(a + 1, b0);
                        const T* q = at() + (a - i) * pitch;
                        // The squared distance of rows that are near the origin is at most four times their norm.
                        static_assert(4 * largest_norm<T> < (sizeof(T) == 8 ? 1021 : 125), "2^-q does not vanish");
                        if (may_multiply && (distances.near[a] | of_b) == near_in_all) evaluate<!may_multiply>(a, j, end, q, sum);
                        else evaluate<true>(a, j, end, q, sum);
                    }
                }
            }
        std::memcpy(sums.totals.get(), sum, sizeof sum);
    }

    // Add h(z_a, z_b) of a row a and buffered rows b to `sum` and to the cells of their groups.
    template <bool may_vanish> void evaluate(std::int64_t a, std::int64_t b, std::int64_t end, const T* q, Doubles* sum) const {
        double* row = sums.between.get() + group[a] * g * lanes;
        for (; b < end; ++b, q += 4 * lanes) {
            Vec<T> k[4];
            for (int i = 0; i < 4; ++i) k[i] = value<may_vanish>(load(q + i * lanes));
            const Vec<T> h = (k[0] - k[2]) + (k[1] - k[3]);
            add_to(sum, h);
            Doubles cell[parts<T>];
            double* at = row + group[b] * lanes;
            std::memcpy(cell, at, sizeof cell);
            add_to(cell, h);
            std::memcpy(at, cell, sizeof cell);
        }
    }
    template <bool may_vanish> BTESTS_INLINE static Vec<T> value(Vec<T> q) {
        if constexpr (may_multiply) return Shape::template value_of_minus<T, may_vanish>(q);
        else return Shape::template value<T>(q);
    }

    // All kernels of a family, group by group: the sums over the pairs of two groups, one for each kernel, stay in cache.
    // If the blocks of all lanes make a node (`whole`), they become entries of its moments, and the next ones replace them.
    void compute_family(std::int64_t b, bool whole, const double* units) {
        constexpr int most = LaneSums<T, true>::n_pending;
        sums.clear_totals();
        sums.clear(whole ? most : g * g);
        sums.begin_moments();
        const bool single = b <= g;  // one row to a group, and no pairs inside one
        std::int64_t pending[most];
        int n = 0;
        auto cell_of = [&](int i) { return sums.cell(whole ? i : pending[i]); };
        auto finish = [&] {
            pairs->flush();
            for (int i = 0; i < n; ++i) {
                double* cell = cell_of(i);
                pairs->conclude(cell);
                sums.add_to_totals(cell);
                if (!whole) continue;
                sums.reduce(cell, units, pending[i]);
                std::memset(cell, 0, sums.n_slots * lanes * sizeof(double));
            }
            n = 0;
        };
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + single; v < g; ++v) {
                pending[n] = u * g + v;
                pairs->add(u, v, g, b, cell_of(n));
                if (++n == most) finish();
            }
        finish();
    }

    static double unit(std::int64_t b) { return 1.0 / (double(b) * double(b - 1)); }

    void run() {
        const Sample x = sample_x(t), y = sample_y(t);
        const std::int64_t first = t.edges[t.first_node], last = t.edges[t.last_node];
        const double larger = unit(x.whole), smaller = unit(x.whole + 1);
        std::int64_t node = t.first_node;
        for (std::int64_t i = first; i < last;) {
            // And of later blocks perhaps one less. Which pairs of a family are added first depends on b: one for all.
            const std::int64_t b = is_family<Shape> ? x.size(0) : x.size(i);
            while (i >= t.edges[node + 1]) ++node;
            // Vectors begin at multiples of their length within a node: then they are nodes themselves.
            const std::int64_t spare = (i - t.edges[node]) % lanes;
            const int n_used = static_cast<int>(std::min<std::int64_t>(lanes - spare, last - i));
            distances.pack(x, y, i, n_used, b);
            double units[lanes];
            for (int lane = 0; lane < n_used; ++lane) units[lane] = i + lane < x.longer ? smaller : larger;
            const bool whole = n_used == lanes && i + lanes <= t.edges[node + 1];
            if constexpr (is_family<Shape>) compute_family(b, whole, units);
            else compute(b);
            if (whole) {
                if (!is_family<Shape>) sums.template reduce_all<lanes>(0, units);
                sums.template add_to_node<lanes>(node, i);
            } else for (int lane = 0; lane < n_used; ++lane) {
                while (i + lane >= t.edges[node + 1]) ++node;
                sums.template reduce_all<1>(lane, units);
                sums.template add_to_node<1>(node, i + lane);
            }
            sums.write_values(i - first, n_used, units);
            i += n_used;
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
