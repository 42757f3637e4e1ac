"""Train the network that ``reluscope demo`` looks at, and write its weights into the package.

    python scripts/train_demo_network.py

Takes ten seconds on one core. Deterministic on one machine; other versions of torch may end in other weights.
The file's metadata say with what and how well: accuracy on the 360 digits of the test part, which it never saw.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from reluscope.datasets import demo
from reluscope.datasets.digits import digits

EPOCHS = 60


def main() -> None:
    """Train, test, write."""
    """Train, measure, and write the weights."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, test = digits("train"), digits("test")
    x, y = torch.tensor(train.points, dtype=torch.float32), torch.tensor(train.labels)
    model = demo.DigitsNetwork()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        predicted = model.eval()(torch.tensor(test.points, dtype=torch.float32)).argmax(1)
    accuracy = float((predicted == torch.tensor(test.labels)).double().mean())
    weights = {name: tensor.detach().contiguous() for name, tensor in model.state_dict().items()}
    path = Path(demo.__file__).with_name(demo.WEIGHTS)
    save_file(weights, path, {"torch": torch.__version__, "test_accuracy": f"{accuracy:.4f}", "epochs": str(EPOCHS)})
    size, number = path.stat().st_size, sum(tensor.numel() for tensor in weights.values())
    print(f"{path.name}: {number:,} weights in {size:,} bytes, test accuracy {accuracy:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
