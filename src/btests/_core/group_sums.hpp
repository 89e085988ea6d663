// Sums of LargeBlocks: kernel values summed by pairs of groups, and the value and moments that they become by the
// formulas of statistics/numpy_backend.py.
#pragma once
#include <cmath>
#include <vector>

#include "sample.hpp"
#include "node_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

template <int width> struct GroupSums {
    const Task& t;
    const std::int64_t g, n_kernels;
    Scratch<double> xx, yy, xy, xr, yr, rr;  // [group][kernel][width]: sums between x, y and the unpaired rows of the longer sample

    explicit GroupSums(const Task& task)
        : t(task), g(task.n_groups), n_kernels(task.n_kernels), xx(size()), yy(size()), xy(size()), xr(size_of_rest()),
          yr(size_of_rest()), rr(size_of_rest()) {}

    std::int64_t size() const { return g * n_kernels * width; }
    std::int64_t size_of_rest() const { return t.paired ? 0 : size(); }  // paired samples have none

    void clear() { for (Scratch<double>* sums : all()) std::memset(sums->get(), 0, size() * sizeof(double)); }

    // The sums in use, in their order in memory.
    std::vector<Scratch<double>*> all() {
        if (t.paired) return {&xx, &yy, &xy};
        return {&xx, &yy, &xy, &xr, &yr, &rr};
    }

    // Write the sums to memory that the caller adds up over parts, or read them from there.
    void exchange(double* at) {
        for (Scratch<double>* sums : all()) {
            for (std::int64_t i = 0; i < size(); ++i) (t.step == SUM_STEP ? at[i] : (*sums)[i]) = t.step == SUM_STEP ? (*sums)[i] : at[i];
            at += MAX_GROUPS * MAX_GROUPS * n_kernels;
        }
    }

    // Take the sums of a part as the first, or add them to those of the parts before it.
    void collect(GroupSums& total, bool is_first) {
        const auto from = all(), to = total.all();
        for (std::size_t k = 0; k < from.size(); ++k)
            for (std::int64_t i = 0; i < size(); ++i) (*to[k])[i] = is_first ? (*from[k])[i] : (*to[k])[i] + (*from[k])[i];
    }

    // Add the moments of a block to its node, and write its values, kernel by kernel.
    void conclude(std::int64_t b, std::int64_t c, NodeSums& nodes, std::int64_t node, std::int64_t block, double* values) {
        const std::int64_t k = g + !t.paired;
        for (kernel = 0; kernel < n_kernels; ++kernel) {
            double* moments = nodes.fresh(kernel);
            std::memset(moments, 0, k * k * sizeof(double));
            values[kernel * t.values_step] = t.paired ? conclude_paired(b, moments) : conclude_unpaired(b, c, moments);
            nodes.add(kernel, node, block, 0);
        }
    }

private:
    std::int64_t kernel = 0;  // the current one
    double cell(const Scratch<double>& sums, std::int64_t u, std::int64_t v) const {
        return sums[(u * n_kernels + kernel) * width + v];
    }
    double total(const Scratch<double>& sums) const {
        double sum = 0;
        for (std::int64_t u = 0; u < g; ++u) sum += row_total(sums, u);
        return sum;
    }
    double row_total(const Scratch<double>& sums, std::int64_t u) const {
        double sum = 0;
        for (std::int64_t v = 0; v < g; ++v) sum += cell(sums, u, v);
        return sum;
    }
    // Of a sum over pairs a < b: both orders of groups u and v.
    double both(const Scratch<double>& sums, std::int64_t u, std::int64_t v) const {
        return cell(sums, u, v) + cell(sums, v, u);
    }

    double conclude_paired(std::int64_t b, double* moments) const {
        const double pairs = double(b) * double(b - 1), within = total(xx) + total(yy), across = total(xy);
        if (within == 0.0 && across == 0.0) return 0.0;  // all values have one sign: a kernel so narrow that all of them are 0
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + 1; v < g; ++v)
                moments[u * g + v] = moments[v * g + u] = difference(both(xx, u, v) + both(yy, u, v), both(xy, u, v)) / pairs;
        return 2.0 * difference(within, across) / pairs;
    }

    double conclude_unpaired(std::int64_t b, std::int64_t c, double* moments) const {
        const double alpha = 1.0 / (double(b) * double(b - 1)), beta = 1.0 / (double(c) * double(c - 1));
        const double gamma = 1.0 / (double(b) * double(c)), quadratic = (alpha + beta + 2.0 * gamma) / 4.0;
        const double rest_weight = b > c ? alpha + gamma : -(beta + gamma);
        const std::int64_t k = g + 1;
        for (std::int64_t u = 0; u < g; ++u) {
            double for_x = 0, for_y = 0;
            for (std::int64_t v = 0; v < g; ++v) {
                const double x_x = both(xx, u, v), y_y = both(yy, u, v);
                for_x += x_x + cell(xy, u, v);
                for_y += y_y + cell(xy, v, u);
                if (u != v) moments[u * k + v] += quadratic * difference(x_x + y_y, both(xy, u, v));
            }
            const double linear = (alpha - beta) / 2.0 * difference(for_x, for_y) +
                                  rest_weight * difference(row_total(xr, u), row_total(yr, u));
            moments[u * k + g] += linear / 2.0;
            moments[g * k + u] += linear / 2.0;
        }
        const double rest_x = b > c ? total(xr) + total(rr) : 0.0, rest_y = b > c ? 0.0 : total(yr) + total(rr);
        const double within = alpha * (total(xx) + rest_x) + beta * (total(yy) + rest_y);
        return 2.0 * difference(within, gamma * (total(xy) + total(b > c ? yr : xr)));
    }

    // a - b, and 0 where that is no more than the rounding of both: the MMD of equal samples is 0.
    static double difference(double a, double b) {
        constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
        return std::abs(a - b) <= rounding * (std::abs(a) + std::abs(b)) ? 0.0 : a - b;
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
