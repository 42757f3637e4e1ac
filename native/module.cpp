#include "bindings/numpy.hpp"

NB_MODULE(_kernels, module) {
    module.doc() = "Loops over cells, faces and codes: arrays in, arrays out.";
    reluscope::bind_boxes(module);
    reluscope::bind_codes(module);
    reluscope::bind_complexes(module);
    reluscope::bind_partitions(module);
    reluscope::bind_polytopes(module);
    reluscope::bind_pictures(module);
    reluscope::bind_points(module);
    reluscope::bind_programs(module);
}
