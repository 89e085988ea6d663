// Many bandwidths of one kernel from one distance, and where they double from one exponential. What is carried along is
// u = k - 1, not k: the square of k is u (u + 2), which keeps all digits of u where the kernel is wide and k is all but
// 1. Taking k to the fourth power again and again would lose two bits each time.
#pragma once
#include "shapes.hpp"

namespace btests {
namespace BTESTS_ISA {

// 2^-q - 1 for q >= 0, to the relative accuracy of a double however small q is; -1 where 2^-q would vanish.
inline Doubles exp2_minus_one(Doubles q) {
    const Halves h = exp2_halves(q);
    const Doubles power = (Doubles)((Ints<double>)spread(1.0) + ((Ints<double>)h.shifted << 52));
    const Doubles u = h.slope * h.f * power + (power - 1.0);
    return q < 1021.0 ? u : spread(-1.0);
}

// The members of a family, widest first.
struct Levels {
    const Task& t;

    // Hand u of n vectors of distances to use(level, u), level by level, until all kernel values to come are 0. It returns
    // the sum of u over the vectors.
    template <int n, class Use> void each(const Doubles* q, Use use) const {
        Doubles u[n];
        fresh<n>(u, q, t.ratios[0]);
        use(0, u);
        for (std::int64_t level = 1; level < t.n_kernels; ++level) {
            const std::int32_t times = t.squarings[level];
            if (times == 2) {
                for (int i = 0; i < n; ++i) u[i] = squared(squared(u[i]));
            } else if (times > 0) {
                for (std::int32_t s = 0; s < times; ++s)
                    for (int i = 0; i < n; ++i) u[i] = squared(u[i]);
            } else fresh<n>(u, q, t.ratios[level]);
            const Doubles sum = use(level, u);
            if (level + 1 == t.n_kernels) return;
            // A sum of -n: all are -1, or so near that their squares are. A new exponential needs all to be -1. Either
            // way the sums to come are the same to the last bit whether or not we leave here.
            const bool squares = t.squarings[level + 1] > 0;
            if (!(squares ? any_above(sum, spread(-double(n))) : any_above(largest<n>(u), spread(-1.0)))) return;
        }
    }

    template <int n> static void fresh(Doubles* u, const Doubles* q, double ratio) {
        for (int i = 0; i < n; ++i) u[i] = exp2_minus_one(q[i] * ratio);
    }

    // u of the square of k. Not u (u + 2), whose sum is rounded: that would never come down to -1.
    static Doubles squared(Doubles u) { return u * u + (u + u); }

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
