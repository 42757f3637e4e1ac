import io
import pickle
import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from networks.models import layers, seeded
from reluscope.errors import ConversionMismatchError, InputError, ShapeError
from reluscope.networks.building.verification import verify
from reluscope.networks.models.load import load
from reluscope.networks.models.torch import from_torch
from reluscope.networks.models.torch.aten_site import HANDLERS


def small():
    return seeded(lambda: nn.Sequential(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.Flatten(), nn.Linear(6, 3))).eval()


def program(batch=3, dynamic=False):
    shapes = ({0: torch.export.Dim("batch")},) if dynamic else None
    return torch.export.export(small(), (torch.ones(batch, 1, 4),), dynamic_shapes=shapes)


class Planted:
    """What a malicious pickle does when it is read."""

    ran = False

    def __reduce__(self):
        return (_run, ())


def _run():
    Planted.ran = True
    return torch.zeros(2)


class TestPrograms:
    @pytest.mark.few(2)
    @pytest.mark.parametrize("dynamic", [False, True])
    @pytest.mark.parametrize("batch", [2, 5])
    def test_equal_the_module(self, tmp_path, batch, dynamic):
        net = load(small(), (1, 4))
        exported = program(batch, dynamic)
        assert load(exported).fingerprint == net.fingerprint
        torch.export.save(exported, tmp_path / "model.pt2")
        loaded = load(tmp_path / "model.pt2")
        assert loaded.fingerprint == net.fingerprint
        assert loaded.verification.reference == "model.pt2 in float64"
        assert load(str(tmp_path / "model.pt2"), input_shape=(1, 4)).fingerprint == net.fingerprint

    def test_batch_of_one(self):
        assert load(program(1)).fingerprint == load(small(), (1, 4)).fingerprint

    def test_other_weights(self):
        net = load(program())
        other = {key: 2 * value for key, value in small().state_dict().items()}
        model = small()
        model.load_state_dict(other)
        assert net.with_parameters(other).fingerprint == load(model, (1, 4)).fingerprint

    def test_casts_inside(self):
        class Cast(nn.Module):
            def forward(self, x):
                return x.double().float().relu() / 3

        net = load(torch.export.export(Cast(), (torch.ones(2, 3),)))
        assert net([[1.0, 2.0, -1.0]]).tolist() == [[1 / 3, 2 / 3, 0.0]]
        assert any("float32 was read as the identity" in note for note in net.notes)

    def test_wrong_shape(self):
        with pytest.raises(ShapeError, match=r"input_shape \(1, 4\) as the program was exported, got \(1, 5\)"):
            load(program(), (1, 5))

    def test_open_shape(self):
        sizes = ({0: torch.export.Dim("batch"), 2: torch.export.Dim("width", min=3, max=64)},)
        model = nn.Sequential(nn.Conv1d(1, 2, 2), nn.ReLU()).eval()
        exported = torch.export.export(model, (torch.ones(3, 1, 4),), dynamic_shapes=sizes)
        with pytest.raises(InputError, match="leaves it open"):
            load(exported)
        assert load(exported, (1, 9)).output_shape == (2, 8)


class TestFiles:
    @pytest.mark.parametrize("suffix", ["pt", "pth", "pkl", "ckpt"])
    def test_pickles_are_not_read(self, tmp_path, suffix):
        path = tmp_path / f"model.{suffix}"
        path.write_bytes(pickle.dumps(Planted()))
        with pytest.raises(InputError, match=r"a pickle, which can run any code: .*safetensors.*torch\.export"):
            load(path)
        assert not Planted.ran

    def test_state_dicts_are_told_what_to_do(self, tmp_path):
        state = nn.Linear(2, 1).state_dict()
        with pytest.raises(InputError, match=r"got a state dict.*model\.load_state_dict\(state\)"):
            load(state)
        torch.save(state, tmp_path / "state.pt")
        with pytest.raises(InputError, match=r"if it holds a state dict, fill the model with it.*--weights FILE"):
            load(tmp_path / "state.pt")

    def test_missing_folders_and_unknown(self, tmp_path):
        with pytest.raises(InputError, match=r"nothing.pt2 does not exist"):
            load(tmp_path / "nothing.pt2")
        (tmp_path / "folder.onnx").mkdir()
        with pytest.raises(InputError, match="is a folder"):
            load(tmp_path / "folder.onnx")
        (tmp_path / "model.h5").write_bytes(b"")
        with pytest.raises(InputError, match=r"ends in .onnx or .pt2, got model.h5"):
            load(tmp_path / "model.h5")

    @pytest.mark.parametrize("keep", [0, 10, 1000, 0.5, 0.99])
    def test_truncated(self, tmp_path, keep):
        path = tmp_path / "model.pt2"
        torch.export.save(program(), path)
        content = path.read_bytes()
        path.write_bytes(content[: int(keep * len(content)) if keep < 1 else keep])
        with pytest.raises(InputError, match=r"expected a complete \.pt2 file"):
            load(path)


class TestArchivesThatWouldRunCode:
    def tampered(self, tmp_path, change):
        """Write a .pt2 file with some members changed: name -> bytes or a function of the old bytes."""
        path = tmp_path / "model.pt2"
        torch.export.save(program(dynamic=True), path)
        result = io.BytesIO()
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(result, "w") as new:
            seen = []
            for name in old.namelist():
                content = old.read(name)
                for key, edit in change.items():
                    if key in name:
                        content, seen = edit(content), [*seen, key]
                new.writestr(name, content)
        assert set(seen) == set(change)
        path.write_bytes(result.getvalue())
        return path

    @pytest.mark.few(4)
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"model_weights_config.json": lambda old: old.replace(b'"use_pickle": false', b'"use_pickle": true')},
             "a pickled object"),
            ({"model_weights_config.json": lambda old: old.replace(b"weight_0", b"opaque_obj_0")}, "a pickled object"),
            ({"sample_inputs": lambda old: pickle.dumps(Planted())}, "a pickle of more than tensors"),
            ({"models/model.json": lambda old: old.replace(b"Symbol('", b"exec('import os#")}, "no plain expression"),
            ({"models/model.json": lambda old: old.replace(b"Symbol('", b"().__class__.mro('")}, "no plain expression"),
            ({"models/model.json": lambda old: old.replace(b"Symbol('", b"open('")}, "no plain expression"),
        ],
    )  # fmt: skip
    def test_are_refused(self, tmp_path, change, words):
        with pytest.raises(InputError, match=words):
            load(self.tampered(tmp_path, change))
        assert not Planted.ran

    def test_the_untouched_copy_loads(self, tmp_path):
        path = self.tampered(tmp_path, {"models/model.json": lambda old: old})
        # Python's archive writer does not align members as PyTorch's does; the content is what is looked at.
        try:
            assert load(path).num_units == 6
        except InputError as error:
            assert "that this PyTorch" in str(error)  # noqa: PT017


class TestVerification:
    def test_a_planted_fault_is_found(self, monkeypatch):
        original = HANDLERS["relu"]
        monkeypatch.setitem(HANDLERS, "relu", lambda site, a: site.builder.add(original(site, a), 1e-7))
        with pytest.raises(ConversionMismatchError, match=r"output \d is .* in the network and .* at the point \["):
            load(small(), (1, 4))

    def test_a_fault_behind_a_softmax_is_found(self, monkeypatch):
        original = HANDLERS["relu"]
        monkeypatch.setitem(HANDLERS, "relu", lambda site, a: site.builder.add(original(site, a), 1.0))
        with pytest.raises(ConversionMismatchError):
            load(nn.Sequential(nn.ReLU(), nn.Softmax(-1)), (4,))

    def test_not_a_number_is_a_mismatch(self):
        net = load(layers([2, 3, 1]))
        with pytest.raises(ConversionMismatchError, match="nan in the model"):
            verify(net, lambda x: torch.full((len(x), 1), torch.nan), name="nothing")
        with pytest.raises(ConversionMismatchError, match="expected 2 outputs"):
            verify(net, lambda x: torch.zeros(len(x), 2), name="nothing")

    def test_the_model_is_really_run(self, monkeypatch):
        seen = []
        original = from_torch._trace_program

        def watched(*args, **kwargs):
            trace = original(*args, **kwargs)
            seen.append(trace)
            return trace

        monkeypatch.setattr(from_torch, "_trace_program", watched)

        class Doubled(nn.Module):  # what it does is in its forward, and not in a chain of layers
            def __init__(self):
                super().__init__()
                self.inner = small()

            def forward(self, x):
                return 2 * self.inner(x)

        net = load(Doubled().eval(), (1, 4))
        assert len(seen) == 1
        assert net.verification.reference == "the module in float64"


@pytest.mark.parametrize("thing", [3, None, {"weights": 1}, object()])
def test_anything_else_is_refused(thing):
    with pytest.raises(InputError, match="expected a module, an exported program, a path"):
        load(thing)


def cancelling():
    """Return a network of sums of 1e12 that cancel, and its parameters."""
    generator = np.random.default_rng(0)
    first, half = 1e6 * generator.normal(size=(32, 3)), 1e6 * generator.normal(size=(2, 32))
    first, last = np.concatenate([first, first]), np.concatenate([half, -half], axis=1)
    return load([(first, np.zeros(64)), (last, np.ones(2))]), first, last


def test_networks_that_cancel_strongly_are_no_mismatch():
    network, first, last = cancelling()
    order = np.random.default_rng(1).permutation(64)

    def in_another_order(x):
        hidden = np.maximum(x.numpy() @ first.T, 0.0)[:, order]
        return torch.tensor(hidden @ last[:, order].T + 1.0)

    found = verify(network, in_another_order, name="the sums in another order")
    assert found.largest_deviation > 1e-6


def test_a_wrong_weight_is_a_mismatch_though_sums_cancel():
    network, first, last = cancelling()
    last[0, 0] *= 1 + 1e-6
    with pytest.raises(ConversionMismatchError, match="expected the network to agree"):
        verify(network, load([(first, np.zeros(64)), (last, np.ones(2))]), name="another network")


def test_outputs_that_overflow_are_refused():
    layers = [(np.array([[1e300, 1e300]]), np.zeros(1)), (np.array([[1e300]]), np.zeros(1))]
    with pytest.raises(InputError, match="expected outputs that float64 can hold, but output 0 of the model is inf"):
        load(layers)
