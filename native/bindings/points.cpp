#include "../kernels/active_set.hpp"
#include "../kernels/sampling.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

// NumPy's interface to generators of random bits, as in numpy/random/bitgen.h.
struct BitGenerator {
    void* state;
    std::uint64_t (*next_uint64)(void*);
    std::uint32_t (*next_uint32)(void*);
    double (*next_double)(void*);
    std::uint64_t (*next_raw)(void*);
};

}  // namespace

void bind_points(nb::module_& module) {
    using Numbers = In<double, 1>;
    module.def(
        "shortest_vector",
        [](In<double, 2> rows, Numbers slack, std::size_t num_equations, Numbers lower, Numbers upper, double bound,
           double tolerance) {
            const std::size_t height = rows.shape(0), dim = rows.shape(1);
            expect(slack.shape(0) == height && num_equations <= height && lower.shape(0) == dim &&
                       upper.shape(0) == dim,
                   "expected a slack of every row and two bounds of every coordinate");
            auto found = unlocked([&] {
                return shortest_vector(
                    {reluscope::rows(rows), view(slack), num_equations, view(lower), view(upper)}, bound, tolerance);
            });
            return nb::make_tuple(static_cast<int>(found.ending), give(std::move(found.vector)),
                                  give(std::move(found.rows)), give(std::move(found.upper)),
                                  give(std::move(found.lower)));
        },
        "rows"_a, "slack"_a, "num_equations"_a, "lower"_a, "upper"_a, "bound"_a, "tolerance"_a);
    module.def(
        "walk",
        [](In<double, 2> columns, Numbers room, std::size_t draws, std::size_t burn_in, std::size_t thinning,
           std::size_t refresh, nb::capsule bits) {
            expect(columns.shape(0) > 0 && room.shape(0) == columns.shape(1),
                   "expected axes, and as much room as there are rows");
            const auto* generator = static_cast<const BitGenerator*>(bits.data("BitGenerator"));
            return give(unlocked([&] {
                return walk(rows(columns), view(room), draws, {burn_in, thinning, refresh},
                            {generator->state, generator->next_double});
            }));
        },
        "columns"_a, "room"_a, "draws"_a, "burn_in"_a, "thinning"_a, "refresh"_a, "bits"_a);
}

}  // namespace reluscope
