// Kernels as functions of a distance. A new radial kernel is one struct here, one case in loops.cpp and one number in
// constants.py. `far` is the distance of pairs that are not to be counted: their kernel value is exactly 0.
#pragma once
#include <type_traits>

#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

// 2^-q for q >= 0; 0 where it would leave the normal range. The integer part is rounded off by adding a number whose
// last bit is worth 1, and goes straight into the exponent field; the rest is a minimax polynomial (relative error
// 4e-16 of degree 10, 9e-8 of degree 5, constant term exactly 1 so that 2^0 is 1).
template <class T> constexpr T magic = std::is_same<T, double>::value ? T(6755399441055744.0) : T(12582912.0);  // 1.5 * 2^52, 2^23
template <class T> struct Exponent { Vec<T> shifted, f; };  // 2^-q is 2^n 2^f, n the last bits of `shifted`
template <class T> BTESTS_INLINE inline Exponent<T> exponent(Vec<T> q) {
    const Vec<T> shifted = magic<T> - q;
    return {shifted, (magic<T> - shifted) - q};
}
// The same from -q: sums alone.
template <class T> BTESTS_INLINE inline Exponent<T> exponent_of_minus(Vec<T> minus) {
    const Vec<T> shifted = minus + magic<T>;
    return {shifted, minus + (magic<T> - shifted)};
}

BTESTS_INLINE inline Vec<double> slope(Vec<double> f) {  // 2^f is 1 + slope f
    Vec<double> p = broadcast(7.0727162910532618986e-9);
    p = p * f + 1.0208916045151506559e-7;
    p = p * f + 1.3215442011076686879e-6;
    p = p * f + 1.5252656261135283689e-5;
    p = p * f + 1.5403530442563394906e-4;
    p = p * f + 1.3333558231597891992e-3;
    p = p * f + 9.6181291076064647248e-3;
    p = p * f + 5.5504108664440379127e-2;
    p = p * f + 2.4022650695910098778e-1;
    return p * f + 6.9314718055995007954e-1;
}
BTESTS_INLINE inline Vec<float> slope(Vec<float> f) {
    Vec<float> p = broadcast(1.3264727140072e-3f);
    p = p * f + 9.67151263995645e-3f;
    p = p * f + 5.55073374347008e-2f;
    p = p * f + 2.40222420853767e-1f;
    return p * f + 6.93146977598992e-1f;
}
// `may_vanish` is false where q is nowhere so large that 2^-q would underflow.
template <class T, bool may_vanish = true> BTESTS_INLINE inline Vec<T> exp2_of(Exponent<T> e) {
    constexpr int mantissa = sizeof(T) == 8 ? 52 : 23;
    constexpr T lowest = magic<T> - (sizeof(T) == 8 ? T(1021) : T(125));
    const Vec<T> p = slope(e.f) * e.f + T(1);
    const Ints<T> power = (Ints<T>)p + ((Ints<T>)e.shifted << mantissa);
    return (Vec<T>)(may_vanish ? power & (Ints<T>)(e.shifted > lowest) : power);
}
struct Euclidean { template <class T> static Vec<T> term(Vec<T> sum, Vec<T> difference) { return sum + difference * difference; } };
struct CityBlock { template <class T> static Vec<T> term(Vec<T> sum, Vec<T> difference) { return sum + magnitude<T>(difference); } };

template <class T> constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T> constexpr T log_2 = T(0.69314718055994530942);

struct GaussianShape {
    using Metric = Euclidean;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> BTESTS_INLINE static Vec<T> value(Vec<T> q) { return exp2_of(exponent<T>(q)); }
    template <class T, bool may_vanish> BTESTS_INLINE static Vec<T> value_of_minus(Vec<T> minus) {
        return exp2_of<T, may_vanish>(exponent_of_minus<T>(minus));
    }
};
struct LaplacianShape {
    using Metric = CityBlock;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> BTESTS_INLINE static Vec<T> value(Vec<T> q) { return exp2_of(exponent<T>(q)); }
};
template <int power> struct MaternShape {
    using Metric = Euclidean;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> BTESTS_INLINE static Vec<T> value(Vec<T> q) {
        const Vec<T> r = root<T>(q);
        const Vec<T> e = exp2_of(exponent<T>(r));
        if (power == 0) return e;
        const Vec<T> s = r * log_2<T>;
        const Vec<T> polynomial = power == 1 ? T(1) + s : T(1) + s + s * s * T(1.0 / 3.0);
        // The polynomial of a far pair is infinite: mask the product.
        return (Vec<T>)((Ints<T>)(polynomial * e) & (Ints<T>)(r < T(1000)));
    }
};
template <int power> struct RationalShape {  // (1 + q)^(-power / 2)
    using Metric = Euclidean;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> BTESTS_INLINE static Vec<T> value(Vec<T> q) {
        const Vec<T> inverse = T(1) / (T(1) + q);
        Vec<T> v = power % 2 ? root<T>(inverse) : broadcast(T(1));
        for (int i = 0; i < power / 2; ++i) v *= inverse;
        return v;
    }
};
struct DistanceShape {
    using Metric = Euclidean;
    template <class T> static constexpr T far = T(0);
    template <class T> BTESTS_INLINE static Vec<T> value(Vec<T> q) { return -root<T>(q); }
};

// Kernels that may have their distance from products of rows: a small error of it is a small error of the kernel, which
// a root would enlarge without bounds where rows are close.
template <class Shape> constexpr bool is_smooth = std::is_same<Shape, GaussianShape>::value;

}  // namespace BTESTS_ISA
}  // namespace btests
