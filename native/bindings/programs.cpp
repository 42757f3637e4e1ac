#include <mutex>

#include "../kernels/archive.hpp"
#include "../kernels/sign_tree.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using Floats = In<double, 1>;
using FloatRows = In<double, 2>;
using Flags = In<bool, 1>;

// What one thread at a time may use, whoever holds the interpreter's lock.
template <class T> struct Guarded {
    template <class... Parts> explicit Guarded(std::in_place_t, Parts&&... parts) : object(std::forward<Parts>(parts)...) {}

    T object;
    std::mutex mutex;
};
using GuardedRoom = Guarded<Room>;
using GuardedTree = Guarded<SignTree>;

template <class T, class Kernel> auto alone(Guarded<T>& guarded, Kernel kernel) {
    return unlocked([&] {
        const std::lock_guard lock(guarded.mutex);
        return kernel(guarded.object);
    });
}

template <class T> Vector<T> copied(const T* data, std::size_t number) { return Vector<T>(data, data + number); }
template <class T> Vector<T> copied(const Borrowed<T, 1>& array) { return copied(data_of(array), array.shape(0)); }
Table<double> copied(const FloatRows& array) { return Table<double>(rows(array)); }

// Slack of forms: for each coordinate of y on cones, else none.
void expect_slack(const Frame& frame, std::size_t width) {
    expect(width == (frame.is_cone ? frame.num_columns() : 0), "slack must have a column for each of y on cones alone");
}

Frame frame_of(const FloatRows& generators, const Floats& lower, const Floats& upper, bool is_cone, double resolution) {
    expect(lower.shape(0) > 0 && lower.shape(0) == upper.shape(0) && lower.shape(0) == generators.shape(1),
           "generators and both bounds must have as many columns as y, at least one");
    return {copied(generators), copied(lower), copied(upper), is_cone, resolution};
}

// A form and the rows of a cell, as they come from Python.
struct FormAndRows {
    Floats coefficients;
    double noise;
    Floats slack;
    double threshold;
    FloatRows rows;
    Floats row_noise;
    FloatRows row_slack;
    Floats y, z;

    // Call with the question that they are.
    template <class Asked> auto ask(Room& room, Asked asked) const {
        const Frame& frame = room.work.frame;
        const Form form{data_of(coefficients), noise, view(slack), threshold};
        // The rows, and then the form.
        room.known.forget(rows.shape(0) + 1, frame.num_columns());
        const Sides sides{reluscope::rows(rows), view(row_noise), reluscope::rows(row_slack), room.known};
        return asked(Question{form, sides, {data_of(y), data_of(z)}, rows.shape(0)});
    }
    void check(const Frame& frame) const {
        const std::size_t size = frame.size(), number = rows.shape(0);
        expect(coefficients.shape(0) == size && rows.shape(1) == size && z.shape(0) == size,
               "forms, rows and images must have as many entries as z");
        expect(y.shape(0) == frame.num_columns(), "points must have as many entries as y");
        expect(row_noise.shape(0) == number && row_slack.shape(0) == number, "rows and their errors differ in number");
        expect_slack(frame, slack.shape(0));
        expect_slack(frame, row_slack.shape(1));
    }
};

nb::tuple ask(GuardedRoom& room, const FormAndRows& given, bool by_corners) {
    given.check(room.object.work.frame);
    const Answer answer = alone(room, [&](Room& alone) {
        return given.ask(alone, [&](const Question& question) {
            return by_corners ? find_among_corners(question, alone.work, alone.corners, alone.program)
                              : find_positive(question, alone.work);
        });
    });
    return nb::make_tuple(static_cast<int>(answer.verdict), answer.steps);
}

template <bool by_corners>
nb::tuple ask(GuardedRoom& room, Floats coefficients, double noise, Floats slack, double threshold, FloatRows rows,
              Floats row_noise, FloatRows row_slack, Floats y, Floats z) {
    return ask(room, {coefficients, noise, slack, threshold, rows, row_noise, row_slack, y, z}, by_corners);
}

nb::object find_inner_point(GuardedRoom& room, Floats coefficients, double noise, Floats slack, double threshold,
                            FloatRows rows, Floats row_noise, FloatRows row_slack, Floats y, Floats z, Floats to_y,
                            double least) {
    const FormAndRows given{coefficients, noise, slack, threshold, rows, row_noise, row_slack, y, z};
    const Frame& frame = room.object.work.frame;
    given.check(frame);
    expect(to_y.shape(0) == frame.num_columns(), "points must have as many entries as y");
    Vector<double> made_y(frame.num_columns()), made_z(frame.size());
    const bool is_found = alone(room, [&](Room& alone) {
        return given.ask(alone, [&](const Question& question) {
            return inner_point(question, frame, data_of(to_y), least, made_y.data(), made_z.data());
        });
    });
    if (!is_found) return nb::none();
    return nb::make_tuple(give(std::move(made_y)), give(std::move(made_z)));
}

// What a question wrote.
template <class Part> nb::object given(GuardedRoom& room, Part part) {
    return give(Vector<double>(alone(room, [&](const Room& alone) { return part(alone.work); })));
}

nb::bytes room_state(GuardedRoom& room) {
    const auto bytes = alone(room, [](Room& alone) {
        Writer writer;
        writer(alone.work.frame, alone.corners);
        return writer.seal();
    });
    return nb::bytes(bytes.data(), bytes.size());
}

void bind_room(nb::module_& module) {
    nb::class_<GuardedRoom>(module, "Room")
        .def(
            "__init__",
            [](GuardedRoom* room, FloatRows generators, Floats lower, Floats upper, bool is_cone, double resolution,
               std::size_t num_corners) {
                new (room) GuardedRoom(std::in_place, frame_of(generators, lower, upper, is_cone, resolution), num_corners);
            },
            "generators"_a, "lower"_a, "upper"_a, "is_cone"_a, "resolution"_a, "num_corners"_a)
        .def("find_positive", &ask<false>, "coefficients"_a, "noise"_a, "slack"_a, "threshold"_a, "rows"_a,
             "row_noise"_a, "row_slack"_a, "y"_a, "z"_a)
        .def("find_among_corners", &ask<true>, "coefficients"_a, "noise"_a, "slack"_a, "threshold"_a, "rows"_a,
             "row_noise"_a, "row_slack"_a, "y"_a, "z"_a)
        .def("inner_point", &find_inner_point, "coefficients"_a, "noise"_a, "slack"_a, "threshold"_a, "rows"_a,
             "row_noise"_a, "row_slack"_a, "y"_a, "z"_a, "to_y"_a, "least"_a)
        .def(
            "image",
            [](GuardedRoom& room, Floats y) {
                const Frame& frame = room.object.work.frame;
                expect(y.shape(0) == frame.num_columns(), "points must have as many entries as y");
                Vector<double> z(frame.size());
                frame.image(data_of(y), z.data());
                return give(std::move(z));
            },
            "y"_a)
        .def(
            "largest",
            [](GuardedRoom& room, Floats form) {
                const Frame& frame = room.object.work.frame;
                expect(form.shape(0) == frame.size(), "forms must have as many entries as z");
                Vector<double> full(frame.num_columns());
                frame.pull_back(data_of(form), full.data());
                return frame.largest(full.data());
            },
            "form"_a)
        .def_prop_ro("out_y", [](GuardedRoom& room) { return given(room, [](const Workspace& work) { return work.out_y; }); })
        .def_prop_ro("out_z", [](GuardedRoom& room) { return given(room, [](const Workspace& work) { return work.out_z; }); })
        .def_prop_ro("multipliers",
                     [](GuardedRoom& room) { return given(room, [](const Workspace& work) { return work.multipliers; }); })
        .def("__getstate__", &room_state)
        .def(
            "__setstate__",
            [](GuardedRoom& room, nb::bytes state) {
                Reader reader({state.c_str(), state.size()});
                Frame frame;
                reader(frame);
                expect(frame.is_sound(), "expected a room that was written, got the bytes of something else");
                Corners corners(frame, 0);
                reader(corners);
                reader.end();
                expect(corners.are_of(frame), "expected corners of the room's frame");
                new (&room) GuardedRoom(std::in_place, std::move(frame), 0);
                room.object.corners = std::move(corners);
                room.object.corners.number_anew();
            },
            "state"_a);
}

SignTree tree_of(GuardedRoom& room, FloatRows rows, Floats row_noise, FloatRows row_slack, Floats witness,
                 FloatRows coefficients, Floats noise, FloatRows slack, Floats threshold, Flags is_constant,
                 Flags is_doubtful) {
    const Frame& frame = room.object.work.frame;
    const std::size_t number = coefficients.shape(0);
    expect(coefficients.shape(1) == frame.size() && rows.shape(1) == frame.size(),
           "forms and rows must have as many entries as z");
    expect(witness.shape(0) == frame.num_columns(), "points must have as many entries as y");
    expect(row_noise.shape(0) == rows.shape(0) && row_slack.shape(0) == rows.shape(0),
           "rows and their errors differ in number");
    for (const std::size_t other : {noise.shape(0), slack.shape(0), threshold.shape(0), is_constant.shape(0),
                                    is_doubtful.shape(0)})
        expect(other == number, "forms and what is known of them differ in number");
    expect_slack(frame, row_slack.shape(1));
    expect_slack(frame, slack.shape(1));
    Cell cell{copied(rows), copied(row_noise), copied(row_slack), copied(witness)};
    const auto flags = [&](const Flags& given) {
        return Vector<std::uint8_t>(given.data(), given.data() + number);
    };
    Forms forms{copied(coefficients), copied(noise),       copied(slack),
                copied(threshold),    flags(is_constant), flags(is_doubtful)};
    return SignTree(frame, std::move(cell), std::move(forms));
}

nb::tuple take(GuardedTree& tree, GuardedRoom& room, std::size_t most, std::int64_t most_steps) {
    auto found = alone(tree, [&](SignTree& alone_tree) {
        expect(alone_tree.is_of(room.object.work.frame), "the room is that of another frame");
        const std::lock_guard lock(room.mutex);
        return alone_tree.take(room.object, most, most_steps);
    });
    const std::size_t number = found.signs.size(), width = found.signs.width();
    return nb::make_tuple(shaped<bool>(std::move(found.signs.entries()), {number, width}),
                          shaped<bool>(std::move(found.is_cut.entries()), {number, width}),
                          give(std::move(found.witnesses)));
}

void bind_sign_tree(nb::module_& module) {
    nb::class_<GuardedTree>(module, "SignTree")
        .def(
            "__init__",
            [](GuardedTree* tree, GuardedRoom& room, FloatRows rows, Floats row_noise, FloatRows row_slack,
               Floats witness, FloatRows coefficients, Floats noise, FloatRows slack, Floats threshold,
               Flags is_constant, Flags is_doubtful) {
                new (tree) GuardedTree(std::in_place, tree_of(room, rows, row_noise, row_slack, witness, coefficients, noise, slack,
                                               threshold, is_constant, is_doubtful));
            },
            "room"_a, "rows"_a, "row_noise"_a, "row_slack"_a, "witness"_a, "coefficients"_a, "noise"_a, "slack"_a,
            "threshold"_a, "is_constant"_a, "is_doubtful"_a)
        .def("take", &take, "room"_a, "most"_a, "most_steps"_a)
        .def_prop_ro("is_done", [](GuardedTree& tree) { return alone(tree, [](SignTree& alone) { return alone.is_done(); }); })
        .def_prop_ro("num_open", [](GuardedTree& tree) { return alone(tree, [](SignTree& alone) { return alone.num_open(); }); })
        .def_prop_ro("counters",
                     [](GuardedTree& tree) {
                         const auto counters = alone(tree, [](SignTree& alone) { return alone.counters(); });
                         return give(Vector<std::int64_t>(counters.begin(), counters.end()));
                     })
        .def("__getstate__",
             [](GuardedTree& tree) {
                 const auto bytes = alone(tree, [](SignTree& alone) {
                     Writer writer;
                     writer(alone);
                     return writer.seal();
                 });
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "__setstate__",
            [](GuardedTree& tree, nb::bytes state) {
                Reader reader({state.c_str(), state.size()});
                SignTree read;
                reader(read);
                reader.end();
                expect(read.is_sound(), "expected a search that was written, got the bytes of something else");
                read.forget();
                new (&tree) GuardedTree(std::in_place, std::move(read));
            },
            "state"_a);
}

}  // namespace

void bind_programs(nb::module_& module) {
    // Rooms of threads may be there until the process ends; nobody needs to be told.
    nb::set_leak_warnings(false);
    module.def(
        "dot",
        [](Floats a, Floats b) {
            expect(a.shape(0) == b.shape(0), "vectors must be of one length");
            return dot(data_of(a), data_of(b), a.shape(0));
        },
        "a"_a, "b"_a);
    bind_room(module);
    bind_sign_tree(module);
}

}  // namespace reluscope
