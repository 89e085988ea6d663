// The limits of one core: sums of exponentials, and of cosines and sines, in first-level cache; multiply-adds, and doublings of angles
// with their sums, in registers. Vectors and functions are those of the compiled core. One library per instruction set.
#include "sample.hpp"
#include "shapes.hpp"
#include "turns.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T> double exponentials(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, size = 8192 / sizeof(T), chains = 4;
    Scratch<T> q(size);
    for (int i = 0; i < size; ++i) q[i] = T(i % 97) * T(0.37);
    Vec<T> sum[chains] = {};
    for (std::int64_t done = 0; done < n; done += size) {
        for (int i = 0; i < size; i += chains * lanes)
            for (int j = 0; j < chains; ++j) sum[j] += GaussianShape::value<T>(load(q.get() + i + j * lanes));
        __asm__ volatile("" ::: "memory");
    }
    double total = 0;
    for (auto& s : sum) for (int i = 0; i < lanes; ++i) total += double(s[i]);
    return total;
}

template <class T> double products(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, chains = 12;
    Vec<T> a[chains];
    for (int j = 0; j < chains; ++j) a[j] = broadcast(T(j));
    Vec<T> b = broadcast(T(0.999)), c = broadcast(T(1e-3));
    for (std::int64_t done = 0; done < n; done += chains * lanes) {
#pragma GCC unroll 12
        for (int j = 0; j < chains; ++j) a[j] = a[j] * b + c;
    }
    double total = 0;
    for (auto& v : a) for (int i = 0; i < lanes; ++i) total += double(v[i]);
    return total;
}

// Pairs of a cosine and a sine.
template <class T> double pairs(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, size = 8192 / sizeof(T), at_once = 4;
    Scratch<Vec<T>> angles(size / lanes);
    for (int i = 0; i < size; ++i) angles[i / lanes][i % lanes] = T(i % 97) * T(0.37) - T(20);
    Vec<T> sum[2] = {};
    for (std::int64_t done = 0; done < n; done += size) {
        for (int i = 0; i < size / lanes; i += at_once) {
            Vec<T> c[at_once], s[at_once];
            turns<T, at_once, true>(angles.get() + i, c, s);
            sum[0] += (c[0] + c[1]) + (c[2] + c[3]);
            sum[1] += (s[0] + s[1]) + (s[2] + s[3]);
        }
        __asm__ volatile("" ::: "memory");
    }
    double total = 0;
    for (auto& v : sum) for (int i = 0; i < lanes; ++i) total += double(v[i]);
    return total;
}

// Doublings of an angle, eight at a time of four vectors, and the sums of both numbers: in plain floating point, or exact, each number
// rounded and added as a whole number.
template <class T, bool exact> double doublings(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, at_once = 4, levels = 8;
    Vec<T> from[at_once], c[at_once], s[at_once], sum[2] = {}, unit = broadcast(T(1024));
    Ints<T> whole[2] = {};
    for (int j = 0; j < at_once; ++j) from[j] = broadcast(T(0.1) * T(j + 1));
    for (std::int64_t done = 0; done < n; done += at_once * lanes * levels) {
#pragma GCC unroll 4
        for (int j = 0; j < at_once; ++j) {
            c[j] = s[j] = from[j];
            materialize(c[j]);
            materialize(s[j]);
        }
        for (int level = 0; level < levels; ++level) {
#pragma GCC unroll 4
            for (int j = 0; j < at_once; ++j) {
                double_angle<T>(c[j], s[j]);
                if constexpr (exact) {
                    whole[0] += (Ints<T>)(c[j] + unit);
                    whole[1] += (Ints<T>)(s[j] + unit);
                }
            }
            if constexpr (!exact) {
                sum[0] += (c[0] + c[1]) + (c[2] + c[3]);
                sum[1] += (s[0] + s[1]) + (s[2] + s[3]);
            }
        }
    }
    double total = 0;
    for (int j = 0; j < 2; ++j) for (int i = 0; i < lanes; ++i) total += double(sum[j][i]) + double(whole[j][i]);
    return total;
}

}  // namespace BTESTS_ISA
}  // namespace btests

#define BTESTS_API extern "C" __attribute__((visibility("default")))
using namespace btests::BTESTS_ISA;

BTESTS_API double sum_exponentials(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? exponentials<float>(n) : exponentials<double>(n);
}
BTESTS_API double sum_products(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? products<float>(n) : products<double>(n);
}
BTESTS_API double sum_turns(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? pairs<float>(n) : pairs<double>(n);
}
BTESTS_API double sum_doublings(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? doublings<float, false>(n) : doublings<double, false>(n);
}
BTESTS_API double sum_exact_doublings(std::int64_t n, std::int32_t in_float32) {
    return in_float32 ? doublings<float, true>(n) : doublings<double, true>(n);
}
