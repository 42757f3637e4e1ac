#include "sign_tree.hpp"

namespace reluscope {
namespace {

constexpr std::uint64_t MAX_CLAUSES = 256;
constexpr std::size_t WORD = 64;
// No search counts further.
constexpr std::int64_t MOST_STEPS = std::int64_t{1} << 60;
// A point shows that a form has its other sign if it lies so far beyond, relative to the witness.
constexpr double GOOD_POINT = 0.05;

std::uint64_t bit_of(std::size_t form) { return std::uint64_t{1} << (form % WORD); }

}  // namespace

int Clauses::implied(View<std::uint64_t> signs) const {
    const std::uint64_t* clause = words_.data();
    for (std::size_t c = 0; c < signs_.size(); ++c, clause += 2 * signs.size()) {
        bool holds = true;
        for (std::size_t w = 0; w < signs.size() && holds; ++w) holds = (signs[w] & clause[2 * w]) == clause[2 * w + 1];
        if (holds) return signs_[c];
    }
    return 0;
}

bool Clauses::are_sound(std::size_t num_words) const {
    return signs_.size() == std::min(met_, MAX_CLAUSES) && words_.size() == 2 * num_words * signs_.size() &&
           std::all_of(signs_.begin(), signs_.end(), [](auto sign) { return sign == 1 || sign == -1; });
}

void Clauses::learn(View<std::uint64_t> used, View<std::uint64_t> signs, int sign) {
    const std::size_t slot = met_++ % MAX_CLAUSES;
    if (slot >= signs_.size()) {
        signs_.resize(slot + 1);
        words_.resize(2 * signs.size() * (slot + 1));
    }
    signs_[slot] = static_cast<std::int8_t>(sign);
    std::uint64_t* clause = words_.data() + 2 * signs.size() * slot;
    for (std::size_t w = 0; w < signs.size(); ++w) {
        clause[2 * w] = used[w];
        clause[2 * w + 1] = signs[w] & used[w];
    }
}

SignTree::SignTree(const Frame& frame, Cell cell, Forms forms)
    : forms_(std::move(forms)),
      rows_(std::move(cell.rows)),
      noise_(std::move(cell.noise)),
      slack_(std::move(cell.slack)),
      names_(rows_.size()),
      row_signs_(rows_.size(), 1.0),
      num_fixed_(static_cast<std::int64_t>(rows_.size())),
      nodes_(forms_.size() + 1),
      words_(std::max<std::size_t>(1, (forms_.size() + WORD - 1) / WORD), 0),
      store_y_(1, frame.num_columns()),
      store_z_(1, frame.size()),
      clauses_(forms_.size()) {
    for (std::int64_t i = 0; i < num_fixed_; ++i) names_[i] = i;
    std::copy(cell.witness.begin(), cell.witness.end(), store_y_[0]);
    frame.image(store_y_[0], store_z_[0]);
    forget();
}

bool SignTree::are_sizes_sound() const {
    const std::size_t number = forms_.size(), size = store_z_.width(), num_rows = rows_.size();
    for (const std::size_t other : {forms_.coefficients.size(), forms_.slack.size(), forms_.threshold.size(),
                                    forms_.is_constant.size(), forms_.is_doubtful.size(), clauses_.size()})
        if (other != number) return false;
    for (const std::size_t other : {noise_.size(), slack_.size(), names_.size(), row_signs_.size()})
        if (other != num_rows) return false;
    return size > 0 && num_columns() > 0 && forms_.coefficients.width() == size && rows_.width() == size &&
           forms_.slack.width() == slack_.width() && nodes_.size() == number + 1 &&
           words_.size() == std::max<std::size_t>(1, (number + WORD - 1) / WORD) &&
           store_y_.size() == store_z_.size() && num_stored_ > 0 && num_stored_ <= store_y_.size() && num_fixed_ >= 0 &&
           static_cast<std::size_t>(num_fixed_) <= num_rows && depth_ >= -1 && depth_ <= num_forms();
}

bool SignTree::is_sound(const Node& node) const {
    const auto is_stored = [&](std::int64_t point) { return point >= 0 && static_cast<std::size_t>(point) < num_stored_; };
    return is_stored(node.witness) && node.num_points <= MAX_POINTS && node.num_stored > 0 &&
           node.num_stored <= num_stored_ && (node.phase != FIRST || (node.is_cut && is_stored(node.second))) &&
           std::all_of(node.points.begin(), node.points.begin() + node.num_points, is_stored);
}

bool SignTree::is_sound() const {
    if (!are_sizes_sound()) return false;
    // The rows are those of the cell, and of the forms that cut it on the way.
    auto row = static_cast<std::size_t>(num_fixed_);
    for (std::size_t i = 0; i < row; ++i)
        if (names_[i] != static_cast<std::int64_t>(i)) return false;
    for (std::int64_t d = 0; d <= depth_; ++d) {
        const Node& node = nodes_[d];
        if (!is_sound(node) || (d < depth_ && node.phase == NEW) || (d == num_forms() && node.phase != NEW)) return false;
        if (node.phase == NEW || !node.is_cut) continue;
        if (row == names_.size() || names_[row++] != num_fixed_ + d) return false;
    }
    return row == names_.size() &&
           std::all_of(nodes_.begin(), nodes_.end(),
                       [](const Node& node) {
                           return node.phase >= NEW && node.phase <= SECOND && node.sign >= -1 && node.sign <= 1;
                       }) &&
           std::all_of(clauses_.begin(), clauses_.end(),
                       [&](const Clauses& clauses) { return clauses.are_sound(words_.size()); }) &&
           std::all_of(counters_.begin(), counters_.end(),
                       [](std::int64_t counter) { return counter >= 0 && counter <= MOST_STEPS; });
}

void SignTree::forget() {
    known_.forget(num_fixed_ + forms_.size(), store_y_.width());
    signed_form_.resize(store_z_.width());
}

std::int64_t SignTree::num_open() const {
    if (is_done()) return 0;
    const auto is_first = [](const Node& node) { return node.phase == FIRST; };
    const bool is_new = depth_ == num_forms() || nodes_[depth_].phase == NEW;
    return std::count_if(nodes_.begin(), nodes_.begin() + depth_, is_first) + (is_new || is_first(nodes_[depth_]));
}

SignVectors SignTree::take(Room& room, std::size_t most, std::int64_t most_steps) {
    SignVectors found{{0, forms_.size()}, {0, forms_.size()}, {0, num_columns()}};
    const std::int64_t last = num_steps() + std::min(most_steps, MOST_STEPS);
    while (!is_done() && found.signs.size() < most && num_steps() <= last) {
        if (depth_ == num_forms()) {
            write(found);
            --depth_;
        } else {
            visit(room);
        }
    }
    return found;
}

void SignTree::write(SignVectors& found) const {
    std::uint8_t *signs = found.signs.add(), *is_cut = found.is_cut.add();
    for (std::size_t f = 0; f < forms_.size(); ++f) {
        signs[f] = nodes_[f].sign > 0;
        is_cut[f] = nodes_[f].is_cut;
    }
    std::copy_n(store_y_[nodes_[depth_].witness], num_columns(), found.witnesses.add());
}

void SignTree::visit(Room& room) {
    Node& node = this->node();
    switch (node.phase) {
        case NEW:
            ++counters_[NODES];
            decide(room);
            node.phase = node.is_cut && node.second >= 0 ? FIRST : SECOND;
            if (node.is_cut) push_row();
            descend(node.witness);
            break;
        case FIRST:
            node.phase = SECOND;
            node.sign = static_cast<std::int8_t>(-node.sign);
            turn_row();
            descend(node.second);
            break;
        case SECOND:
            if (node.is_cut) pop_row();
            num_stored_ = node.num_stored;
            --depth_;
            break;
    }
}

void SignTree::push_row() {
    const double sign = node().sign;
    double* row = rows_.add();
    for (std::size_t k = 0; k < rows_.width(); ++k) row[k] = sign * form()[k];
    noise_.push_back(forms_.noise[depth_]);
    std::copy_n(forms_.slack[depth_], slack_.width(), slack_.add());
    names_.push_back(num_fixed_ + depth_);
    row_signs_.push_back(sign);
}

void SignTree::turn_row() {
    double* row = rows_[rows_.size() - 1];
    for (std::size_t k = 0; k < rows_.width(); ++k) row[k] = -row[k];
    row_signs_.back() = -row_signs_.back();
}

void SignTree::pop_row() {
    rows_.resize(rows_.size() - 1);
    noise_.pop_back();
    slack_.resize(slack_.size() - 1);
    names_.pop_back();
    row_signs_.pop_back();
}

// Go to the child on the present side of a form, with the points that lie there.
void SignTree::descend(std::int64_t witness) {
    const Node& here = nodes_[depth_];
    Node& child = nodes_[depth_ + 1];
    std::uint64_t& word = words_[depth_ / WORD];
    word = here.sign > 0 ? word | bit_of(depth_) : word & ~bit_of(depth_);
    child.num_points = 0;
    for (std::size_t i = 0; i < here.num_points; ++i)
        if (!here.is_cut || here.sign * value_at(here.points[i]) >= 0.0)
            child.points[child.num_points++] = here.points[i];
    child.witness = witness;
    child.phase = NEW;
    // The second child comes later and needs what was stored for it.
    child.num_stored = num_stored_;
    ++depth_;
}

void SignTree::decide(Room& room) {
    Node& node = this->node();
    const double noise = forms_.noise[depth_];
    node.is_cut = false;
    double value = value_at(node.witness);
    if (forms_.is_constant[depth_]) {
        node.sign = value > noise ? 1 : -1;
        counters_[UNDECIDED_FORMS] += forms_.is_doubtful[depth_];
        return;
    }
    if (const int known = clauses_[depth_].implied(words_)) {
        node.sign = static_cast<std::int8_t>(known);
        ++counters_[BY_CLAUSE];
        return;
    }
    if (std::abs(value) <= 2.0 * noise_at(noise, slack(), witness().y)) {
        value = leave_zero_set(room);
        if (value == 0.0) return;
    }
    node.sign = value > 0.0 ? 1 : -1;
    if (decide_by_point(room, value)) return;
    const Verdict verdict = ask(room, -node.sign);
    if (verdict == Verdict::some) {
        keep_point(room.work);
        if (split(room)) return;
    }
    if (verdict == Verdict::none) {
        learn(room.work, node.sign);
    } else {
        // The other side is given up, but this cell must not reach across.
        ++counters_[UNDECIDED_FORMS];
        node.is_cut = true;
        node.second = NONE;
    }
}

// Whether a point that an earlier question ended at lies well on the other side.
bool SignTree::decide_by_point(Room& room, double value) {
    const Node& node = this->node();
    const double least = std::max(forms_.threshold[depth_], 2.0 * forms_.noise[depth_]);
    double reach = std::max(least, GOOD_POINT * std::abs(value));
    std::int64_t best = NONE;
    for (std::size_t i = 0; i < node.num_points; ++i) {
        const double there = -node.sign * value_at(node.points[i]);
        if (there > reach) {
            best = node.points[i];
            reach = there;
        }
    }
    if (best == NONE) return false;
    std::copy_n(store_y_[best], num_columns(), room.work.out_y.begin());
    std::copy_n(store_z_[best], store_z_.width(), room.work.out_z.begin());
    if (!split(room)) return false;
    ++counters_[BY_POINT];
    return true;
}

// Move a witness at which the form vanishes to one where it does not; 0 if there is none, and then decide.
double SignTree::leave_zero_set(Room& room) {
    bool is_undecided = false;
    for (const double side : {1.0, -1.0}) {
        const Verdict verdict = ask(room, side);
        if (verdict == Verdict::some) {
            keep_point(room.work);
            const auto moved = between(room, side, 0.0);
            if (moved != NONE) {
                node().witness = moved;
                return value_at(moved);
            }
        }
        is_undecided |= verdict != Verdict::none;
    }
    node().sign = -1;
    counters_[UNDECIDED_FORMS] += is_undecided;
    return 0.0;
}

Form SignTree::signed_form(double side) {
    for (std::size_t k = 0; k < signed_form_.size(); ++k) signed_form_[k] = side * form()[k];
    return {signed_form_.data(), forms_.noise[depth_], slack(), forms_.threshold[depth_]};
}

Sides SignTree::sides() {
    return {{rows_[0], rows_.size(), rows_.width()},
            noise_,
            {slack_[0], slack_.size(), slack_.width()},
            known_,
            names_,
            row_signs_};
}

// Look for a point of the cell where the form has the given sign, or for a proof that there is none.
Verdict SignTree::ask(Room& room, double side) {
    const Frame& frame = room.work.frame;
    const Sides sides = this->sides();
    const Form form = signed_form(side);
    const Question question{form, sides, witness(), static_cast<std::size_t>(num_fixed_ + depth_), side};
    ++counters_[PROGRAMS];
    if (!frame.is_identity()) {
        const Answer answer = find_among_corners(question, room.work, room.corners, room.program);
        counters_[CORNERS] += answer.steps;
        if (answer.verdict != Verdict::undecided) return answer.verdict;
    }
    const Answer answer = find_positive(question, room.work);
    counters_[PIVOTS] += answer.steps;
    return answer.verdict;
}

// Make a witness on the other side of a form, on the way to a point of the closed cell that lies there.
bool SignTree::split(Room& room) {
    Node& node = this->node();
    const double side = -node.sign, start = std::abs(value_at(node.witness));
    const double end = side * dot(form(), room.work.out_z.data(), store_z_.width());
    const auto made = between(room, side, start / (start + end));
    if (made == NONE) return false;
    node.second = made;
    node.is_cut = true;
    return true;
}

// Store a strictly interior point on the way from the witness to the point of the workspace; NONE without one.
std::int64_t SignTree::between(Room& room, double side, double least) {
    Workspace& work = room.work;
    const Sides sides = this->sides();
    const Form form = signed_form(side);
    const Question question{form, sides, witness()};
    if (!inner_point(question, work.frame, work.out_y.data(), least, work.y.data(), work.z.data())) return NONE;
    return store(work.y, work.z);
}

std::int64_t SignTree::store(const Vector<double>& y, const Vector<double>& z) {
    if (num_stored_ == store_y_.size()) {
        store_y_.add();
        store_z_.add();
    }
    std::copy(y.begin(), y.end(), store_y_[num_stored_]);
    std::copy(z.begin(), z.end(), store_z_[num_stored_]);
    return static_cast<std::int64_t>(num_stored_++);
}

// Keep the point that a question ended at, for this node and those below, in place of the oldest one if need be.
void SignTree::keep_point(const Workspace& work) {
    Node& node = this->node();
    if (node.num_points == MAX_POINTS) {
        std::copy(node.points.begin() + 1, node.points.end(), node.points.begin());
        --node.num_points;
    }
    node.points[node.num_points++] = store(work.out_y, work.out_z);
}

// Keep which forms proved the sign of the one at hand.
void SignTree::learn(const Workspace& work, int sign) {
    Vector<std::uint64_t> used(words_.size(), 0);
    for (std::size_t i = num_fixed_; i < names_.size(); ++i) {
        const std::size_t other = names_[i] - num_fixed_;
        if (work.multipliers[i] > 0.0) used[other / WORD] |= bit_of(other);
    }
    clauses_[depth_].learn(used, words_, sign);
}

}  // namespace reluscope
