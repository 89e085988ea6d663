// Kernel values between the members of two tuples, q x q vectors of them, for all kernels of one side of HSIC. A family of
// bandwidths has one distance; wide kernels are k - 1, which keeps their digits, and narrow ones k.
#pragma once
#include <vector>

#include "families.hpp"
#include "tuple_rows.hpp"

namespace btests {
namespace BTESTS_ISA {

class TileValues {
public:
    TileValues(const Task& task, const TupleRows& rows)
        : t(task), rows_(rows), distances_(task.tuple_size * task.tuple_size * double_lanes) {
        const bool by_blocks = t.lanes_are_blocks;
        switch (t.shape) {
            case GAUSSIAN: case GAUSSIANS: choose<Euclidean>(by_blocks), evaluate_ = &TileValues::family; break;
            case LAPLACIAN: case LAPLACIANS: choose<CityBlock>(by_blocks), evaluate_ = &TileValues::family; break;
            case DISTANCE: choose<DistanceShape>(); break;
            case MATERN:
                if (t.power == 0) choose<MaternShape<0>>();
                else if (t.power == 1) choose<MaternShape<1>>();
                else if (t.power == 2) choose<MaternShape<2>>();
                break;
            case RATIONAL:
                if (t.power == 1) choose<RationalShape<1>>();
                else if (t.power == 2) choose<RationalShape<2>>();
                break;
        }
        int squared = 0;
        for (std::int64_t level = 0; level < t.n_kernels; ++level) {
            const bool is_wide = level < t.n_wide;
            int times = level == 0 || level == t.n_wide ? 0 : t.squarings[level];
            if (!is_wide && squared + times > most_squarings) times = 0;
            squared = times ? squared + times : 0;
            steps_.push_back({is_wide, times, t.ratios[level]});
        }
    }

    bool is_known() const { return evaluate_ != nullptr; }

    // Write [kernel][a][b][lane] of the tuples of a row (a lane of a vector, or all lanes if lanes are blocks) and of a column.
    void compute(std::int64_t row, std::int64_t lane, std::int64_t column, double* out) const {
        (this->*measure_)(row, t.lanes_are_blocks ? 0 : lane, column);
        (this->*evaluate_)(out);
    }

private:
    struct Step { bool is_wide; int times; double ratio; };  // times: of squaring the kernel before, 0 for an exponential
    static constexpr int most_squarings = 4;  // each of them doubles the relative error of k

    const Task& t;
    const TupleRows& rows_;
    Scratch<double> distances_;
    std::vector<Step> steps_;
    void (TileValues::*measure_)(std::int64_t, std::int64_t, std::int64_t) const = nullptr;
    void (TileValues::*evaluate_)(double*) const = nullptr;

    template <class Metric> void choose(bool by_blocks) {
        const bool product = std::is_same<Metric, Euclidean>::value && t.d > DIRECT_COORDINATES;
        if (t.tuple_size == 2) by_blocks ? choose_rows<Metric, 2, true>(product) : choose_rows<Metric, 2, false>(product);
        else by_blocks ? choose_rows<Metric, 4, true>(product) : choose_rows<Metric, 4, false>(product);
    }
    template <class Metric, int m, bool by_blocks> void choose_rows(bool product) {
        measure_ = product ? &TileValues::measure<Metric, m, by_blocks, true> : &TileValues::measure<Metric, m, by_blocks, false>;
    }
    template <class Shape> void choose() {
        choose<typename Shape::Metric>(t.lanes_are_blocks);
        evaluate_ = &TileValues::single<Shape>;
    }

    // Distances of m rows to 2 columns at a time: differences, or |x|^2 + |y|^2 - 2 x.y, at least 0.
    template <class Metric, int m, bool by_blocks, bool product>
    void measure(std::int64_t row, std::int64_t lane, std::int64_t column) const {
        const std::int64_t q = t.tuple_size, d = t.d, step = d * double_lanes;
        auto number = [](const double* at) BTESTS_INLINE { return by_blocks ? load(at) : broadcast(*at); };
        const double *norm = rows_.norm(row) + lane, *norms = rows_.norm(column);
        for (std::int64_t a = 0; a < q; a += m)
            for (std::int64_t b = 0; b < q; b += 2) {
                const double *rows = rows_.tuple(row) + a * step + lane, *columns = rows_.tuple(column) + b * step;
                Doubles sum[m][2] = {};
                for (std::int64_t k = 0; k < step; k += double_lanes) {
                    const Doubles c0 = in_register(load(columns + k)), c1 = in_register(load(columns + step + k));
                    for (int i = 0; i < m; ++i) {
                        const Doubles r = in_register(number(rows + i * step + k));
                        if constexpr (product) sum[i][0] += r * c0, sum[i][1] += r * c1;
                        else sum[i][0] = Metric::template term<double>(sum[i][0], r - c0), sum[i][1] = Metric::template term<double>(sum[i][1], r - c1);
                    }
                }
                for (int i = 0; i < m; ++i)
                    for (int j = 0; j < 2; ++j) {
                        if constexpr (product) {
                            const Doubles s = (number(norm + (a + i) * double_lanes) + load(norms + (b + j) * double_lanes)) - 2.0 * sum[i][j];
                            sum[i][j] = s < 0.0 ? Doubles{} : s;  // infinity - infinity stays NaN
                        }
                        store(distances_.get() + ((a + i) * q + b + j) * double_lanes, sum[i][j]);
                    }
            }
    }

    template <class Shape> void single(double* out) const {
        const std::int64_t n = t.tuple_size * t.tuple_size * double_lanes;
        for (std::int64_t i = 0; i < n; i += 4 * double_lanes)
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) store(out + i + j * double_lanes, Shape::template value<double>(load(distances_.get() + i + j * double_lanes)));
    }

    void family(double* out) const {
        const std::int64_t n = t.tuple_size * t.tuple_size * double_lanes;
        constexpr int together = 4;  // vectors in flight
        for (std::int64_t i = 0; i < n; i += together * double_lanes) {
            Doubles q[together], k[together];
            for (int j = 0; j < together; ++j) k[j] = q[j] = load(distances_.get() + i + j * double_lanes);
            double* to = out + i;
            for (const Step& step : steps_) {
                if (step.is_wide && step.times == 0) {
#pragma GCC unroll 4
                    for (int j = 0; j < together; ++j) k[j] = exp2_minus_one(q[j] * step.ratio);
                } else if (step.times == 0) {
#pragma GCC unroll 4
                    for (int j = 0; j < together; ++j) k[j] = exp2_of(exponent<double>(q[j] * step.ratio));
                } else if (step.is_wide) {
                    for (int s = 0; s < step.times; ++s)
                        for (int j = 0; j < together; ++j) k[j] = Levels::squared(k[j]);
                } else {
                    for (int s = 0; s < step.times; ++s)
                        for (int j = 0; j < together; ++j) k[j] = k[j] * k[j];
                }
                for (int j = 0; j < together; ++j) store(to + j * double_lanes, k[j]);
                to += n;
            }
        }
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
