// The C interface of the library, and the choice of the instruction set.
#include "task.hpp"

namespace btests {
namespace isa_generic { extern const Loops loops; }
#ifdef BTESTS_AVX2
namespace isa_avx2 { extern const Loops loops; }
#endif
#ifdef BTESTS_AVX512
namespace isa_avx512 { extern const Loops loops; }
#endif

// The loops of an instruction set, null if this machine or this build does not have it.
static const Loops* level(int i) {
    if (i == GENERIC) return &isa_generic::loops;
#ifdef BTESTS_AVX2
    if (i == AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &isa_avx2::loops;
#endif
#ifdef BTESTS_AVX512
    if (i == AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return &isa_avx512::loops;
#endif
    return nullptr;
}

static const Loops* best() {
    for (int i = AVX512; i > GENERIC; --i) if (const Loops* found = level(i)) return found;
    return level(GENERIC);
}

static const Loops* current = best();

}  // namespace btests

#define BTESTS_API extern "C" __attribute__((visibility("default")))
using btests::current;

BTESTS_API const char* btests_instruction_set() { return current->name; }
BTESTS_API int btests_use_level(int i) {
    const btests::Loops* wanted = i < 0 ? btests::best() : btests::level(i);
    if (!wanted) return 1;
    current = wanted;
    return 0;
}
BTESTS_API int btests_size_of_task() { return sizeof(btests::Task); }  // for the caller to compare with its own
BTESTS_API int btests_summarize(const btests::Task* t, std::int32_t in_float32) {
    return in_float32 ? current->summarize_f32(*t) : current->summarize_f64(*t);
}
BTESTS_API int btests_hsic(const btests::Task* x, const btests::Task* y) { return current->hsic(*x, *y); }
BTESTS_API std::int64_t btests_hsic_sums(const btests::Task* x, const btests::Task* y) { return current->hsic_sums(*x, *y); }
BTESTS_API void btests_flip(const double* moments, const std::uint64_t* words, double* out, std::int64_t n_strata,
                            std::int64_t n_groups, std::int64_t n_words, std::int64_t first, std::int64_t last) {
    current->flip(moments, words, out, n_strata, n_groups, n_words, first, last);
}
BTESTS_API int btests_fourier_sums(const btests::FourierTask* t) { return current->fourier_sums(*t); }
