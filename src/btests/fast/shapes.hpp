// Kernels as functions of a distance. A new radial kernel is one struct here, one case in loops.hpp and one name in
// fast/__init__.py. `far` is what a pair that must not count is given for a distance: its kernel value is exactly 0.
#pragma once
#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

// 2^-q for q >= 0; 0 where it would leave the normal range. The integer part is rounded off by adding a number whose
// last bit is worth 1, and goes straight into the exponent field; the rest is a minimax polynomial (relative error
// 4e-16 of degree 10, 9e-8 of degree 5, constant term exactly 1 so that 2^0 is 1).
struct Halves { Vec<double> shifted, f, slope; };  // 2^-q is (1 + slope f) 2^n, n the last bits of `shifted`
inline Halves exp2_halves(Vec<double> q) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
    const Vec<double> shifted = magic - q;
    const Vec<double> f = (magic - shifted) - q;
    Vec<double> p = spread(7.0727162910532618986e-9);
    p = p * f + 1.0208916045151506559e-7;
    p = p * f + 1.3215442011076686879e-6;
    p = p * f + 1.5252656261135283689e-5;
    p = p * f + 1.5403530442563394906e-4;
    p = p * f + 1.3333558231597891992e-3;
    p = p * f + 9.6181291076064647248e-3;
    p = p * f + 5.5504108664440379127e-2;
    p = p * f + 2.4022650695910098778e-1;
    p = p * f + 6.9314718055995007954e-1;
    return {shifted, f, p};
}
inline Vec<double> exp2_negative(Vec<double> q) {
    const Halves h = exp2_halves(q);
    const Vec<double> p = h.slope * h.f + 1.0;
    return (Vec<double>)(((Ints<double>)p + ((Ints<double>)h.shifted << 52)) & (Ints<double>)(q < 1021.0));
}

inline Vec<float> exp2_negative(Vec<float> q) {
    constexpr float magic = 12582912.0f;  // 1.5 * 2^23
    const Vec<float> shifted = magic - q;
    const Vec<float> f = (magic - shifted) - q;
    Vec<float> p = spread(1.3264727140072e-3f);
    p = p * f + 9.67151263995645e-3f;
    p = p * f + 5.55073374347008e-2f;
    p = p * f + 2.40222420853767e-1f;
    p = p * f + 6.93146977598992e-1f;
    p = p * f + 1.0f;
    return (Vec<float>)(((Ints<float>)p + ((Ints<float>)shifted << 23)) & (Ints<float>)(q < 125.0f));
}

struct Euclidean { template <class T> static Vec<T> term(Vec<T> sum, Vec<T> difference) { return sum + difference * difference; } };
struct CityBlock { template <class T> static Vec<T> term(Vec<T> sum, Vec<T> difference) { return sum + magnitude<T>(difference); } };

template <class T> constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T> constexpr T log_2 = T(0.69314718055994530942);

struct GaussianShape {
    using Metric = Euclidean;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> static Vec<T> value(Vec<T> q) { return exp2_negative(q); }
};
struct LaplacianShape {
    using Metric = CityBlock;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> static Vec<T> value(Vec<T> q) { return exp2_negative(q); }
};
template <int power> struct MaternShape {
    using Metric = Euclidean;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> static Vec<T> value(Vec<T> q) {
        const Vec<T> r = root<T>(q);
        const Vec<T> e = exp2_negative(r);
        if (power == 0) return e;
        const Vec<T> s = r * log_2<T>;
        const Vec<T> polynomial = power == 1 ? T(1) + s : T(1) + s + s * s * T(1.0 / 3.0);
        // The polynomial of a far pair is infinite: the mask comes last.
        return (Vec<T>)((Ints<T>)(polynomial * e) & (Ints<T>)(r < T(1000)));
    }
};
template <int power> struct RationalShape {  // (1 + q)^(-power / 2)
    using Metric = Euclidean;
    template <class T> static constexpr T far = infinity<T>;
    template <class T> static Vec<T> value(Vec<T> q) {
        const Vec<T> inverse = T(1) / (T(1) + q);
        Vec<T> v = power % 2 ? root<T>(inverse) : spread(T(1));
        for (int i = 0; i < power / 2; ++i) v *= inverse;
        return v;
    }
};
struct DistanceShape {
    using Metric = Euclidean;
    template <class T> static constexpr T far = T(0);
    template <class T> static Vec<T> value(Vec<T> q) { return -root<T>(q); }
};

}  // namespace BTESTS_ISA
}  // namespace btests
