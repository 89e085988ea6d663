// Layout one: a lane of a vector is a block. No evaluation is wasted on diagonals or padding, whatever the block size;
// needs as many blocks as lanes and their rows in cache. Paired samples only: h(z_a, z_b) is formed in registers.
#pragma once
#include <optional>
#include <vector>

#include "family_pairs.hpp"
#include "node_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

enum class Distances { products, differences, either };  // either: as each lane of each pair has it

template <class T, class Shape, int D> struct ManyBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int tile = 16;
    static constexpr int pitch = (4 * tile + 2) * lanes;  // of a buffered row; a power of two would crowd a set of the cache
    static constexpr int tall = BTESTS_BYTES == 64 ? 2 : 1;  // rows a that meet two rows b at once, by registers
    static constexpr int small = 12;  // rows of a block that meet so few others that their norms do not pay
    static constexpr bool may_multiply = is_smooth<Shape> && D == 0;  // one or two coordinates are no work either way
    // With numbers larger by the root of 2 products of rows give 2 x.y without a further operation.
    static constexpr double larger = may_multiply ? 1.41421356237309504880 : 1.0;
    static constexpr int n_waiting = 16;  // cells of a family that wait for their pairs
    using Rows = LaneRows<T, D>;

    const Task& t;
    const std::int64_t d, g, capacity;
    Rows xs, ys;
    Scratch<T> buffer;                // [row a][row b][xx, yy, xy, yx][lane]
    std::vector<Near> near;           // of each row of x and of y
    std::vector<std::int64_t> group;  // of each row, and of one after the last: a division for each pair would be felt
    const std::int64_t n_kernels;
    std::optional<FamilyPairs<typename Shape::Metric, D>> pairs;  // of a family
    const std::int64_t n_slots;  // of a cell: one for each kernel, and for powers
    // [group][group][slot][lane]: sum of h over pairs a < b. Kernels last: with groups last, the kernels of a pair would
    // be a power of two apart, and all of them in one set of the cache.
    Scratch<double> between;
    Scratch<double> totals;    // [kernel][lane]
    NodeSums nodes;
    std::vector<double*> cores;  // of each kernel, in `nodes`

    explicit ManyBlocks(const Task& task)
        : t(task), d(D ? D : task.d), g(task.n_groups), capacity(task.n_x / task.n_blocks + 1),
          xs(task, capacity, larger), ys(task, capacity, larger), buffer(tall * pitch), near(capacity + 1, near_in_none), group(capacity + 1),
          n_kernels(task.n_kernels), n_slots(begin_family()),
          between(std::max<std::int64_t>(g * g, n_waiting) * n_slots * lanes, false), totals(n_kernels * lanes), nodes(task, task.n_groups),
          cores(n_kernels) {
        for (std::int64_t r = 0; r < capacity; ++r) group[r] = r % g;
    }

    std::int64_t begin_family() {
        if constexpr (is_family<Shape>) return pairs.emplace(t, xs, ys).n_slots();
        return n_kernels;
    }

    // The four distances of m rows a to n rows b, of `lanes` blocks at once, into the buffer: each number that is loaded is
    // used n or m times. Of a smooth kernel -q, which products give.
    template <int m, int n, Distances how> void measure(std::int64_t a, std::int64_t b, T* out) const {
        const std::int64_t n_coordinates = D ? D : d, step = n_coordinates * lanes;
        const T *xa = xs.row(a), *ya = ys.row(a), *xb = xs.row(b), *yb = ys.row(b);
        Vec<T> q[m][n][4] = {}, away[m][n][4] = {};  // xx, yy, xy, yx
        if constexpr (how != Distances::differences)
            for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) add_up(q[i][j], xs.norm(a + i), ys.norm(a + i), xs.norm(b + j), ys.norm(b + j), sum);
        for (std::int64_t k = 0; k < n_coordinates; ++k) {
            Vec<T> u[n], v[n];
            for (int j = 0; j < n; ++j) {
                u[j] = in_register(load(xb + j * step + k * lanes));
                v[j] = in_register(load(yb + j * step + k * lanes));
            }
            for (int i = 0; i < m; ++i) {
                const Vec<T> x = in_register(load(xa + i * step + k * lanes)), y = in_register(load(ya + i * step + k * lanes));
                for (int j = 0; j < n; ++j) {
                    if constexpr (how != Distances::differences) add_up(q[i][j], x, y, u[j], v[j], product);
                    if constexpr (how != Distances::products) add_up(away[i][j], x, y, u[j], v[j], difference);
                }
            }
        }
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
                for (int of = 0; of < 4; ++of) {
                    Vec<T> found = may_multiply ? away[i][j][of] * T(-0.5) : away[i][j][of];
                    if constexpr (how == Distances::products) found = q[i][j][of];
                    if constexpr (how == Distances::either) {  // by the two rows alone: neighbours must not change a bit
                        const Vec<T> one = (of % 2 ? ys : xs).norm(a + i), other = (of == 0 || of == 3 ? xs : ys).norm(b + j);
                        found = Rows::is_near(one) & Rows::is_near(other) ? q[i][j][of] : found;
                    }
                    store(out + i * pitch + (j * 4 + of) * lanes, found);
                }
    }
    BTESTS_INLINE static Vec<T> sum(Vec<T>, Vec<T> u, Vec<T> v) { return u + v; }
    BTESTS_INLINE static Vec<T> product(Vec<T> sum, Vec<T> u, Vec<T> v) { return sum + u * v; }
    BTESTS_INLINE static Vec<T> difference(Vec<T> sum, Vec<T> u, Vec<T> v) { return Shape::Metric::template term<T>(sum, u - v); }
    template <class Term> BTESTS_INLINE static void add_up(Vec<T>* q, Vec<T> xa, Vec<T> ya, Vec<T> xb, Vec<T> yb, Term term) {
        q[0] = term(q[0], xa, xb), q[1] = term(q[1], ya, yb), q[2] = term(q[2], xa, yb), q[3] = term(q[3], ya, xb);
    }
    template <int m, int n> void measure(std::int64_t i, std::int64_t j, T* out) const {
        if constexpr (may_multiply) {
            const Near a = near[i] | near[i + m - 1], b = near[j] | near[j + n - 1];
            if ((a | b) == near_in_all) return measure<m, n, Distances::products>(i, j, out);
            if (a != near_in_none && b != near_in_none) return measure<m, n, Distances::either>(i, j, out);
        }
        measure<m, n, Distances::differences>(i, j, out);
    }

    // Add h(z_a, z_b) of a row a and buffered rows b to `sum` and to the cells of their groups.
    template <bool may_vanish> void meet(std::int64_t a, std::int64_t b, std::int64_t end, const T* q, Doubles* sum) const {
        double* row = between.get() + group[a] * g * lanes;
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

    // Group by group: the sums over the pairs of two groups, one for each kernel, stay in cache. If the blocks of all lanes
    // make a node (`whole`), they become numbers of its core, and the next ones take their place.
    void compute_family(std::int64_t b, bool whole, const double* units) {
        std::memset(totals.get(), 0, n_kernels * lanes * sizeof(double));
        std::memset(between.get(), 0, (whole ? n_waiting : g * g) * n_slots * lanes * sizeof(double));
        for (std::int64_t k = 0; k < n_kernels; ++k) cores[k] = nodes.fresh(k);
        const bool single = b <= g;  // one row to a group, and no pairs inside one
        std::int64_t waiting[n_waiting];
        int n = 0;
        auto cells_of = [&](int i) { return between.get() + (whole ? i : waiting[i]) * n_slots * lanes; };
        auto keep = [&] {
            pairs->flush();
            for (int i = 0; i < n; ++i) {
                double* one = cells_of(i);
                pairs->conclude(one);
                weigh(one, units, waiting[i], whole);
                if (whole) std::memset(one, 0, n_slots * lanes * sizeof(double));
            }
            n = 0;
        };
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + single; v < g; ++v) {
                waiting[n] = u * g + v;
                pairs->add(u, v, g, b, cells_of(n));
                if (++n == n_waiting) keep();
            }
        keep();
    }

    // Make numbers of all cores at `place` of cells [kernel][lane], and of the cells part of the totals.
    void weigh(const double* cells, const double* units, std::int64_t place, bool whole) {
        const std::int64_t n = n_kernels;
        double* total = totals.get();
        for (std::int64_t i = 0; i < n * lanes; i += lanes) store(total + i, load(total + i) + load(cells + i));
        if (!whole) return;
        std::int64_t k = 0;
        for (const Doubles unit = load(units); k + lanes <= n; k += lanes, cells += lanes * lanes) {
            Doubles of[lanes];
            // No product becomes part of a sum: see rounded().
            for (int i = 0; i < lanes; ++i) of[i] = in_register(unit * load(cells + i * lanes));
            const Doubles sums = sums_by_halves(of);
            for (int i = 0; i < lanes; ++i) cores[k + i][place] = sums[i];
        }
        for (; k < n; ++k, cells += lanes) cores[k][place] = sum_of<lanes>(units, cells, nullptr);
    }

    void compute(std::int64_t b) {
        std::memset(between.get(), 0, g * g * lanes * sizeof(double));
        Doubles sum[parts<T>] = {};
        for (std::int64_t a0 = 0; a0 < b; a0 += tile)
            for (std::int64_t b0 = a0; b0 < b; b0 += tile) {
                const std::int64_t end = std::min(b0 + tile, b);
                Near of_b = near[b0];
                for (std::int64_t j = b0; j < end; ++j) of_b = of_b | near[j];
                for (std::int64_t i = a0; i < std::min(a0 + tile, b); i += tall) {
                    const std::int64_t first = std::max(i + 1, b0);
                    std::int64_t j = first;
                    auto at = [&] { return buffer.get() + (j - first) * 4 * lanes; };
                    // The second row of two does not meet itself: in blocks of two rows that would be half of the work.
                    if (tall == 2 && j == i + 1 && j < end) measure<1, 1>(i, j, at()), ++j;
                    for (; j + 1 < end; j += 2) measure<tall, 2>(i, j, at());
                    if (j < end) measure<tall, 1>(i, j, at());
                    for (std::int64_t a = i; a < i + tall; ++a) {
                        j = std::max(a + 1, b0);
                        const T* q = at() + (a - i) * pitch;
                        // The squared distance of rows that are near the origin is at most four times their norm.
                        static_assert(4 * largest_norm<T> < (sizeof(T) == 8 ? 1021 : 125), "2^-q does not vanish");
                        if (may_multiply && (near[a] | of_b) == near_in_all) meet<!may_multiply>(a, j, end, q, sum);
                        else meet<true>(a, j, end, q, sum);
                    }
                }
            }
        std::memcpy(totals.get(), sum, sizeof sum);
    }

    // Make numbers of a core of what `n` lanes from `first` on have found, n a power of two.
    template <int n> void conclude(int first, const double* units) {
        for (std::int64_t k = 0; k < n_kernels; ++k) cores[k] = nodes.fresh(k);
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + 1; v < g; ++v) {
                const double *one = between.get() + (u * g + v) * n_slots * lanes + first;
                const double *two = between.get() + (v * g + u) * n_slots * lanes + first;  // a family has u < v only
                for (std::int64_t k = 0; k < n_kernels; ++k, one += lanes, two += lanes)
                    cores[k][u * g + v] = sum_of<n>(units + first, one, is_family<Shape> ? nullptr : two);
            }
    }
    // Give the cores, those of n blocks from `block` on, to their node.
    template <int n> void add_cores(std::int64_t node, std::int64_t block) {
        for (std::int64_t k = 0; k < n_kernels; ++k) {
            for (std::int64_t u = 0; u < g; ++u) {
                cores[k][u * g + u] = 0.0;
                for (std::int64_t v = 0; v < u; ++v) cores[k][u * g + v] = cores[k][v * g + u];
            }
            nodes.add(k, node, block, log2_of(n));
        }
    }
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

    static double unit(std::int64_t b) { return 1.0 / (double(b) * double(b - 1)); }

    void run() {
        const Side x = side_x(t), y = side_y(t);
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
            xs.pack(x, i, n_used, b);
            ys.pack(y, i, n_used, b);
            if (may_multiply && capacity > small)
                for (std::int64_t r = 0; r < b; ++r) near[r] = xs.measure(r) | ys.measure(r);
            double units[lanes];
            for (int lane = 0; lane < n_used; ++lane) units[lane] = i + lane < x.longer ? smaller : larger;
            const bool whole = n_used == lanes && i + lanes <= t.edges[node + 1];
            if constexpr (is_family<Shape>) compute_family(b, whole, units);
            else compute(b);
            if (whole) {
                if (!is_family<Shape>) conclude<lanes>(0, units);
                add_cores<lanes>(node, i);
            } else for (int lane = 0; lane < n_used; ++lane) {
                while (i + lane >= t.edges[node + 1]) ++node;
                conclude<1>(lane, units);
                add_cores<1>(node, i + lane);
            }
            for (std::int64_t k = 0; k < n_kernels; ++k)
                for (int lane = 0; lane < n_used; ++lane)
                    t.values[k * t.values_step + i + lane - first] = 2.0 * totals[k * lanes + lane] * units[lane];
            i += n_used;
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
