// Distances of a few rows to a few vectors of columns, in registers: the inner loop of LargeBlocks.
#pragma once
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T> struct Tile {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr int few = 4, many = BTESTS_BYTES == 64 ? 8 : 4;  // rows, by registers: of differences, of products
    static constexpr int most_across = BTESTS_BYTES == 64 ? 3 : 2;    // vectors of columns, of products; of differences 2

    // Rows i and vectors j of columns lie in panels: see Panels::place.
    const T *rows, *cols;
    std::int64_t panel;  // numbers of a panel
    std::int64_t n;      // coordinates of this pass
    bool is_first, is_last;
    T* out;              // the distances, or their partial sums over the passes so far: row i at out + i * out_step
    std::int64_t out_step;

    T row(int i, std::int64_t k) const { return rows[i / lanes * panel + i % lanes + k * lanes]; }
    Vec<T> column(int j, std::int64_t k) const { return load(cols + j * panel + k * lanes); }

    template <class Metric> void differences() const {
        Vec<T> a[few][2] = {};
        for (std::int64_t k = 0; k < n; ++k) {
            const Vec<T> c0 = column(0, k), c1 = column(1, k);
            for (int i = 0; i < few; ++i) {
                const Vec<T> r = in_register(broadcast(row(i, k)));
                a[i][0] = Metric::template term<T>(a[i][0], r - c0);
                a[i][1] = Metric::template term<T>(a[i][1], r - c1);
            }
        }
        for (int i = 0; i < few; ++i)
            for (int j = 0; j < 2; ++j) {
                T* to = out + i * out_step + j * lanes;
                store(to, is_first ? a[i][j] : load(to) + a[i][j]);
            }
    }

    // |x|^2 + |y|^2 - 2 x.y, at least 0. A number that was loaded is used n_across times: loads are the bottleneck
    // of this loop.
    template <int n_across> void products(const T* row_norms, const T* column_norms) const {
        Vec<T> a[many][n_across] = {};
        for (std::int64_t k = 0; k < n; ++k) {
            Vec<T> c[n_across];
            for (int j = 0; j < n_across; ++j) c[j] = column(j, k);
            __builtin_prefetch(rows + many / lanes * panel + k * lanes);  // of the tile that comes next
            for (int i = 0; i < many; ++i) {
                const Vec<T> r = in_register(broadcast(row(i, k)));
                for (int j = 0; j < n_across; ++j) a[i][j] += r * c[j];
            }
        }
        if (!is_first)
            for (int i = 0; i < many; ++i)
                for (int j = 0; j < n_across; ++j) a[i][j] += load(out + i * out_step + j * lanes);
        if (is_last)
            for (int i = 0; i < many; ++i)
                for (int j = 0; j < n_across; ++j) {
                    const Vec<T> q = (row_norms[i] + load(column_norms + j * lanes)) - T(2) * a[i][j];
                    a[i][j] = q < T(0) ? Vec<T>{} : q;  // infinity - infinity stays NaN
                }
        for (int i = 0; i < many; ++i)
            for (int j = 0; j < n_across; ++j) store(out + i * out_step + j * lanes, a[i][j]);
    }
    void products(std::int64_t n_across, const T* row_norms, const T* column_norms) const {
        if (n_across == 1) products<1>(row_norms, column_norms);
        else if (n_across == 2) products<2>(row_norms, column_norms);
        else products<most_across>(row_norms, column_norms);
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
