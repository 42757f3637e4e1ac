#include <cmath>

#include "../kernels/box_trees.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using Numbers = In<double, 1>;
using NumberRows = In<double, 2>;

DenseLayers layers_of(const In<std::int64_t, 1>& sizes, const Numbers& weights, const Numbers& biases,
                      const NumberRows& breakpoints, const NumberRows& slopes, const NumberRows& intercepts) {
    const auto widths = view(sizes);
    std::size_t num_weights = 0, num_biases = 0;
    bool is_right = widths.size() > 1;
    for (std::size_t i = 0; i < widths.size() && is_right; ++i) {
        is_right = widths[i] > 0 && static_cast<std::size_t>(widths[i]) <= weights.shape(0);
        if (i == 0 || !is_right) continue;
        const auto reads = static_cast<std::size_t>(widths[i - 1]), gives = static_cast<std::size_t>(widths[i]);
        is_right = gives <= (weights.shape(0) - num_weights) / reads;
        num_weights += gives * reads;
        num_biases += gives;
    }
    expect(is_right && num_weights == weights.shape(0) && num_biases == biases.shape(0),
           "expected sizes of layers, at least one, and as many weights and biases as they have");
    const std::size_t units = num_biases - static_cast<std::size_t>(widths.back());
    expect(slopes.shape(1) == units && intercepts.shape(1) == units && breakpoints.shape(1) == units &&
               slopes.shape(0) == breakpoints.shape(0) + 1 && intercepts.shape(0) == slopes.shape(0),
           "expected breakpoints, and slopes and intercepts of the pieces between them, of every unit");
    return {widths, view(weights), view(biases), rows(breakpoints), rows(slopes), rows(intercepts)};
}

BoxRows boxes_of(const DenseLayers& layers, const NumberRows& centers, const NumberRows& halves) {
    const auto dim = static_cast<std::size_t>(layers.sizes[0]);
    expect(centers.shape(1) == dim && halves.shape(1) == dim && centers.shape(0) == halves.shape(0),
           "expected a centre and half of every side of each box");
    return {rows(centers), rows(halves)};
}

nb::tuple given_forms(FormsOnBoxes&& found, std::size_t outputs) {
    const std::size_t number = found.num_noise.size(), dim = found.weights.width();
    std::size_t most = 0;
    for (const auto count : found.num_noise) most = std::max(most, static_cast<std::size_t>(count));
    Table<double> noise(number * outputs, most, 0.0);
    for (std::size_t box = 0; box < number; ++box) {
        const auto count = static_cast<std::size_t>(found.num_noise[box]);
        for (std::size_t i = 0; i < outputs; ++i)
            std::copy_n(found.noise[box].data() + i * count, count, noise[box * outputs + i]);
    }
    return nb::make_tuple(give(std::move(found.seen.low)), give(std::move(found.seen.high)),
                          give(std::move(found.seen.terms)), give(std::move(found.seen.first)),
                          give(std::move(found.seen.last)), give(std::move(found.centers)),
                          give(std::move(found.errors)),
                          shaped<double>(std::move(found.weights.entries()), {number, outputs, dim}),
                          shaped<double>(std::move(noise.entries()), {number, outputs, most}));
}

}  // namespace

void bind_boxes(nb::module_& module) {
    module.def(
        "forms_on_boxes",
        [](In<std::int64_t, 1> sizes, Numbers weights, Numbers biases, NumberRows breakpoints, NumberRows slopes,
           NumberRows intercepts, NumberRows centers, NumberRows halves, Numbers least, Numbers most,
           bool is_carried_back, std::size_t num_threads) {
            const DenseLayers layers = layers_of(sizes, weights, biases, breakpoints, slopes, intercepts);
            const BoxRows boxes = boxes_of(layers, centers, halves);
            expect(least.shape(0) == layers.num_units() && most.shape(0) == layers.num_units(),
                   "expected what every unit sees at least and at most");
            const auto threads = threads_of(num_threads);
            auto found = unlocked(
                [&] { return forms_on_boxes(layers, boxes, view(least), view(most), is_carried_back, threads); });
            return given_forms(std::move(found), static_cast<std::size_t>(layers.sizes.back()));
        },
        "sizes"_a, "weights"_a, "biases"_a, "breakpoints"_a, "slopes"_a, "intercepts"_a, "centers"_a, "halves"_a,
        "least"_a, "most"_a, "is_carried_back"_a, "num_threads"_a);
    module.def(
        "below_on_boxes",
        [](In<std::int64_t, 1> sizes, Numbers weights, Numbers biases, NumberRows breakpoints, NumberRows slopes,
           NumberRows intercepts, NumberRows centers, NumberRows halves, NumberRows low, NumberRows high,
           NumberRows terms, NumberRows functions, std::size_t num_threads) {
            const DenseLayers layers = layers_of(sizes, weights, biases, breakpoints, slopes, intercepts);
            const BoxRows boxes = boxes_of(layers, centers, halves);
            const std::size_t number = centers.shape(0), units = layers.num_units(), height = functions.shape(0);
            const auto outputs = static_cast<std::size_t>(layers.sizes.back());
            expect(low.shape(0) == number && high.shape(0) == number && terms.shape(0) == number &&
                       low.shape(1) == units && high.shape(1) == units && terms.shape(1) == units + outputs &&
                       functions.shape(1) == outputs,
                   "expected what every unit sees on each box, terms of outputs besides, and functions of these");
            const auto threads = threads_of(num_threads);
            auto found = unlocked([&] {
                return below_on_boxes(layers, boxes, rows(low), rows(high), rows(terms), rows(functions), threads);
            });
            const std::size_t dim = found.slopes.width();
            return nb::make_tuple(shaped<double>(std::move(found.slopes.entries()), {number, height, dim}),
                                  give(std::move(found.offsets)), give(std::move(found.constants)));
        },
        "sizes"_a, "weights"_a, "biases"_a, "breakpoints"_a, "slopes"_a, "intercepts"_a, "centers"_a, "halves"_a,
        "low"_a, "high"_a, "terms"_a, "functions"_a, "num_threads"_a);
    module.def(
        "near_boxes",
        [](In<std::int64_t, 1> sizes, Numbers weights, Numbers biases, NumberRows breakpoints, NumberRows slopes,
           NumberRows intercepts, NumberRows lower, NumberRows upper, Numbers keys, NumberRows low, NumberRows high,
           Numbers point, NumberRows functions, std::size_t norm, Numbers lengths, std::size_t most_boxes,
           std::size_t codes, std::size_t codes_near) {
            const DenseLayers layers = layers_of(sizes, weights, biases, breakpoints, slopes, intercepts);
            const BoxRows boxes = boxes_of(layers, lower, upper);
            const std::size_t number = lower.shape(0), units = layers.num_units();
            expect(keys.shape(0) == number && low.shape(0) == number && high.shape(0) == number &&
                       low.shape(1) == units && high.shape(1) == units && point.shape(0) == lower.shape(1) &&
                       functions.shape(1) == static_cast<std::size_t>(layers.sizes.back()) && lengths.shape(0) == 3 &&
                       norm < 3,
                   "expected boxes, what every unit sees on each, a point, functions of the outputs, a norm and lengths");
            const NearQuestion question{view(point), rows(functions), static_cast<Length>(norm), view(lengths)[0],
                                        view(lengths)[1], view(lengths)[2], most_boxes, codes, codes_near};
            auto found = unlocked([&] {
                return near_boxes(layers, boxes.centers, boxes.halves, view(keys), rows(low), rows(high), question);
            });
            const auto count = found.num_boxes;
            const double passed = found.passed;
            return nb::make_tuple(give(std::move(found.lower)), give(std::move(found.upper)),
                                  give(std::move(found.keys)), give_flags(std::move(found.is_leaf)), count, passed);
        },
        "sizes"_a, "weights"_a, "biases"_a, "breakpoints"_a, "slopes"_a, "intercepts"_a, "lower"_a, "upper"_a, "keys"_a,
        "low"_a, "high"_a, "point"_a, "functions"_a, "norm"_a, "lengths"_a, "most_boxes"_a, "codes"_a,
        "codes_near"_a);
}

}  // namespace reluscope
