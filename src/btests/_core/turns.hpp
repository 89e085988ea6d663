// Cosines and sines of angles in quarters of a turn, in float64 or float32.
#pragma once
#include <limits>
#include <type_traits>

#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

// Coefficients of twice the sine and twice the cosine of x quarters of a turn, |x| <= 1/2, highest power of x^2 first: Chebyshev
// interpolation, errors 2e-16 and 3e-18 in float64, 2e-9 and 2e-10 in float32. The cosine of 0 is exactly 1.
template <class T> struct QuarterTurn;
template <> struct QuarterTurn<double> {
    static constexpr double whole = 6755399441055744.0;  // 1.5 2^52
    static constexpr double largest = 2251799813685248.0;  // 2^51: beyond it the fraction says nothing
    static constexpr int terms = 7, sine_terms = 7;
    static constexpr double sine[sine_terms] = {3.7808689593022957 / 33554432, -15.093804209987114 / 2097152, 42.058685020160894 / 131072,
                                           -76.70585970427454 / 8192, 81.60524927594804 / 512, -41.341702240399634 / 32, 6.283185307179586 / 2};
    static constexpr double cosine[terms] = {7.823560405842185 / 8388608, -26.424853147906646 / 524288, 60.244630008143865 / 32768,
                                             -85.45681716509442 / 2048, 64.93939402261259 / 128, -19.739208802178705 / 8, 2.0};
};
template <> struct QuarterTurn<float> {
    static constexpr float whole = 12582912.0f;  // 1.5 2^23
    static constexpr float largest = 4194304.0f;  // 2^22
    static constexpr int terms = 5, sine_terms = 4;
    static constexpr float sine[sine_terms] = {-0.009204298425172867f, 0.15936043529532365f, -1.2919269553296022f, 3.1415926439064727f};
    static constexpr float cosine[terms] = {0.0018134797912686175f, -0.04172305668179386f, 0.5073388207138521f, -2.4674010987484243f, 2.0f};
};

// Twice the cosines and twice the sines of N vectors of angles. A quarter of a turn is taken off as often as it fits, by adding a
// number whose last bit is worth 1; the rest goes into polynomials. Steps of all vectors are in turns, held in that order: compilers
// otherwise finish one polynomial after the other, and wait for each product. If not `bounded`, an angle beyond `largest`, or one
// that is not finite, counts as 0.
template <class T, int N, bool bounded> BTESTS_INLINE inline void turns(const Vec<T>* angles, Vec<T>* cosines, Vec<T>* sines) {
    using Of = QuarterTurn<T>;
    constexpr int sign = 8 * sizeof(T) - 1, fewer = Of::terms - Of::sine_terms;
    const Ints<T> lowest = Ints<T>{} + std::numeric_limits<std::decay_t<decltype(Ints<T>{}[0])>>::min();
    Vec<T> r[N], z[N], p[N], q[N], shifted[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
        Vec<T> u = angles[j];
        if constexpr (!bounded) u = (Vec<T>)((Ints<T>)u & (Ints<T>)(magnitude<T>(u) < Of::largest));
        shifted[j] = u + Of::whole;
        r[j] = u - (shifted[j] - Of::whole);
        z[j] = r[j] * r[j];
        p[j] = broadcast(Of::sine[0]);
        q[j] = broadcast(Of::cosine[0]);
    }
#pragma GCC unroll 8
    for (int i = 1; i < Of::terms; ++i) {
        Vec<T> next = broadcast(Of::cosine[i]);
        materialize(next);
#pragma GCC unroll 8
        for (int j = 0; j < N; ++j) { q[j] = q[j] * z[j] + next; materialize(q[j]); }
        if (i <= fewer) continue;
        next = broadcast(Of::sine[i - fewer]);
        materialize(next);
#pragma GCC unroll 8
        for (int j = 0; j < N; ++j) { p[j] = p[j] * z[j] + next; materialize(p[j]); }
    }
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
        p[j] *= r[j];
        // After an odd number of quarters cosine and sine change places; signs are bits of that number as well.
        const Ints<T> quarters = (Ints<T>)shifted[j], odd = quarters << sign, minus = (quarters << (sign - 1)) & lowest;
        const Vec<T> c = odd < 0 ? p[j] : q[j], s = odd < 0 ? q[j] : p[j];
        cosines[j] = (Vec<T>)((Ints<T>)c ^ (minus ^ odd));
        sines[j] = (Vec<T>)((Ints<T>)s ^ minus);
    }
}

// cos 2a = 1 - 2 sin^2 a and sin 2a = 2 sin a cos a, of twice the cosine and twice the sine: two operations. Errors double: 2^k roundings
// after k doublings. (By cos 2a = 2 cos^2 a - 1 that of the cosine of a small angle would be 4 times that before: 4^k roundings.)
template <class T> BTESTS_INLINE inline void double_angle(Vec<T>& cosine, Vec<T>& sine) {
    const Vec<T> next = T(2) - sine * sine;
    sine = cosine * sine;
    cosine = next;
}

}  // namespace BTESTS_ISA
}  // namespace btests
