// Distances for ManyBlocks: those between a few rows of as many blocks as a vector has lanes, from packed rows into a
// buffer. Of smooth kernels -q from products of rows near the origin, which cost half as much as differences.
#pragma once
#include <vector>

#include "lane_rows.hpp"
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

enum class Formula { products, differences, either };  // either: decided for each lane of each pair

template <class T, class Shape, int D> struct LaneDistances {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int tile = 16;                       // rows b that are buffered
    static constexpr int pitch = (4 * tile + 2) * lanes;  // of a buffered row; a power of two would crowd a set of the cache
    static constexpr int small = 12;  // rows of a block that are in so few pairs that their norms do not pay
    static constexpr bool may_multiply = is_smooth<Shape> && D == 0;  // one or two coordinates are no work either way
    // With numbers larger by the root of 2 products of rows give 2 x.y without a further operation.
    static constexpr double larger = may_multiply ? 1.41421356237309504880 : 1.0;
    using Rows = LaneRows<T, D>;

    const std::int64_t d, capacity;
    Rows xs, ys;
    std::vector<Near> near;  // of each row of x and of y

    LaneDistances(const Task& task, std::int64_t capacity)
        : d(D ? D : task.d), capacity(capacity), xs(task, capacity, larger), ys(task, capacity, larger),
          near(capacity + 1, near_in_none) {}

    // Take the b rows of n_used blocks from `first` on.
    void pack(const Sample& x, const Sample& y, std::int64_t first, int n_used, std::int64_t b) {
        xs.pack(x, first, n_used, b);
        ys.pack(y, first, n_used, b);
        if (may_multiply && capacity > small)
            for (std::int64_t r = 0; r < b; ++r) near[r] = xs.measure(r) | ys.measure(r);
    }

    // Whether all rows first .. last - 1 are near the origin, or none, or some.
    Near near_of(std::int64_t first, std::int64_t last) const {
        Near all = near[first];
        for (std::int64_t j = first; j < last; ++j) all = all | near[j];
        return all;
    }

    // Write the four distances, xx, yy, xy and yx, of m rows a to n rows b, of `lanes` blocks at once: [a][b][4][lane].
    template <int m, int n> void measure(std::int64_t a, std::int64_t b, T* out) const {
        if constexpr (may_multiply) {
            const Near of_a = near[a] | near[a + m - 1], of_b = near[b] | near[b + n - 1];
            if ((of_a | of_b) == near_in_all) return measure<m, n, Formula::products>(a, b, out);
            if (of_a != near_in_none && of_b != near_in_none) return measure<m, n, Formula::either>(a, b, out);
        }
        measure<m, n, Formula::differences>(a, b, out);
    }

private:
    // Each number that is loaded is used n or m times.
    template <int m, int n, Formula how> void measure(std::int64_t a, std::int64_t b, T* out) const {
        const std::int64_t n_coordinates = D ? D : d, step = n_coordinates * lanes;
        const T *xa = xs.row(a), *ya = ys.row(a), *xb = xs.row(b), *yb = ys.row(b);
        Vec<T> q[m][n][4] = {}, away[m][n][4] = {};  // xx, yy, xy, yx
        if constexpr (how != Formula::differences)
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
                    if constexpr (how != Formula::differences) add_up(q[i][j], x, y, u[j], v[j], product);
                    if constexpr (how != Formula::products) add_up(away[i][j], x, y, u[j], v[j], difference);
                }
            }
        }
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
                for (int of = 0; of < 4; ++of) {
                    Vec<T> found = may_multiply ? away[i][j][of] * T(-0.5) : away[i][j][of];
                    if constexpr (how == Formula::products) found = q[i][j][of];
                    if constexpr (how == Formula::either) {  // by the two rows alone: neighbours must not change a bit
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
};

}  // namespace BTESTS_ISA
}  // namespace btests
