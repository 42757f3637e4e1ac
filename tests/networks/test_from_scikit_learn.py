"""Perceptrons of scikit-learn, with scalers before them, against what they predict."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

import reluscope as rs
from reluscope.errors import InputError, NotPiecewiseLinearError, ShapeError
from reluscope.networks.models import from_scikit_learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)) * [1.0, 50.0, 0.01] + [0.0, 1000.0, 5.0]
X[:, 2] = np.round(X[:, 2], 2)
VALUES = np.stack([X[:, 0] ** 2, X[:, 1] / 50], axis=1)


def fitted(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def perceptron(kind=MLPClassifier, **settings):
    return kind(**{"hidden_layer_sizes": (6, 4), "max_iter": 30, "random_state": 0, **settings})


@pytest.mark.parametrize("num_classes", [2, 3])
@pytest.mark.parametrize("activation", ["relu", "identity"])
def test_classifiers(num_classes, activation):
    labels = np.array(["a", "b", "c"])[np.arange(80) % num_classes]
    model = fitted(make_pipeline(StandardScaler(), perceptron(activation=activation)), labels)
    net = rs.load(model, data=X)
    assert net.num_outputs == (1 if num_classes == 2 else 3)
    assert (model.classes_[rs.classification.predicted_classes(net, X)] == model.predict(X)).all()
    assert net.num_units == (10 if activation == "relu" else 0)
    assert ("sigmoid" if num_classes == 2 else "softmax") in net.notes[0]
    assert "a, b" in net.notes[1]


def test_several_labels_at_once():
    net = rs.load(fitted(make_pipeline(StandardScaler(), perceptron()), VALUES.mean(0) < VALUES))
    assert net.num_outputs == 2
    assert "label of its own" in net.notes[-1]


SCALERS = [
    StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False), MinMaxScaler((-1, 2)),
    MaxAbsScaler(), RobustScaler(), RobustScaler(with_centering=False, with_scaling=False), "passthrough",
]  # fmt: skip


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_regressors_behind_scalers(scaler):
    model = fitted(make_pipeline(scaler, RobustScaler(), perceptron(MLPRegressor)), VALUES)
    expected = model.predict(X)
    np.testing.assert_allclose(rs.load(model)(X), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_one_target_and_no_scaler():
    model = fitted(perceptron(MLPRegressor), VALUES[:, 0])
    np.testing.assert_allclose(rs.load(model, 3)(X)[:, 0], model.predict(X))


def test_what_is_refused():
    labels = np.arange(80) % 2
    with pytest.raises(InputError, match="that ends in one, got RandomForestClassifier"):
        rs.load(RandomForestClassifier().fit(X, labels))
    with pytest.raises(InputError, match="expected a fitted MLPClassifier"):
        rs.load(MLPClassifier())
    for activation, replaced in (("tanh", "tanh"), ("logistic", "sigmoid")):
        with pytest.raises(NotPiecewiseLinearError, match=f"has '{activation}'.*approximate={{'{replaced}': 32}}"):
            rs.load(fitted(perceptron(activation=activation, max_iter=1), labels))
    search = fitted(GridSearchCV(perceptron(max_iter=1), {"alpha": [0.1]}, cv=2), labels)
    with pytest.raises(InputError, match=r"got GridSearchCV: give what it holds, model\.best_estimator_"):
        rs.load(search)
    assert rs.load(search.best_estimator_).num_units == 10
    with pytest.raises(InputError, match="step 'polynomialfeatures' is PolynomialFeatures: load the perceptron alone"):
        rs.load(fitted(make_pipeline(PolynomialFeatures(), perceptron()), labels))
    with pytest.raises(InputError, match="is MinMaxScaler with clip=True"):
        rs.load(fitted(make_pipeline(MinMaxScaler(clip=True), perceptron()), labels))
    model = fitted(perceptron(), labels)
    with pytest.raises(ShapeError, match="as the model was fitted"):
        rs.load(model, 4)
    with pytest.raises(InputError, match="leave output and inputs out"):
        rs.load(model, output=0)
    model.coefs_[0][0, 0] = np.nan
    with pytest.raises(InputError, match="coefs_"):
        rs.load(model)


def test_a_wrong_scaler_is_seen(monkeypatch):
    """A planted fault: the centre is forgotten."""
    model = fitted(make_pipeline(StandardScaler(), perceptron(MLPRegressor)), VALUES)
    monkeypatch.setitem(from_scikit_learn._SCALERS, "StandardScaler", ("", "scale_"))
    with pytest.raises(rs.errors.ConversionMismatchError):
        rs.load(model)
