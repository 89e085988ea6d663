// Walsh transforms of tiles of q x q vectors, and sums of their products over tiles, for all pairs of kernels.
#pragma once
#include "sample.hpp"

namespace btests {
namespace BTESTS_ISA {

// Replace v by its Walsh transform: entry i is the sum of (-1)^popcount(i AND j) v_j.
template <int q> BTESTS_INLINE inline void walsh(Doubles* v) {
#pragma GCC unroll 3
    for (int h = 1; h < q; h *= 2)
#pragma GCC unroll 8
        for (int i = 0; i < q; ++i)
            if (!(i & h)) {
                const Doubles difference = v[i] - v[i + h];
                v[i] += v[i + h];
                v[i + h] = difference;
            }
}

// Transformed tiles of the kernels of one side, some tiles at a time: [a][b][kernel][tile][lane].
template <int q> struct WalshTiles {
    static constexpr int n_tiles = 4;  // of more, both sides of 5 kernels would not stay in second-level cache
    const std::int64_t n_kernels, step;
    Scratch<double> numbers;

    explicit WalshTiles(std::int64_t kernels)
        : n_kernels(kernels), step((kernels * n_tiles + 2) * double_lanes), numbers(q * q * step) {}

    double* at(std::int64_t kernel, int tile) const { return numbers.get() + (kernel * n_tiles + tile) * double_lanes; }

    // Transform [a][b][lane] less an offset; add the transform of row sums to `rows`, and of column sums to `columns`.
    void put(std::int64_t kernel, int tile, const double* values, Doubles offset, double* rows, double* columns) {
        alignas(64) double half[q * q * double_lanes];
        for (int a = 0; a < q; ++a) {
            Doubles v[q];
            for (int b = 0; b < q; ++b) v[b] = load(values + (a * q + b) * double_lanes) - offset;
            walsh<q>(v);
            for (int b = 0; b < q; ++b) store(half + (a * q + b) * double_lanes, v[b]);
        }
        double* to = at(kernel, tile);
        for (int b = 0; b < q; ++b) {
            Doubles v[q];
            for (int a = 0; a < q; ++a) v[a] = load(half + (a * q + b) * double_lanes);
            walsh<q>(v);
            for (int a = 0; a < q; ++a) store(to + (a * q + b) * step, v[a]);
            if (b == 0) for (int a = 0; a < q; ++a) store(rows + a * double_lanes, load(rows + a * double_lanes) + v[a]);
            store(columns + b * double_lanes, load(columns + b * double_lanes) + v[0]);
        }
    }

    void multiply(int tile, Doubles by) {
        for (std::int64_t kernel = 0; kernel < n_kernels; ++kernel)
            for (int i = 0; i < q * q; ++i) {
                double* number = at(kernel, tile) + i * step;
                store(number, load(number) * by);
            }
    }
};

// Add the products of n tiles of x and of y to sums [a][b][kernel of x][kernel of y][lane]: as a product of matrices, n_x
// kernels of x and n_y of y at a time, by registers.
template <int q, int n_x, int n_y>
inline void add_products(const WalshTiles<q>& x, const WalshTiles<q>& y, std::int64_t i, std::int64_t j, int n, double* sums) {
    const double *k = x.at(i, 0), *l = y.at(j, 0);
    constexpr int apart = WalshTiles<q>::n_tiles * double_lanes;
    const std::int64_t row = y.n_kernels * double_lanes, cell = x.n_kernels * row;
    sums += i * row + j * double_lanes;
    for (int position = 0; position < q * q; ++position, k += x.step, l += y.step, sums += cell) {
        Doubles sum[n_x][n_y];
        for (int u = 0; u < n_x; ++u)
            for (int v = 0; v < n_y; ++v) sum[u][v] = load(sums + u * row + v * double_lanes);
        for (int tile = 0; tile < n; ++tile) {
            Doubles other[n_y];
            for (int v = 0; v < n_y; ++v) other[v] = in_register(load(l + v * apart + tile * double_lanes));
            for (int u = 0; u < n_x; ++u) {
                const Doubles one = in_register(load(k + u * apart + tile * double_lanes));
                for (int v = 0; v < n_y; ++v) sum[u][v] += one * other[v];
            }
        }
        for (int u = 0; u < n_x; ++u)
            for (int v = 0; v < n_y; ++v) store(sums + u * row + v * double_lanes, sum[u][v]);
    }
}
template <int q, int n_y>
inline void add_products(const WalshTiles<q>& x, const WalshTiles<q>& y, std::int64_t j, int n, double* sums) {
    constexpr int most = 5;
    std::int64_t i = 0;
    for (; i + most <= x.n_kernels; i += most) add_products<q, most, n_y>(x, y, i, j, n, sums);
    for (; i + 3 <= x.n_kernels; i += 3) add_products<q, 3, n_y>(x, y, i, j, n, sums);
    for (; i < x.n_kernels; ++i) add_products<q, 1, n_y>(x, y, i, j, n, sums);
}
template <int q> inline void add_products(const WalshTiles<q>& x, const WalshTiles<q>& y, int n, double* sums) {
    std::int64_t j = 0;
    for (; j + 2 <= y.n_kernels; j += 2) add_products<q, 2>(x, y, j, n, sums);
    if (j < y.n_kernels) add_products<q, 1>(x, y, j, n, sums);
}

}  // namespace BTESTS_ISA
}  // namespace btests
