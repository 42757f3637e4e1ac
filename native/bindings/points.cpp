#include "../kernels/active_set.hpp"
#include "../kernels/recession.hpp"
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
        "recession",
        [](In<std::int64_t, 1> offsets, In<double, 2> rows, In<double, 2> errors, std::size_t num_threads) {
            expect(are_offsets(view(offsets), rows.shape(0)) && errors.shape(0) == rows.shape(0) &&
                       errors.shape(1) == rows.shape(1),
                   "expected ranges of rows in ascending order, and bounds on the errors of all entries");
            const auto threads = threads_of(num_threads);
            auto found = unlocked([&] {
                return recession({view(offsets), reluscope::rows(rows), reluscope::rows(errors)}, threads);
            });
            return nb::make_tuple(give_flags(std::move(found.is_bounded)), give_flags(std::move(found.is_proved)));
        },
        "offsets"_a, "rows"_a, "errors"_a, "num_threads"_a);
    using Written = InOut<double, 1>;
    const auto chain_of = [](const In<double, 2>& columns, const Written& place, const Written& slack) {
        expect(place.shape(0) > 0 && place.shape(0) == columns.shape(0) && slack.shape(0) == columns.shape(1),
               "expected a place on every axis, and a slack of every row");
        return Chain{{data_of(place), place.shape(0)}, {data_of(slack), slack.shape(0)}};
    };
    module.def(
        "walk",
        [chain_of](In<double, 2> columns, Written place, Written slack, std::size_t steps, nb::capsule bits) {
            const Chain chain = chain_of(columns, place, slack);
            const auto* generator = static_cast<const BitGenerator*>(bits.data("BitGenerator"));
            return unlocked([&] {
                return walk(rows(columns), chain, steps, {generator->state, generator->next_double});
            });
        },
        "columns"_a, nb::arg("place").noconvert(), nb::arg("slack").noconvert(), "steps"_a, "bits"_a);
    module.def(
        "refresh",
        [chain_of](In<double, 2> columns, Numbers room, Written place, Written slack) {
            const Chain chain = chain_of(columns, place, slack);
            expect(room.shape(0) == columns.shape(1), "expected as much room as there are rows");
            unlocked([&] { refresh(rows(columns), view(room), chain); });
        },
        "columns"_a, "room"_a, nb::arg("place").noconvert(), nb::arg("slack").noconvert());
}

}  // namespace reluscope
