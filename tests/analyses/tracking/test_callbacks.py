"""A tracker in the loops of Lightning and of transformers; with the packages themselves, where they are installed."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import reluscope as rs
from analyses.tracking.runs import LABELS, POINTS, track

DATA = TensorDataset(torch.tensor(POINTS, dtype=torch.float32), torch.tensor(LABELS))


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 3))


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path):
    # The package itself, and not what stands in for it in other tests.
    pytest.importorskip("lightning.pytorch.callbacks")
    lightning = sys.modules["lightning.pytorch"]

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = net()

        def forward(self, x):
            return self.net(x)

        def training_step(self, batch, index):
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss, on_epoch=True, on_step=False)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 0.05)

    module = Module()
    with track(module, tmp_path / "run.parquet", keep_weights=True) as tracker:
        trainer = lightning.Trainer(
            max_epochs=4,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[rs.tracking.lightning_callback(tracker, every=2)],
        )
        trainer.fit(module, DataLoader(DATA, batch_size=20))
    records = rs.tracking.read_records(tmp_path / "run.parquet")
    assert records.epochs.tolist() == [1, 3]
    assert [row["step"] for row in records.rows] == [6, 12]
    assert np.isfinite(records.logged["loss"]).all()
    # The last record is the network that the training ended with.
    module.eval()
    assert records.rows[-1]["fingerprint"] == rs.load(module, 4).fingerprint


# In a process of its own: transformers would take the folder of our tests of datasets for the package of that name.
SCRIPT = """
import sys
import numpy as np
import torch
import transformers
from torch import nn
import reluscope as rs

folder, steps = sys.argv[1], int(sys.argv[2]) or None
torch.manual_seed(0)
points = np.random.default_rng(0).normal(size=(60, 4))
labels = (points[:, 0] * points[:, 1] > 0).astype(np.int64)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 2))

    def forward(self, x, labels):
        logits = self.net(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


model = Model()
rows = [{"x": torch.tensor(x, dtype=torch.float32), "labels": int(y)} for x, y in zip(points, labels)]
arguments = transformers.TrainingArguments(
    output_dir=folder + "/out", num_train_epochs=3, per_device_train_batch_size=20, learning_rate=0.05, logging_steps=3,
    save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
)
with rs.Tracker(model.net, points, folder + "/run.parquet", labels=labels, samples=40) as tracker:
    callback = rs.tracking.transformers_callback(tracker, steps=steps)
    transformers.Trainer(model, arguments, train_dataset=rows, callbacks=[callback]).train()
model.eval()
print(rs.load(model.net).fingerprint)
"""


@pytest.mark.parametrize("steps", [0, 4])
def test_transformers(tmp_path, steps):
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    records = rs.tracking.read_records(tmp_path / "run.parquet")
    assert [row["step"] for row in records.rows] == ([4, 8] if steps else [3, 6, 9])
    if not steps:
        assert records.epochs.tolist() == [1, 2, 3]
        # The last record is the network that the training ended with.
        assert records.rows[-1]["fingerprint"] == done.stdout.split()[-1]
    assert any(value is not None for value in records.logged["loss"])
    assert records["changed_units"][1] > 0
