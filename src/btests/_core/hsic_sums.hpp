// Sums of HSIC over the tiles of a block, and the value and moments that they become by the formulas of docs/method.md.
#pragma once
#include "node_sums.hpp"
#include "tuple_rows.hpp"

namespace btests {
namespace BTESTS_ISA {

// Part u of the sums has the tiles of tuples of group u with those of group u and later ones; group g is the rows that stay.
// Numbers have `width` lanes: as many as a vector if lanes are blocks, else 1.
struct HsicSums {
    const Task &x, &y;
    const int q;
    const std::int64_t g, n_x, n_y, n_rows, width;

    HsicSums(const Task& x, const Task& y)
        : x(x), y(y), q(static_cast<int>(x.tuple_size)), g(x.n_groups), n_x(x.n_kernels), n_y(y.n_kernels),
          n_rows((x.n_x / x.n_blocks + 1) / q * q + q), width(x.lanes_are_blocks ? double_lanes : 1) {}

    std::int64_t n_parts() const { return g + 1; }
    std::int64_t products_size() const { return n_x * n_y * (g + 1) * q * q * width; }
    std::int64_t part_size() const { return products_size() + (n_x + n_y) * n_rows * width; }

    // Of a part: products of the transforms of its tiles with those of group v, [alpha][beta][lane].
    double* products(double* part, std::int64_t i, std::int64_t j, std::int64_t v) const {
        return part + ((i * n_y + j) * (g + 1) + v) * q * q * width;
    }
    // Transformed sums of the rows of tuples, [tuple][alpha][lane], of kernel i of x; those of y follow.
    double* margins(double* part, std::int64_t i) const { return part + products_size() + i * n_rows * width; }

    void clear_margins(double* part) const { std::memset(margins(part, 0), 0, (n_x + n_y) * n_rows * width * sizeof(double)); }

    // Add the margins of later parts to those of the first, in their order.
    void join(double* parts) const {
        double* total = margins(parts, 0);
        for (std::int64_t u = 1; u < n_parts(); ++u) {
            const double* own = margins(parts + u * part_size(), 0);
            for (std::int64_t i = 0; i < (n_x + n_y) * n_rows * width; ++i) total[i] += own[i];
        }
    }

    // Write the moments of kernels i and j in one lane of a block of b rows, and return its value.
    double conclude(const Tuples& tuples, double* parts, std::int64_t lane, std::int64_t i, std::int64_t j, double* moments) const {
        const double b = double(tuples.b), unit = 1.0 / (b * (b - 3.0)), scale = unit / double(q * q);
        const std::int64_t k = (q - 1) * g + 1, n_tuples = tuples.n_tuples();
        auto sums = [&](std::int64_t u, std::int64_t v) { return products(parts + u * part_size(), i, j, v) + lane; };
        const double *r = margins(parts, i) + lane, *t = margins(parts, n_x + j) + lane;
        std::memset(moments, 0, k * k * sizeof(double));
        double linear[MAX_GROUPS * MAX_TUPLE] = {};  // [group][alpha]; of alpha 0 the part that no swap changes
        double apart = 0.0;                          // of the same between groups
        for (std::int64_t u = 0; u < g; ++u) {
            double* own = linear + u * q;
            // Products of Walsh functions of one group are Walsh functions: of alpha XOR beta. Tiles stand for their mirror
            // images, too.
            const double *within = sums(u, u), *stay = sums(u, g);
            for (int alpha = 0; alpha < q; ++alpha)
                for (int beta = 0; beta < q; ++beta) {
                    own[alpha ^ beta] += 2.0 * scale * within[(alpha * q + beta) * width];
                    own[alpha] += 2.0 * scale * stay[(alpha * q + beta) * width];
                }
            for (std::int64_t tuple = u; tuple < n_tuples; tuple += g)
                for (int alpha = 0; alpha < q; ++alpha) {
                    const std::int64_t at = (tuple * q + alpha) * width;
                    own[alpha] -= 2.0 * unit / ((b - 2.0) * q) * r[at] * t[at];
                }
        }
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + 1; v < g; ++v) {
                const double* between = sums(u, v);
                for (int alpha = 0; alpha < q; ++alpha)
                    for (int beta = 0; beta < q; ++beta) {
                        const double product = scale * between[(alpha * q + beta) * width];
                        const std::int64_t row = 1 + u * (q - 1) + alpha - 1, column = 1 + v * (q - 1) + beta - 1;
                        if (alpha && beta) moments[row * k + column] = moments[column * k + row] = product;
                        else if (alpha) linear[u * q + alpha] += 2.0 * product;
                        else if (beta) linear[v * q + beta] += 2.0 * product;
                        else apart += 2.0 * product;
                    }
            }
        double value = apart;
        for (std::int64_t u = 0; u < g; ++u) {
            value += linear[u * q];
            for (int alpha = 1; alpha < q; ++alpha) {
                const std::int64_t at = 1 + u * (q - 1) + alpha - 1;
                moments[at] = moments[at * k] = linear[u * q + alpha] / 2.0;
            }
        }
        for (std::int64_t row = 0; row < k; ++row) {
            double sum = 0.0;
            for (std::int64_t column = 0; column < k; ++column) sum += moments[row * k + column];
            value += sum;
        }
        return value + constant(tuples, sums(g, g), r, t) * unit;
    }

private:
    // The terms of rows that stay, and of the sums of all entries, which no swap changes.
    double constant(const Tuples& tuples, const double* rest, const double* r, const double* t) const {
        const double b = double(tuples.b);
        const std::int64_t n_tuples = tuples.n_tuples();
        double products = 0.0, margins = 0.0, all_x = 0.0, all_y = 0.0;
        for (int i = 0; i < q * q; ++i) products += rest[i * width];
        for (int alpha = 0; alpha < q; ++alpha) {
            const std::int64_t at = (n_tuples * q + alpha) * width;
            margins += r[at] * t[at];
        }
        for (std::int64_t tuple = 0; tuple <= n_tuples; ++tuple) all_x += r[tuple * q * width], all_y += t[tuple * q * width];
        return 2.0 * products / (q * q) - 2.0 / ((b - 2.0) * q) * margins + all_x * all_y / ((b - 1.0) * (b - 2.0));
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
