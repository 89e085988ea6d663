// Sums of cosines and sines of projections of rows, by bins of rows: random Fourier features of kernels whose bandwidths
// are powers of two apart.
//
// A lane is a frequency. Sums are of whole numbers, multiples of a unit 2^-bits that every cosine and sine is rounded to,
// so that they are exact: no order of rows, chunk or thread changes a bit.
#pragma once
#include <algorithm>
#include <cmath>

#include "fourier_task.hpp"
#include "sample.hpp"
#include "turns.hpp"

namespace btests {
namespace BTESTS_ISA {

// Rows of type Row in memory, arithmetic in T. A tile of rows and V vectors of frequencies go through three loops, each in registers:
// projections, cosines and sines, levels. What is between them stays in first-level cache.
template <class T, class Row> class FourierSums {
public:
    explicit FourierSums(const FourierTask& task)
        : t(task), n_steps((task.n_frequencies + step - 1) / step), rows(static_cast<std::size_t>(tile * task.d)),
          frequencies(static_cast<std::size_t>(n_steps * step * task.d)),
          sums(static_cast<std::size_t>(n_steps * step * task.n_levels * 2)),
          // Twice a cosine is rounded to twice the unit, by adding a number whose last bit that is.
          magic(static_cast<T>(3.0 * std::ldexp(1.0, mantissa - static_cast<int>(task.bits)))) {
        double total = 0;  // of the largest frequencies of all coordinates
        for (std::int64_t k = 0; k < t.d; ++k) {
            double most = 0;
            for (std::int64_t f = 0; f < t.n_frequencies; ++f) {
                const double turns = t.frequencies[f * t.d + k];
                frequencies[(f / step * t.d + k) * step + f % step] = static_cast<T>(4.0 * turns);
                most = std::max(most, std::fabs(turns));
            }
            total += most;
        }
        // Half, for roundings of products and sums.
        bound = static_cast<T>(std::min(0.5 * QuarterTurn<T>::largest / (4.0 * total), 0.5 * static_cast<double>(std::numeric_limits<T>::max())));
    }

    void run() {
        for (std::int64_t bin = t.first_bin; bin < t.last_bin; ++bin) {
            for (std::int64_t i = t.edges[bin]; i < t.edges[bin + 1]; i += tile) {
                if (pending + tile > most_rows) flush(bin);
                add(i, static_cast<int>(std::min<std::int64_t>(tile, t.edges[bin + 1] - i)));
            }
            flush(bin);
        }
    }

private:
    using Int = std::decay_t<decltype(Ints<T>{}[0])>;
    static constexpr int lanes = Types<T>::lanes, mantissa = std::numeric_limits<T>::digits - 1;
    static constexpr int tile = 32, R = 4, V = 2, step = V * lanes;
    // Sums of 32 bits hold 1024 numbers of up to 2^20 units, and more.
    static constexpr std::int64_t most_rows = sizeof(T) == 8 ? std::numeric_limits<std::int64_t>::max() / 2 : 1024;
    static_assert(tile % R == 0);

    const FourierTask& t;
    std::int64_t n_steps, pending = 0, padding = 0;  // rows in `sums`, and how many of them are none
    Scratch<T> rows;         // [row][coordinate], centred
    Scratch<T> frequencies;  // [step][coordinate][frequency], in quarters of a turn
    Scratch<Int> sums;       // [vector of frequencies][level][cosine, sine][lane]
    T magic, bound;
    Vec<T> cosines[V * tile], sines[V * tile];  // [vector][row]; angles are where cosines will be

    void add(std::int64_t first, int n) {
        const int n_rows = (n + R - 1) / R * R;
        centre(first, n);
        // A row at the origin has cosines 1 and sines 0 at all levels, exactly, and is taken off again.
        std::fill(rows.get() + n * t.d, rows.get() + n_rows * t.d, T(0));
        pending += n_rows;
        padding += n_rows - n;
        const bool bounded = are_bounded(n_rows * t.d);
        for (std::int64_t i = 0; i < n_steps; ++i) {
            for (int r = 0; r < n_rows; r += R) project(i, r);
            if (bounded) turn<true>(n_rows);
            else turn<false>(n_rows);
            for (int v = 0; v < V; ++v)
                for (int r = 0; r < n_rows; r += R) add_levels(sums.get() + (i * V + v) * lanes * t.n_levels * 2, v * tile + r);
        }
    }

    void centre(std::int64_t first, int n) const {
        const Row* from = static_cast<const Row*>(t.rows);
        const std::int64_t d = t.d, *order = t.order + first;
        const double* __restrict origin = t.origin;
        T* __restrict to = rows.get();
        for (int r = 0; r < n; ++r, to += d) {
            const Row* __restrict row = from + order[r] * d;
            for (std::int64_t k = 0; k < d; ++k) to[k] = static_cast<T>(static_cast<double>(row[k]) - origin[k]);
        }
    }

    // Whether no angle can be beyond what `turns` takes. Compares bits, where what is no number is more than any number.
    bool are_bounded(std::int64_t n) const {
        Int limit, most = 0;
        std::memcpy(&limit, &bound, sizeof limit);
        const T* at = rows.get();
        std::int64_t i = 0;
        Ints<T> largest = {};
        for (; i + lanes <= n; i += lanes) {
            const Ints<T> bits = (Ints<T>)magnitude<T>(load(at + i));
            largest = bits > largest ? bits : largest;
        }
        for (int lane = 0; lane < lanes; ++lane) most = std::max<Int>(most, largest[lane]);
        for (; i < n; ++i) {
            Int bits;
            const T size = std::fabs(at[i]);
            std::memcpy(&bits, &size, sizeof bits);
            most = std::max(most, bits);
        }
        return most < limit;
    }

    __attribute__((noinline)) void project(std::int64_t i, int first) {
        const std::int64_t d = t.d;
        const T *x = rows.get() + first * d, *w = frequencies.get() + i * step * d;
        Vec<T> u[V][R];
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) {
            const Vec<T> at = in_register(load(w + v * lanes));
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) u[v][r] = at * x[r * d];
        }
        for (std::int64_t k = 1; k < d; ++k) {
            w += step;
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) {
                const Vec<T> at = in_register(load(w + v * lanes));
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) u[v][r] += at * x[r * d + k];
            }
        }
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v)
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) cosines[v * tile + first + r] = u[v][r];
    }

    template <bool bounded> __attribute__((noinline)) void turn(int n_rows) {
        for (int v = 0; v < V; ++v)
            for (int i = v * tile; i < v * tile + n_rows; i += R) turns<T, R, bounded>(cosines + i, cosines + i, sines + i);
    }

    // R rows and one vector of frequencies, all levels.
    __attribute__((noinline)) void add_levels(Int* to, int first) const {
        Vec<T> c[R], s[R];
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            c[r] = in_register(cosines[first + r]);
            s[r] = in_register(sines[first + r]);
        }
        const Vec<T> unit = broadcast(magic);
        const std::int32_t *doublings = t.doublings, *end = doublings + t.n_levels;
        for (;; to += 2 * lanes) {
            Ints<T> of_cosines, of_sines;
            std::memcpy(&of_cosines, to, sizeof of_cosines);
            std::memcpy(&of_sines, to + lanes, sizeof of_sines);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                of_cosines += (Ints<T>)(c[r] + unit);
                of_sines += (Ints<T>)(s[r] + unit);
            }
            std::memcpy(to, &of_cosines, sizeof of_cosines);
            std::memcpy(to + lanes, &of_sines, sizeof of_sines);
            if (++doublings == end) return;
            std::int32_t n = *doublings;
            do {
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) double_angle<T>(c[r], s[r]);
            } while (--n);
        }
    }

    // Add what is in `sums` to those of the bin. Every row has added the bits of `magic` once; whole numbers wrap around, and are right
    // in the end.
    void flush(std::int64_t bin) {
        using Unsigned = std::make_unsigned_t<Int>;
        Unsigned bits;
        std::memcpy(&bits, &magic, sizeof bits);
        const std::int64_t n_parts = 2 * t.n_levels, ones = padding << t.bits;
        std::int64_t* to = t.sums + bin * n_parts * t.n_frequencies;
        for (std::int64_t part = 0; part < n_parts; ++part, to += t.n_frequencies)
            for (std::int64_t f = 0; f < t.n_frequencies; ++f) {
                const auto sum = static_cast<Unsigned>(sums[(f / lanes * n_parts + part) * lanes + f % lanes]);
                to[f] += static_cast<Int>(sum - static_cast<Unsigned>(pending) * bits) - (part % 2 == 0 ? ones : 0);
            }
        std::fill(sums.get(), sums.get() + n_steps * step * n_parts, Int(0));
        pending = padding = 0;
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
