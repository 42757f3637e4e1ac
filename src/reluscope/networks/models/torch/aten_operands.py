"""Operators of the table, as ATen writes them: operands and settings by their names in the schema."""

from types import SimpleNamespace

from reluscope.networks.building.builder import Value
from reluscope.networks.models.operators.operator_table import ENTRYWISE, OVER_AXES, NamedSetting, OperatorRow
from reluscope.networks.models.torch.aten_site import AtenSite, Handler, lowers


def _entrywise(row: OperatorRow) -> Handler:
    def handler(site: AtenSite, a: SimpleNamespace) -> Value:
        def read(setting: NamedSetting) -> float | str | None:
            found = None if setting.aten is None else getattr(a, setting.aten)
            return found if found is None or isinstance(found, str) else float(found)

        operands = [getattr(a, name) for name in row.operands if hasattr(a, name)]
        return row.meaning(site, *site.sides(*operands), **row.settings_by(read))

    return handler


def _over_axes(row: OperatorRow) -> Handler:
    def handler(site: AtenSite, a: SimpleNamespace) -> Value:
        axes = site.axes(a.self, getattr(a, "dim", None))
        return row.meaning(site, a.self, axes, keepdims=getattr(a, "keepdim", False))

    return handler


for _row in ENTRYWISE:
    lowers(*_row.aten, entrywise=True)(_entrywise(_row))
for _row in OVER_AXES:
    lowers(*_row.aten)(_over_axes(_row))
