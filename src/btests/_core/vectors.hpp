// Vectors by the extensions of GCC and Clang, BTESTS_BYTES wide, and intrinsics for comparisons alone. Included once per
// instruction set.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// For functions called in inner loops: their arguments must stay in registers.
#define BTESTS_INLINE __attribute__((always_inline))

namespace btests {
namespace BTESTS_ISA {

template <class T> struct Types;
template <> struct Types<double> {
    typedef double Vector __attribute__((vector_size(BTESTS_BYTES)));
    typedef std::int64_t Int __attribute__((vector_size(BTESTS_BYTES)));
    static constexpr int lanes = BTESTS_BYTES / 8;
};
template <> struct Types<float> {
    typedef float Vector __attribute__((vector_size(BTESTS_BYTES)));
    typedef std::int32_t Int __attribute__((vector_size(BTESTS_BYTES)));
    static constexpr int lanes = BTESTS_BYTES / 4;
};

template <class T> using Vec = typename Types<T>::Vector;
template <class T> using Ints = typename Types<T>::Int;
using Doubles = Vec<double>;
constexpr int double_lanes = Types<double>::lanes;

template <class T> inline Vec<T> load(const T* p) { Vec<T> v; std::memcpy(&v, p, sizeof v); return v; }
template <class T> inline void store(T* p, Vec<T> v) { std::memcpy(p, &v, sizeof v); }
template <class T> inline Vec<T> broadcast(T a) { return a - Vec<T>{}; }  // x - 0 is x: one broadcast, no addition

// Load once, use twice: compilers otherwise fold the load into each use, and loads are the bottleneck.
template <class V> inline V in_register(V v) {
#if defined(__AVX512F__)
    __asm__("" : "+v"(v));
#elif defined(__x86_64__)
    __asm__("" : "+x"(v));
#endif
    return v;
}

// Compute this now: compilers otherwise delay sums, and hold all summands in registers.
template <class V> inline void materialize(V& v) {
#if defined(__AVX512F__)
    __asm__ volatile("" : "+v"(v));
#elif defined(__x86_64__)
    __asm__ volatile("" : "+x"(v));
#endif
}

// A product that must not become part of a fused multiply-add: compilers fuse in one copy of a loop and not in another,
// and then the last bit depends on where a chunk ends.
inline double rounded(double a) {
#if defined(__x86_64__)
    __asm__("" : "+x"(a));
    return a;
#else
    volatile double b = a;
    return b;
#endif
}

// Whether any lane of a is more than that of b. Compilers do not vectorize the loop, hence the intrinsics.
inline bool any_above(Doubles a, Doubles b) {
#if BTESTS_BYTES == 64 && defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ) != 0;
#elif BTESTS_BYTES == 32 && defined(__AVX2__)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GT_OQ)) != 0;
#else
    const Ints<double> above = a > b;
    std::int64_t any = 0;
    for (int i = 0; i < double_lanes; ++i) any |= above[i];
    return any != 0;
#endif
}

// Elements chosen from a and b, which count on where a ends.
template <std::size_t... i> inline Doubles shuffle(Doubles a, Doubles b) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define BTESTS_SHUFFLE
#endif
#endif
#if defined(BTESTS_SHUFFLE)
    return __builtin_shufflevector(a, b, i...);
#else
    return __builtin_shuffle(a, b, Ints<double>{static_cast<std::int64_t>(i)...});
#endif
}

// The sum of numbers as that of their halves, which are sums of their halves.
template <int n> inline double sum_by_halves(const double* of) {
    if constexpr (n == 1) return of[0];
    else return sum_by_halves<n / 2>(of) + sum_by_halves<n / 2>(of + n / 2);
}
template <std::size_t apart, std::size_t... i> inline Doubles with_partner(Doubles of, std::index_sequence<i...>) {
    return of + shuffle<(i ^ apart)...>(of, of);
}
inline double sum_by_halves(Doubles of) {
    constexpr auto all = std::make_index_sequence<double_lanes>();
    of = with_partner<1>(of, all);
    if constexpr (double_lanes > 2) of = with_partner<2>(of, all);
    if constexpr (double_lanes > 4) of = with_partner<4>(of, all);
    return of[0];
}

// The sums of as many vectors as each has lanes, to the same bits: what is left of two of them fits into one.
template <std::size_t apart, std::size_t... i> inline Doubles merged(Doubles a, Doubles b, std::index_sequence<i...>) {
    constexpr std::size_t n = double_lanes;
    return shuffle<(i & apart ? n : 0) + (i & ~apart)...>(a, b) + shuffle<(i & apart ? n : 0) + (i | apart)...>(a, b);
}
template <std::size_t apart = 1> BTESTS_INLINE inline Doubles sums_by_halves(Doubles* of) {
    constexpr auto all = std::make_index_sequence<double_lanes>();
    if constexpr (apart == double_lanes) return of[0];
    else {
        for (std::size_t i = 0; i < double_lanes / apart / 2; ++i) of[i] = merged<apart>(of[2 * i], of[2 * i + 1], all);
        return sums_by_halves<2 * apart>(of);
    }
}

// Whether all lanes of a are at most those of b, and numbers.
inline bool all_up_to(Doubles a, Doubles b) {
#if BTESTS_BYTES == 64 && defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_NLE_UQ) == 0;
#elif BTESTS_BYTES == 32 && defined(__AVX2__)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_NLE_UQ)) == 0;
#else
    const Ints<double> within = a <= b;
    std::int64_t all = -1;
    for (int i = 0; i < double_lanes; ++i) all &= within[i];
    return all != 0;
#endif
}

// The square of k, or 0 where k is less than `least`.
inline Doubles square_from(Doubles k, double least) {
#if BTESTS_BYTES == 64 && defined(__AVX512F__)
    const __m512d v = (__m512d)k;
    return (Doubles)_mm512_maskz_mul_pd(_mm512_cmp_pd_mask(v, _mm512_set1_pd(least), _CMP_GE_OQ), v, v);
#else
    return (Doubles)((Ints<double>)(k * k) & (Ints<double>)(k >= least));
#endif
}

template <class T> inline Vec<T> root(Vec<T> v) {
    Vec<T> r;
    for (int i = 0; i < Types<T>::lanes; ++i) r[i] = __builtin_sqrt(v[i]);
    return r;
}
template <> inline Vec<float> root<float>(Vec<float> v) {
    Vec<float> r;
    for (int i = 0; i < Types<float>::lanes; ++i) r[i] = __builtin_sqrtf(v[i]);
    return r;
}

template <class T> inline Vec<T> magnitude(Vec<T> v) {
    constexpr auto bits = sizeof(T) == 8 ? std::numeric_limits<std::int64_t>::max()
                                         : (std::int64_t)std::numeric_limits<std::int32_t>::max();
    return (Vec<T>)((Ints<T>)v & (Ints<T>{} + (decltype(Ints<T>{}[0] + 0))bits));
}

// Sums are always in float64: a vector of T is added to sizeof(double) / sizeof(T) vectors of doubles.
template <class T> constexpr int parts = Types<T>::lanes / double_lanes;
inline void add_to(Doubles* sum, Vec<double> v) { sum[0] += v; }
inline void add_to(Doubles* sum, Vec<float> v) {
    typedef float Half __attribute__((vector_size(BTESTS_BYTES / 2)));
    Half low, high;
    std::memcpy(&low, &v, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    sum[0] += __builtin_convertvector(low, Doubles);
    sum[1] += __builtin_convertvector(high, Doubles);
}

}  // namespace BTESTS_ISA
}  // namespace btests
