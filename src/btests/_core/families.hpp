// Many bandwidths of one kernel from one distance, and where they double from one exponential. The values are stored as
// u = k - 1, not k: the square of k is u (u + 2), which keeps all digits of u where the kernel is wide and k is all but
// 1. Taking k to the fourth power again and again loses two bits each time, and is done where few are left to lose: where
// the kernels of most pairs are far from 1, for some levels, before there is a new exponential.
#pragma once
#include <algorithm>
#include <cmath>

#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

// 2^-q - 1 for q >= 0, to the relative accuracy of a double however small q is; -1 where 2^-q would vanish.
BTESTS_INLINE inline Doubles exp2_minus_one(Doubles q) {
    const Exponent<double> e = exponent<double>(q < 1021.0 ? q : broadcast(1021.0));
    const Doubles power = (Doubles)((Ints<double>)broadcast(1.0) + ((Ints<double>)e.shifted << 52));
    const Doubles u = slope(e.f) * e.f * power + (power - 1.0);
    return u;  // at 1021 it is -1
}

// The members of a family, widest first.
struct Levels {
    const Task& t;
    const bool doubling;  // each bandwidth is half the one before: all kernels after the first are squared twice

    explicit Levels(const Task& task) : t(task), doubling(is_doubling(task)) {}

    static bool is_doubling(const Task& t) {
        for (std::int64_t level = 1; level < t.n_kernels; ++level) if (t.squarings[level] != 2) return false;
        return true;
    }

    // Call use(level, u) with u of n vectors of distances, level by level, until all further kernel values are 0.
    template <int n, class Use> void each(const Doubles* q, Use use) const {
        Doubles u[n];
        fresh<n>(u, q, t.ratios[0]);
        use(0, u);
        for (std::int64_t level = 1; level < t.n_kernels; ++level) {
            const std::int32_t times = t.squarings[level];
            for (std::int32_t s = 0; s < times; ++s)
                for (int i = 0; i < n; ++i) u[i] = squared(u[i]);
            if (times == 0) fresh<n>(u, q, t.ratios[level]);
            use(level, u);
            if (!any_above(largest<n>(u), broadcast(-1.0))) return;  // a new exponential of these is -1 as well
        }
    }

    // The same where all kernels double: a loop of its own, in which u never leaves its registers. `use` returns the sum of
    // u over the vectors.
    template <int n, class Use> void halve(const Doubles* q, Use use) const {
        Doubles u[n];
        fresh<n>(u, q, t.ratios[0]);
        std::int64_t level = 0;
        // A sum of -n: all are -1, or so near that their squares are. The sums to come are the same to the last bit
        // whether or not the loop ends here.
        while (any_above(use(level, u), broadcast(-double(n))) && ++level < t.n_kernels) {
#pragma GCC unroll 16
            for (int i = 0; i < n; ++i) u[i] = squared(squared(u[i]));
        }
    }

    // Of the distances of a level to those that are measured, which are those of the last wide level, or of the first.
    double ratio(std::int64_t level) const { return std::ldexp(1.0, static_cast<int>(2 * (level - std::max<std::int64_t>(t.n_wide - 1, 0)))); }
    static constexpr int n_exact = 5, n_fast = 3;  // levels of u, and pairs of levels of k, from one exponential

    template <int n> static void fresh(Doubles* u, const Doubles* q, double ratio) {
        constexpr int most = BTESTS_BYTES == 64 ? 8 : 4, together = n < most ? n : most;
        for (int i = 0; i < n; i += together)
#pragma GCC unroll 8
            for (int j = i; j < i + together; ++j) u[j] = exp2_minus_one(q[j] * ratio);
    }

    // u of the square of k. Not u (u + 2), whose sum is rounded: that would never come down to -1.
    static Doubles squared(Doubles u) { return u * u + (u + u); }

    template <int n> static Doubles total(const Doubles* u) {
        if constexpr (n == 1) return u[0];
        else return total<n / 2>(u) + total<n / 2>(u + n / 2);
    }
    template <int n> static Doubles largest(const Doubles* u) {
        if constexpr (n == 1) return u[0];
        else {
            const Doubles a = largest<n / 2>(u), b = largest<n / 2>(u + n / 2);
            return a > b ? a : b;
        }
    }
};

template <class M> struct FamilyShape {
    using Metric = M;
    template <class T> static constexpr T far = infinity<T>;
};
template <class Shape> constexpr bool is_family = false;
template <class M> constexpr bool is_family<FamilyShape<M>> = true;

}  // namespace BTESTS_ISA
}  // namespace btests
