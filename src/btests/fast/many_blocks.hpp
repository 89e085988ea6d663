// Layout one: a lane of a vector is a block. No evaluation is wasted on diagonals or padding, whatever the block size;
// needs as many blocks as lanes and their rows in cache. Paired samples only: h(z_a, z_b) is formed in registers.
#pragma once
#include "deal.hpp"
#include "families.hpp"
#include "node_sums.hpp"
#include "transpose.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T, class Shape, int D> struct ManyBlocks {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int tile = 16;
    static constexpr int together = BTESTS_BYTES == 64 ? 4 : 2;  // pairs of a family in flight, by registers
    static constexpr bool is_double = std::is_same<T, double>::value;

    const Task& t;
    const std::int64_t d, g, capacity;
    Scratch<T> xs, ys;         // [row][coordinate][lane]
    const std::int64_t n_kernels;
    Scratch<double> between;   // [kernel][group][group][lane]: sum of h over pairs a < b
    Scratch<double> totals;    // [kernel][lane]
    Scratch<double> cells;     // [pair][kernel][lane]: what the pairs in flight add up to
    const Levels levels;
    NodeSums nodes;

    explicit ManyBlocks(const Task& task)
        : t(task), d(D ? D : task.d), g(task.n_groups), capacity(task.n_x / task.n_blocks + 1),
          xs(capacity * d * lanes), ys(capacity * d * lanes), n_kernels(task.n_kernels),
          between(g * g * n_kernels * lanes), totals(n_kernels * lanes), cells(together * n_kernels * lanes), levels(task),
          nodes(task, task.n_groups) {}

    // Put the rows of each lane's block side by side; spare lanes repeat the last block. A block of one row less gets the
    // origin for it, in x and in y: with any row that makes an h of exactly 0.
    template <class Input> void pack(const Side& s, T* out, std::int64_t first, int n_used, std::int64_t b) const {
        const Input* rows = static_cast<const Input*>(s.rows);
        const std::int64_t n_coordinates = D ? D : d;
        const double* __restrict origin = t.origin;
        const Input* from[lanes];
        if (!is_double || s.order || s.size(first + n_used - 1) != b) {  // row by row
            for (std::int64_t r = 0; r < b; ++r) {
                T* to = out + r * n_coordinates * lanes;
                bool missing = false;
                for (int lane = 0; lane < lanes; ++lane) {
                    const std::int64_t block = first + std::min(lane, n_used - 1), own = s.size(block);
                    const std::int64_t at = s.start(block) + std::min(r, own - 1);
                    missing = r == own;
                    if (s.order) prefetch_row(t, s, at + 16);
                    from[lane] = rows + (s.order ? s.order[at] : at) * n_coordinates;
                }
                if constexpr (is_double) transpose(from, n_coordinates, to);
                // A float must be centred before it is rounded to one, a double may wait for vectors.
                else for (std::int64_t k = 0; k < n_coordinates; ++k) {
                    Vec<T> v;
                    for (int lane = 0; lane < lanes; ++lane) v[lane] = T((double(from[lane][k]) - origin[k]) * t.scale);
                    store(to + k * lanes, v);
                }
                if (missing) put_origin(s, to, first);
            }
        } else {  // all numbers of a block lie one after another
            for (int lane = 0; lane < lanes; ++lane)
                from[lane] = rows + (s.start(first) + std::min(lane, n_used - 1) * b) * n_coordinates;
            if constexpr (is_double) transpose(from, b * n_coordinates, out);
        }
        if (!is_double) return;
        for (std::int64_t r = 0; r < b; ++r)
            for (std::int64_t k = 0; k < n_coordinates; ++k, out += lanes)
                store(out, (load(out) - T(origin[k])) * T(t.scale));
    }
    void put_origin(const Side& s, T* row, std::int64_t first) const {
        const std::int64_t first_short = s.longer - first;
        for (std::int64_t k = 0; k < d; ++k)
            for (std::int64_t lane = first_short; lane < lanes; ++lane) row[k * lanes + lane] = is_double ? T(t.origin[k]) : T(0);
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

    // h of n pairs of rows (a, b) for all kernels of a family, added to the cells: those of each pair if they lie in
    // different groups (`apart`), the first cells for all of them otherwise.
    template <int n, bool apart> void meet_family(const std::int64_t* a, const std::int64_t* b, int n_real = n) const {
        Vec<T> q[4 * n];  // n of xx, n of yy, n of xy, n of yx
        if (a[0] == a[n - 1]) distances<n, true>(a, b, q);
        else distances<n, false>(a, b, q);
        for (int i = n_real; i < n; ++i) q[i] = q[n + i] = q[2 * n + i] = q[3 * n + i] = Vec<T>{};  // u is 0: adds nothing
        levels.template each<4 * n>(q, 4 * n_real, [&](std::int64_t level, const Doubles* u) BTESTS_INLINE {
            Doubles within[n], across[n];
            for (int i = 0; i < n; ++i) within[i] = u[i] + u[n + i], across[i] = u[2 * n + i] + u[3 * n + i];
            const Doubles alike = total<n>(within), unlike = total<n>(across);
            double* to = cells.get() + level * lanes;
            if constexpr (apart)
                for (int i = 0; i < n; ++i, to += n_kernels * lanes) store(to, load(to) + (within[i] - across[i]));
            else store(to, load(to) + (alike - unlike));
            return alike + unlike;
        });
    }
    // The four distances of each pair. Pairs that share row a share its loads.
    template <int n, bool shared> void distances(const std::int64_t* a, const std::int64_t* b, Vec<T>* out) const {
        using Metric = typename Shape::Metric;
        const std::int64_t n_coordinates = D ? D : d, step = n_coordinates * lanes;
        Vec<T> q[4 * n] = {};
        for (std::int64_t k = 0; k < n_coordinates; ++k) {
            Vec<T> xa = load(xs.get() + a[0] * step + k * lanes), ya = load(ys.get() + a[0] * step + k * lanes);
            for (int i = 0; i < n; ++i) {
                if (!shared && i > 0) {
                    xa = in_register(load(xs.get() + a[i] * step + k * lanes));
                    ya = in_register(load(ys.get() + a[i] * step + k * lanes));
                }
                const Vec<T> xb = in_register(load(xs.get() + b[i] * step + k * lanes));
                const Vec<T> yb = in_register(load(ys.get() + b[i] * step + k * lanes));
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
                std::memset(cells.get(), 0, (several ? together : 1) * n_kernels * lanes * sizeof(double));
                if (several) {
                    for (int i = 0; i < together; ++i) left[i] = u, right[i] = v + i;
                    meet_family<together, true>(left, right);
                    for (int i = 0; i < together; ++i) keep(u, v + i, i);
                    v += together - 1;
                    continue;
                }
                int n = 0;
                for (std::int64_t i = u; i < b; i += g)
                    for (std::int64_t j = u == v ? i + g : v; j < b; j += g) {
                        left[n] = i, right[n] = j;
                        if (++n == together) meet_family<together, false>(left, right), n = 0;
                    }
                if (n == 1) meet_family<1, false>(left, right);
                else if (n > 1) {
                    for (int i = n; i < together; ++i) left[i] = left[n - 1], right[i] = right[n - 1];
                    meet_family<together, false>(left, right, n);
                }
                keep(u, v, 0);
            }
    }

    void keep(std::int64_t u, std::int64_t v, int which) const {
        for (std::int64_t k = 0; k < n_kernels; ++k) {
            const Doubles sum = load(cells.get() + (which * n_kernels + k) * lanes);
            store(between.get() + ((k * g + u) * g + v) * lanes, sum);
            store(totals.get() + k * lanes, load(totals.get() + k * lanes) + sum);
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

    // Give what `n` lanes from `first` on have found, n a power of two, to the node of their blocks.
    template <int n> void add_cores(std::int64_t node, std::int64_t block, int first, const double* units) {
        for (std::int64_t k = 0; k < n_kernels; ++k) {
            const double* sums = between.get() + k * g * g * lanes;
            double* core = nodes.fresh(k);
            for (std::int64_t u = 0; u < g; ++u) {
                core[u * g + u] = 0.0;
                for (std::int64_t v = u + 1; v < g; ++v) {
                    const double *one = sums + (u * g + v) * lanes + first, *two = sums + (v * g + u) * lanes + first;
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
            pack(x, xs.get(), i, n_used, b);
            pack(y, ys.get(), i, n_used, b);
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
