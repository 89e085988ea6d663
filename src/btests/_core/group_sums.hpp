// What a block leaves behind in layout two: sums of kernel values by groups, and the value and core made of them by the
// formulas of statistics/gram.py.
#pragma once
#include <cmath>
#include <vector>

#include "deal.hpp"
#include "node_sums.hpp"

namespace btests {
namespace BTESTS_ISA {

template <int width> struct GroupSums {
    const Task& t;
    const std::int64_t g, n_kernels;
    Scratch<double> xx, yy, xy, xr, yr, rr;  // [group][kernel][width]: sums between x, y and the rest of the longer

    explicit GroupSums(const Task& task)
        : t(task), g(task.n_groups), n_kernels(task.n_kernels), xx(size()), yy(size()), xy(size()), xr(size_of_rest()),
          yr(size_of_rest()), rr(size_of_rest()) {}

    std::int64_t size() const { return g * n_kernels * width; }
    std::int64_t size_of_rest() const { return t.paired ? 0 : size(); }  // where samples are paired there is none

    void clear() { for (Scratch<double>* sums : all()) std::memset(sums->get(), 0, size() * sizeof(double)); }

    // Those that hold anything, one after another.
    std::vector<Scratch<double>*> all() {
        if (t.paired) return {&xx, &yy, &xy};
        return {&xx, &yy, &xy, &xr, &yr, &rr};
    }

    // Write the sums to memory that the caller adds up over parts, or read them from there.
    void exchange(double* at) {
        for (Scratch<double>* sums : all()) {
            for (std::int64_t i = 0; i < size(); ++i) (t.step == SUMS ? at[i] : (*sums)[i]) = t.step == SUMS ? (*sums)[i] : at[i];
            at += 32 * 32 * n_kernels;
        }
    }

    // Take the sums of a part as the first, or add them to those of the parts before it.
    void collect(GroupSums& total, bool is_first) {
        const auto from = all(), to = total.all();
        for (std::size_t k = 0; k < from.size(); ++k)
            for (std::int64_t i = 0; i < size(); ++i) (*to[k])[i] = is_first ? (*from[k])[i] : (*to[k])[i] + (*from[k])[i];
    }

    // Give the cores of the block to its node, and write its values, one after another for each kernel.
    void conclude(std::int64_t b, std::int64_t c, NodeSums& nodes, std::int64_t node, std::int64_t block, double* values) {
        const std::int64_t k = g + !t.paired;
        for (kernel = 0; kernel < n_kernels; ++kernel) {
            double* core = nodes.fresh(kernel);
            std::memset(core, 0, k * k * sizeof(double));
            values[kernel * t.values_step] = t.paired ? conclude_paired(b, core) : conclude_unpaired(b, c, core);
            nodes.add(kernel, node, block, 0);
        }
    }

private:
    std::int64_t kernel = 0;  // the one that is being concluded
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

    double conclude_paired(std::int64_t b, double* core) const {
        const double pairs = double(b) * double(b - 1), within = total(xx) + total(yy), across = total(xy);
        if (within == 0.0 && across == 0.0) return 0.0;  // all values have one sign: a kernel so narrow that it sees nothing
        for (std::int64_t u = 0; u < g; ++u)
            for (std::int64_t v = u + 1; v < g; ++v)
                core[u * g + v] = core[v * g + u] = difference(both(xx, u, v) + both(yy, u, v), both(xy, u, v)) / pairs;
        return 2.0 * difference(within, across) / pairs;
    }

    double conclude_unpaired(std::int64_t b, std::int64_t c, double* core) const {
        const double alpha = 1.0 / (double(b) * double(b - 1)), beta = 1.0 / (double(c) * double(c - 1));
        const double gamma = 1.0 / (double(b) * double(c)), quadratic = (alpha + beta + 2.0 * gamma) / 4.0;
        const double pull = b > c ? alpha + gamma : -(beta + gamma);
        const std::int64_t k = g + 1;
        for (std::int64_t u = 0; u < g; ++u) {
            double for_x = 0, for_y = 0;
            for (std::int64_t v = 0; v < g; ++v) {
                const double x_x = both(xx, u, v), y_y = both(yy, u, v);
                for_x += x_x + cell(xy, u, v);
                for_y += y_y + cell(xy, v, u);
                if (u != v) core[u * k + v] += quadratic * difference(x_x + y_y, both(xy, u, v));
            }
            const double linear = (alpha - beta) / 2.0 * difference(for_x, for_y) +
                                  pull * difference(row_total(xr, u), row_total(yr, u));
            core[u * k + g] += linear / 2.0;
            core[g * k + u] += linear / 2.0;
        }
        const double rest_x = b > c ? total(xr) + total(rr) : 0.0, rest_y = b > c ? 0.0 : total(yr) + total(rr);
        const double within = alpha * (total(xx) + rest_x) + beta * (total(yy) + rest_y);
        return 2.0 * difference(within, gamma * (total(xy) + total(b > c ? yr : xr)));
    }

    // a - b, and 0 where that is no more than the rounding of both: equal samples must not seem to differ.
    static double difference(double a, double b) {
        constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
        return std::abs(a - b) <= rounding * (std::abs(a) + std::abs(b)) ? 0.0 : a - b;
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
