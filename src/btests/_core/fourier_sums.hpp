// Sums of cosines and sines of projections of rows, by bins of rows: random Fourier features of kernels whose bandwidths
// are powers of two apart.
//
// A lane is a frequency. Sums are of whole numbers, multiples of a unit 2^-bits that every cosine and sine is rounded to,
// so that they are exact: no order of rows, chunk or thread changes a bit.
#pragma once
#include <vector>

#include "task.hpp"
#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

struct Turn { Doubles cosine, sine; };

// Cosine and sine of 2 pi u. A quarter of a turn is taken off as often as it fits, by adding a number whose last bit is worth 1; the
// rest, an eighth of a turn at most, goes into polynomials (Chebyshev interpolation, errors 2e-16 and 3e-18). A u beyond 2^49, whose
// fraction says nothing any more, or one that is not finite, counts as 0.
BTESTS_INLINE inline Turn turn(Doubles u) {
    constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52
    u = (Doubles)((Ints<double>)u & (Ints<double>)(magnitude<double>(u) < 562949953421312.0));
    const Doubles shifted = u * 4.0 + whole;
    const Doubles r = u - (shifted - whole) * 0.25, z = r * r;
    Doubles p = broadcast(3.7808689593022957);
    p = p * z - 15.093804209987114;
    p = p * z + 42.058685020160894;
    p = p * z - 76.70585970427454;
    p = p * z + 81.60524927594804;
    p = p * z - 41.341702240399634;
    p = (p * z + 6.283185307179586) * r;
    Doubles q = broadcast(7.823560405842185);
    q = q * z - 26.424853147906646;
    q = q * z + 60.244630008143865;
    q = q * z - 85.45681716509442;
    q = q * z + 64.93939402261259;
    q = q * z - 19.739208802178705;
    q = q * z + 1.0;
    const Ints<double> quarters = (Ints<double>)shifted;
    const Ints<double> odd = -(quarters & 1);
    const Ints<double> c = ((Ints<double>)p & odd) | ((Ints<double>)q & ~odd), s = ((Ints<double>)q & odd) | ((Ints<double>)p & ~odd);
    return {(Doubles)(c ^ (((quarters + 1) & 2) << 62)), (Doubles)(s ^ ((quarters & 2) << 62))};
}

// cos 2a = 2 cos^2 a - 1 and sin 2a = 2 sin a cos a. Errors of angle and length double: 2^k roundings after k doublings.
BTESTS_INLINE inline Turn doubled(Turn a) {
    const Doubles twice = a.cosine + a.cosine;
    return {twice * a.cosine - 1.0, twice * a.sine};
}

// R rows and V vectors of frequencies at a time, in registers.
template <class T> class FourierSums {
public:
    explicit FourierSums(const FourierTask& task) : t(task), centred(static_cast<std::size_t>(most_rows * task.d)) {}

    void run() {
        for (std::int64_t bin = t.first_bin; bin < t.last_bin; ++bin) {
            std::int64_t i = t.edges[bin];
            for (; i + most_rows <= t.edges[bin + 1]; i += most_rows) add<most_rows>(bin, i);
            for (; i < t.edges[bin + 1]; ++i) add<1>(bin, i);
        }
    }

private:
    static constexpr int most_rows = 4, V = 2;
    const FourierTask& t;
    std::vector<double> centred;  // [coordinate][row]

    template <int R> void add(std::int64_t bin, std::int64_t first) {
        for (int r = 0; r < R; ++r) {
            const T* row = static_cast<const T*>(t.rows) + t.order[first + r] * t.d;
            for (std::int64_t k = 0; k < t.d; ++k) centred[k * R + r] = static_cast<double>(row[k]) - t.origin[k];
        }
        std::int64_t* sums = t.sums + bin * t.n_levels * 2 * t.n_frequencies;
        for (std::int64_t f = 0; f < t.n_frequencies; f += V * double_lanes) add_frequencies<R>(sums, f);
    }

    template <int R> void add_frequencies(std::int64_t* sums, std::int64_t f) const {
        Doubles u[V][R] = {};
        for (std::int64_t k = 0; k < t.d; ++k)
            for (int v = 0; v < V; ++v) {
                const Doubles w = in_register(load(t.frequencies + k * t.n_frequencies + f + v * double_lanes));
                for (int r = 0; r < R; ++r) u[v][r] += w * centred[k * R + r];
            }
        for (int v = 0; v < V; ++v) {
            Turn at[R];
            for (int r = 0; r < R; ++r) at[r] = turn(u[v][r]);
            std::int64_t* to = sums + f + v * double_lanes;
            for (std::int64_t level = 0; level < t.n_levels; ++level, to += 2 * t.n_frequencies) {
                for (std::int32_t i = 0; i < t.doublings[level]; ++i)
                    for (int r = 0; r < R; ++r) at[r] = doubled(at[r]);
                Ints<double> cosines = load_ints(to), sines = load_ints(to + t.n_frequencies);
                for (int r = 0; r < R; ++r) {
                    cosines += (Ints<double>)(at[r].cosine + t.magic);
                    sines += (Ints<double>)(at[r].sine + t.magic);
                }
                std::memcpy(to, &cosines, sizeof cosines);
                std::memcpy(to + t.n_frequencies, &sines, sizeof sines);
            }
        }
    }

    static Ints<double> load_ints(const std::int64_t* p) { Ints<double> v; std::memcpy(&v, p, sizeof v); return v; }
};

}  // namespace BTESTS_ISA
}  // namespace btests
