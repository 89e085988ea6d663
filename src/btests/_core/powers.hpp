// The widest kernels of a family whose bandwidths halve. Where 2^-q is all but 1 a few powers of q determine it, and sums
// of powers over pairs serve every kernel that is wide enough: q grows by a factor of 4 from one to the next.
#pragma once
#include "families.hpp"

namespace btests {
namespace BTESTS_ISA {

struct Powers {
    static constexpr int n_powers = 7;
    // Up to a distance of `reach`, in units of the narrowest kernel that is wide, 2^-q - 1 is this polynomial without a
    // constant term, to 2e-15 of itself.
    static constexpr double reach = WIDE_REACH;
    static constexpr double coefficients[n_powers] = {
        -0.69314718055994405972,   0.24022650695844744252,    -0.055504108609033578116,  0.0096181273197126162485,
        -0.0013333284976462851606, 0.00015382059319809033488, -0.000014411510589253018381};

    const std::int64_t n_kernels, n_wide;

    explicit Powers(const Task& task) : n_kernels(task.n_kernels), n_wide(task.n_wide) {}

    // Numbers that a cell needs beside those of its kernels.
    std::int64_t n_more() const { return n_wide ? n_powers : 0; }

    // Add the wide kernels of distances [pair][xx, yy, xy, yx][lane] of n pairs of rows to cells [kernel, power][lane]. All
    // distances are within reach.
    void add(const double* q, int n, double* cells) const { add_powers(q, n, cells, [](Doubles q) BTESTS_INLINE { return q; }); }
    // The same where some are not: they have an exponential for each kernel. By each distance alone: neighbours must not
    // change a bit.
    __attribute__((noinline)) void add_far(const double* q, int n, double* cells) const {
        add_powers(q, n, cells, [](Doubles q) BTESTS_INLINE { return q <= reach ? q : Doubles{}; });
        double ratio = 1.0;
        for (std::int64_t level = n_wide - 1; level >= 0; --level, ratio *= 0.25) {
            Doubles sum = {};
            for (int i = 0; i < n; ++i) {
                Doubles u[4];
                for (int of = 0; of < 4; ++of) {
                    const Doubles one = load(q + (i * 4 + of) * double_lanes);
                    u[of] = exp2_minus_one(one <= reach ? Doubles{} : one * ratio);
                }
                sum += (u[0] + u[1]) - (u[2] + u[3]);
            }
            double* at = cells + level * double_lanes;
            store(at, load(at) + sum);
        }
    }

    // From distances u of the first kernel that is not wide, of four vectors that are within reach or, far, perhaps not.
    struct Next {
        BTESTS_INLINE void operator()(Doubles* q) const {
            for (int i = 0; i < 4; ++i) q[i] = Levels::squared(Levels::squared(polynomial(q[i])));
        }
    };
    struct NextFar {
        BTESTS_INLINE void operator()(Doubles* q) const {
            for (int i = 0; i < 4; ++i)
                q[i] = Levels::squared(Levels::squared(q[i] <= reach ? polynomial(q[i]) : exp2_minus_one(q[i])));
        }
    };

    // Turn the sums of powers of a cell into sums of its wide kernels.
    void conclude(double* cells) const {
        Doubles terms[n_powers];
        for (int j = 0; j < n_powers; ++j) terms[j] = load(cells + (n_kernels + j) * double_lanes) * coefficients[j];
        double ratio = 1.0;
        for (std::int64_t level = n_wide - 1; level >= 0; --level) {
            Doubles sum = terms[n_powers - 1];
            for (int j = n_powers - 2; j >= 0; --j) sum = sum * ratio + terms[j];
            double* at = cells + level * double_lanes;
            store(at, load(at) + sum * ratio);
            ratio *= 0.25;
        }
    }

private:
    BTESTS_INLINE static Doubles polynomial(Doubles q) {
        Doubles sum = q * coefficients[n_powers - 1] + coefficients[n_powers - 2];
#pragma GCC unroll 7
        for (int j = n_powers - 3; j >= 0; --j) sum = sum * q + coefficients[j];
        return sum * q;
    }
    template <class Within> BTESTS_INLINE void add_powers(const double* q, int n, double* cells, Within within) const {
        Doubles h[n_powers] = {};
        for (int i = 0; i < n; ++i, q += 4 * double_lanes) {
            Doubles own[4], p[4];
            for (int of = 0; of < 4; ++of) own[of] = p[of] = in_register(within(load(q + of * double_lanes)));
#pragma GCC unroll 7
            for (int j = 0; j < n_powers; ++j) {
                for (int of = 0; j && of < 4; ++of) p[of] *= own[of], materialize(p[of]);
                h[j] += (p[0] + p[1]) - (p[2] + p[3]);  // of each pair by itself: h of padding is 0
                materialize(h[j]);
            }
        }
        cells += n_kernels * double_lanes;
        for (int j = 0; j < n_powers; ++j, cells += double_lanes) store(cells, load(cells) + h[j]);
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
