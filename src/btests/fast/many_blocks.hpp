// Layout one: a lane of a vector is a block. No evaluation is wasted on diagonals or padding, whatever the block size;
// needs as many blocks as lanes and their rows in cache. Paired samples only: h(z_a, z_b) is formed in registers.
#pragma once
#include <vector>

#include "families.hpp"
#include "lane_rows.hpp"
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
    static constexpr int together = BTESTS_BYTES == 64 ? 4 : 2;  // pairs of a family in flight, by registers
    using Rows = LaneRows<T, D>;

    const Task& t;
    const std::int64_t d, g, capacity;
    Rows xs, ys;
    Scratch<T> buffer;                // [row a][row b][xx, yy, xy, yx][lane]
    std::vector<Near> near;           // of each row of x and of y
    std::vector<std::int64_t> group;  // of each row, and of one after the last: a division for each pair would be felt
    const std::int64_t n_kernels;
    // [group][group][kernel][lane]: sum of h over pairs a < b. Kernels last: with groups last, the kernels of a pair would
    // be a power of two apart, and all of them in one set of the cache.
    Scratch<double> between;
    Scratch<double> totals;    // [kernel][lane]
    const Levels levels;
    NodeSums nodes;

    explicit ManyBlocks(const Task& task)
        : t(task), d(D ? D : task.d), g(task.n_groups), capacity(task.n_x / task.n_blocks + 1),
          xs(task, capacity), ys(task, capacity), buffer(tall * pitch), near(capacity, near_in_none), group(capacity + 1),
          n_kernels(task.n_kernels), between(g * g * n_kernels * lanes), totals(n_kernels * lanes), levels(task),
          nodes(task, task.n_groups) {
        for (std::int64_t r = 0; r < capacity; ++r) group[r] = r % g;
    }

    // The four distances of m rows a to n rows b, of `lanes` blocks at once, into the buffer: each number that is loaded is
    // used n or m times. Of a smooth kernel -q / 2, which products give.
    template <int m, int n, Distances how> void measure(std::int64_t a, std::int64_t b, T* out) const {
        const std::int64_t n_coordinates = D ? D : d, step = n_coordinates * lanes;
        const T *xa = xs.row(a), *ya = ys.row(a), *xb = xs.row(b), *yb = ys.row(b);
        Vec<T> q[m][n][4] = {}, away[m][n][4] = {};  // xx, yy, xy, yx
        if constexpr (how != Distances::differences)
            for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) add_up(q[i][j], xs.half(a + i), ys.half(a + i), xs.half(b + j), ys.half(b + j), sum);
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
                        const Vec<T> one = (of % 2 ? ys : xs).half(a + i), other = (of == 0 || of == 3 ? xs : ys).half(b + j);
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
    void meet(std::int64_t a, std::int64_t b, std::int64_t end, const T* q, Doubles* sum) const {
        double* row = between.get() + group[a] * g * lanes;
        for (; b < end; ++b, q += 4 * lanes) {
            Vec<T> k[4];
            for (int i = 0; i < 4; ++i) k[i] = value(load(q + i * lanes));
            const Vec<T> h = (k[0] - k[2]) + (k[1] - k[3]);
            add_to(sum, h);
            Doubles cell[parts<T>];
            double* at = row + group[b] * lanes;
            std::memcpy(cell, at, sizeof cell);
            add_to(cell, h);
            std::memcpy(at, cell, sizeof cell);
        }
    }
    BTESTS_INLINE static Vec<T> value(Vec<T> q) {
        if constexpr (may_multiply) return Shape::template value_of_half<T>(q);
        else return Shape::template value<T>(q);
    }

    // h of n pairs of rows (a, b) for all kernels of a family, added to cells [kernel][lane]: to those of each pair if they
    // lie in different groups (`apart`), one after another, and to the first for all of them otherwise.
    template <int n, bool apart>
    void meet_family(const std::int64_t* a, const std::int64_t* b, double* cells, int n_real = n) const {
        Vec<T> q[4 * n];  // n of xx, n of yy, n of xy, n of yx
        if (a[0] == a[n - 1]) distances<n, true>(a, b, q);
        else distances<n, false>(a, b, q);
        for (int i = n_real; i < n; ++i) q[i] = q[n + i] = q[2 * n + i] = q[3 * n + i] = Vec<T>{};  // u is 0: adds nothing
        levels.template each<4 * n>(q, 4 * n_real, [&](std::int64_t level, const Doubles* u) BTESTS_INLINE {
            Doubles within[n], across[n];
            for (int i = 0; i < n; ++i) within[i] = u[i] + u[n + i], across[i] = u[2 * n + i] + u[3 * n + i];
            const Doubles alike = total<n>(within), unlike = total<n>(across);
            double* to = cells + level * lanes;
            if constexpr (apart)
                for (int i = 0; i < n; ++i, to += n_kernels * lanes) store(to, load(to) + (within[i] - across[i]));
            else store(to, load(to) + (alike - unlike));
            return alike + unlike;
        });
    }
    // The four distances of each pair. Pairs that share row a share its loads.
    template <int n, bool shared> void distances(const std::int64_t* a, const std::int64_t* b, Vec<T>* out) const {
        using Metric = typename Shape::Metric;
        const std::int64_t n_coordinates = D ? D : d;
        Vec<T> q[4 * n] = {};
        for (std::int64_t k = 0; k < n_coordinates; ++k) {
            Vec<T> xa = load(xs.row(a[0]) + k * lanes), ya = load(ys.row(a[0]) + k * lanes);
            for (int i = 0; i < n; ++i) {
                if (!shared && i > 0) {
                    xa = in_register(load(xs.row(a[i]) + k * lanes));
                    ya = in_register(load(ys.row(a[i]) + k * lanes));
                }
                const Vec<T> xb = in_register(load(xs.row(b[i]) + k * lanes));
                const Vec<T> yb = in_register(load(ys.row(b[i]) + k * lanes));
                q[i] = Metric::template term<T>(q[i], xa - xb);
                q[n + i] = Metric::template term<T>(q[n + i], ya - yb);
                q[2 * n + i] = Metric::template term<T>(q[2 * n + i], xa - yb);
                q[3 * n + i] = Metric::template term<T>(q[3 * n + i], ya - xb);
            }
        }
        for (int i = 0; i < 4 * n; ++i) out[i] = q[i];
    }
    template <int n> static Doubles total(const Doubles* h) {
        if constexpr (n == 1) return h[0];
        else return total<n / 2>(h) + total<n / 2>(h + n / 2);
    }

    // Group by group: the sums over the pairs of two groups, one for each kernel, stay in cache.
    void compute_family(std::int64_t b) {
        std::int64_t left[together], right[together];
        std::memset(totals.get(), 0, n_kernels * lanes * sizeof(double));
        const bool single = b <= g;  // one row to a group, and no pairs inside one
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + single; v < g; ++v) {
                const bool several = single && v + together <= g;  // neighbours in v go side by side
                double* cells = between.get() + (u * g + v) * n_kernels * lanes;
                std::memset(cells, 0, (several ? together : 1) * n_kernels * lanes * sizeof(double));
                if (several) {
                    for (int i = 0; i < together; ++i) left[i] = u, right[i] = v + i;
                    meet_family<together, true>(left, right, cells);
                    for (int i = 0; i < together; ++i) keep(cells + i * n_kernels * lanes);
                    v += together - 1;
                    continue;
                }
                int n = 0;
                for (std::int64_t i = u; i < b; i += g)
                    for (std::int64_t j = u == v ? i + g : v; j < b; j += g) {
                        left[n] = i, right[n] = j;
                        if (++n == together) meet_family<together, false>(left, right, cells), n = 0;
                    }
                if (n == 1) meet_family<1, false>(left, right, cells);
                else if (n > 1) {
                    for (int i = n; i < together; ++i) left[i] = left[n - 1], right[i] = right[n - 1];
                    meet_family<together, false>(left, right, cells, n);
                }
                keep(cells);
            }
    }

    void keep(const double* cells) const {
        for (std::int64_t i = 0; i < n_kernels * lanes; i += lanes)
            store(totals.get() + i, load(totals.get() + i) + load(cells + i));
    }

    void compute(std::int64_t b) {
        std::memset(between.get(), 0, g * g * lanes * sizeof(double));
        Doubles sum[parts<T>] = {};
        for (std::int64_t a0 = 0; a0 < b; a0 += tile)
            for (std::int64_t b0 = a0; b0 < b; b0 += tile)
                for (std::int64_t i = a0; i < std::min(a0 + tile, b); i += tall) {
                    const std::int64_t first = std::max(i + 1, b0), end = std::min(b0 + tile, b);
                    std::int64_t j = first;
                    auto at = [&] { return buffer.get() + (j - first) * 4 * lanes; };
                    // The second row of two does not meet itself: in blocks of two rows that would be half of the work.
                    if (tall == 2 && j == i + 1 && j < end) measure<1, 1>(i, j, at()), ++j;
                    for (; j + 1 < end; j += 2) measure<tall, 2>(i, j, at());
                    if (j < end) measure<tall, 1>(i, j, at());
                    for (std::int64_t a = i; a < i + tall; ++a) {
                        j = std::max(a + 1, b0);
                        meet(a, j, end, at() + (a - i) * pitch, sum);
                    }
                }
        std::memcpy(totals.get(), sum, sizeof sum);
    }

    // Give what `n` lanes from `first` on have found, n a power of two, to the node of their blocks.
    template <int n> void add_cores(std::int64_t node, std::int64_t block, int first, const double* units) {
        for (std::int64_t k = 0; k < n_kernels; ++k) {
            const double* sums = between.get() + k * lanes;
            const std::int64_t step = n_kernels * lanes;
            double* core = nodes.fresh(k);
            for (std::int64_t u = 0; u < g; ++u) {
                core[u * g + u] = 0.0;
                for (std::int64_t v = u + 1; v < g; ++v) {
                    const double *one = sums + (u * g + v) * step + first, *two = sums + (v * g + u) * step + first;
                    double of[n];
                    for (int i = 0; i < n; ++i)  // a family has u < v only
                        of[i] = rounded(units[first + i] * (is_family<Shape> ? one[i] : one[i] + two[i]));
                    core[u * g + v] = core[v * g + u] = halves<n>(of);
                }
            }
            nodes.add(k, node, block, log2_of(n));
        }
    }
    template <int n> static double halves(const double* of) {
        if constexpr (n == 1) return of[0];
        else return halves<n / 2>(of) + halves<n / 2>(of + n / 2);
    }
    static constexpr int log2_of(int n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }

    static double unit(std::int64_t b) { return 1.0 / (double(b) * double(b - 1)); }

    void run() {
        const Side x = side_x(t), y = side_y(t);
        const std::int64_t first = t.edges[t.first_node], last = t.edges[t.last_node];
        const double larger = unit(x.whole), smaller = unit(x.whole + 1);
        std::int64_t node = t.first_node;
        for (std::int64_t i = first; i < last;) {
            const std::int64_t b = x.size(i);  // and of later blocks perhaps one less
            // The sums of a family run over several pairs at once, where a row that should not count would be felt.
            const std::int64_t end_of_run = is_family<Shape> ? x.end_of_size(i, last) : last;
            while (i >= t.edges[node + 1]) ++node;
            // Vectors begin at multiples of their length within a node: then they are nodes themselves.
            const std::int64_t spare = (i - t.edges[node]) % lanes;
            const int n_used = static_cast<int>(std::min<std::int64_t>(lanes - spare, end_of_run - i));
            xs.pack(x, i, n_used, b);
            ys.pack(y, i, n_used, b);
            if (may_multiply && capacity > small)
                for (std::int64_t r = 0; r < b; ++r) near[r] = xs.measure(r) | ys.measure(r);
            if constexpr (is_family<Shape>) compute_family(b);
            else compute(b);
            double units[lanes];
            for (int lane = 0; lane < n_used; ++lane) units[lane] = i + lane < x.longer ? smaller : larger;
            if (n_used == lanes && i + lanes <= t.edges[node + 1]) add_cores<lanes>(node, i, 0, units);
            else for (int lane = 0; lane < n_used; ++lane) {
                while (i + lane >= t.edges[node + 1]) ++node;
                add_cores<1>(node, i + lane, lane, units);
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
