#define BTESTS_ISA isa_generic
#define BTESTS_BYTES 16
#define BTESTS_NAME "generic"
#include "loops.hpp"
