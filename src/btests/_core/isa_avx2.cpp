#define BTESTS_ISA isa_avx2
#define BTESTS_BYTES 32
#define BTESTS_NAME "avx2"
#include "loops.hpp"
