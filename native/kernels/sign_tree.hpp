// All sign vectors that linear forms take inside a cell, depth first: see reluscope.geometry.cutting.sign_tree.
#pragma once

#include <array>

#include "generation.hpp"

namespace reluscope {

// Linear forms of z; see LinearForms in reluscope.geometry.cutting.framed_cells.
struct Forms {
    Table<double> coefficients;
    Vector<double> noise;
    Table<double> slack;
    Vector<double> threshold;
    Vector<std::uint8_t> is_constant, is_doubtful;

    std::size_t size() const { return noise.size(); }
    template <class Archive> void keep(Archive& archive) {
        archive(coefficients, noise, slack, threshold, is_constant, is_doubtful);
    }
};

// The rows of a cell, and a point strictly inside.
struct Cell {
    Table<double> rows;
    Vector<double> noise;
    Table<double> slack;
    Vector<double> witness;
};

// What searches of one frame share, one after the other.
struct Room {
    Room(Frame frame, std::size_t num_corners) : work(std::move(frame)), corners(work.frame, num_corners) {}

    Workspace work;
    Corners corners;
    CornerProgram program;
    // Of questions that come alone.
    KnownRows known;
};

// The same order as in reluscope.geometry.cutting.sign_tree.
enum Counter { PROGRAMS, PIVOTS, CORNERS, NODES, BY_POINT, BY_CLAUSE, UNDECIDED_FORMS, NUM_COUNTERS };

struct SignVectors {
    // (r, p): whether forms are positive, and whether they cut a cell on the way.
    Table<std::uint8_t> signs, is_cut;
    // (r, n) strictly interior points.
    Table<double> witnesses;
};

// Proofs that a form has one sign, by the forms whose signs they use: as bits, and those of positive ones among them.
class Clauses {
public:
    // A sign that forms of these signs imply, or 0.
    int implied(View<std::uint64_t> signs) const;
    // Keep a proof, in place of the oldest one where there is no room.
    void learn(View<std::uint64_t> used, View<std::uint64_t> signs, int sign);

    template <class Archive> void keep(Archive& archive) { archive(met_, words_, signs_); }
    // Whether these are clauses about signs of so many words, as those of an archive need not be.
    bool are_sound(std::size_t num_words) const;

private:
    // How many there were.
    std::uint64_t met_ = 0;
    // For each clause the bits used, word by word, each with its values.
    Vector<std::uint64_t> words_;
    Vector<std::int8_t> signs_;
};

class SignTree {
public:
    SignTree(const Frame& frame, Cell cell, Forms forms);
    // A search of which nothing is known, to be read from an archive.
    SignTree() = default;

    // Go on until there are so many sign vectors more, or so much work is done, or the search has ended.
    SignVectors take(Room& room, std::size_t most, std::int64_t most_steps);

    bool is_done() const { return depth_ < 0; }
    // Nodes left to visit, each of which has at least one sign vector below it.
    std::int64_t num_open() const;
    const std::array<std::int64_t, NUM_COUNTERS>& counters() const { return counters_; }
    std::size_t num_columns() const { return store_y_.width(); }
    // Whether a search in this frame began like this one.
    bool is_of(const Frame& frame) const {
        return frame.num_columns() == num_columns() && frame.size() == store_z_.width() &&
               slack_.width() == (frame.is_cone ? num_columns() : 0);
    }

    template <class Archive> void keep(Archive& archive) {
        archive(forms_, rows_, noise_, slack_, names_, row_signs_, num_fixed_, nodes_, words_, store_y_, store_z_,
                num_stored_, clauses_, counters_, depth_);
    }
    // Whether what was read is a search: all of one size, and at points and rows that there are.
    bool is_sound() const;
    // Compute anew what is computed once.
    void forget();

private:
    enum Phase : std::int8_t { NEW, FIRST, SECOND };
    static constexpr std::size_t MAX_POINTS = 16;

    // The state at one depth: of the form that is decided there, and of the cell before it.
    struct Node {
        Phase phase = NEW;
        std::int8_t sign = 0;
        bool is_cut = false;
        // Stored points: the witness, that of the second child or NONE, and points that questions ended at.
        std::int64_t witness = 0, second = 0;
        std::array<std::int64_t, MAX_POINTS> points = {};
        std::size_t num_points = 0;
        // How many points were stored before.
        std::size_t num_stored = 1;

        template <class Archive> void keep(Archive& archive) {
            archive(phase, sign, is_cut, witness, second, points, num_points, num_stored);
        }
    };

    bool are_sizes_sound() const;
    // Whether a node on the way is at points that are stored.
    bool is_sound(const Node& node) const;
    std::int64_t num_steps() const { return counters_[NODES] + counters_[PIVOTS] + counters_[CORNERS]; }
    Node& node() { return nodes_[depth_]; }
    std::int64_t num_forms() const { return static_cast<std::int64_t>(forms_.size()); }
    const double* form() const { return forms_.coefficients[depth_]; }
    double value_at(std::int64_t stored) const { return dot(form(), store_z_[stored], forms_.coefficients.width()); }
    View<double> slack() const { return {forms_.slack[depth_], forms_.slack.width()}; }

    void visit(Room& room);
    void write(SignVectors& found) const;
    void push_row();
    void turn_row();
    void pop_row();
    void descend(std::int64_t witness);

    // Find the sign of the form at hand at the node's witness, and whether it has the other one inside the cell too.
    void decide(Room& room);
    bool decide_by_point(Room& room, double value);
    double leave_zero_set(Room& room);
    // The form, or minus it.
    Form signed_form(double side);
    Sides sides();
    Place witness() const { return {store_y_[nodes_[depth_].witness], store_z_[nodes_[depth_].witness]}; }
    Verdict ask(Room& room, double side);
    bool split(Room& room);
    std::int64_t between(Room& room, double side, double least);
    std::int64_t store(const Vector<double>& y, const Vector<double>& z);
    void keep_point(const Workspace& work);
    void learn(const Workspace& work, int sign);

    Forms forms_;
    // The rows of the node at hand: those of the cell, and of the forms that cut it on the way, with their names.
    Table<double> rows_;
    Vector<double> noise_;
    Table<double> slack_;
    Vector<std::int64_t> names_;
    Vector<double> row_signs_;
    std::int64_t num_fixed_ = 0;
    std::vector<Node> nodes_;
    // Bit by bit: which forms are positive on the way.
    Vector<std::uint64_t> words_;
    Table<double> store_y_, store_z_;
    std::size_t num_stored_ = 1;
    std::vector<Clauses> clauses_;
    std::array<std::int64_t, NUM_COUNTERS> counters_ = {};
    std::int64_t depth_ = 0;
    // Not kept: what can be computed again. Rows of the cell first, then the forms.
    KnownRows known_;
    Vector<double> signed_form_;
};

}  // namespace reluscope
