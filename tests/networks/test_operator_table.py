"""The table of operators speaks of operators, operands and settings that PyTorch and ONNX have."""

import inspect

import onnx
import pytest
import torch

from reluscope.networks.models.onnx.onnx_lowering import HANDLERS as ONNX_HANDLERS
from reluscope.networks.models.operators.operator_site import Handlers
from reluscope.networks.models.operators.operator_table import ENTRYWISE, OVER_AXES, NamedSetting
from reluscope.networks.models.operators.refused_operators import is_refused
from reluscope.networks.models.torch.aten_lowering import HANDLERS as ATEN_HANDLERS

ROWS = [*ENTRYWISE, *OVER_AXES]


def schemas(name):
    packet = getattr(torch.ops.aten, name)
    return [getattr(packet, overload)._schema for overload in packet.overloads()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row.aten + row.onnx))
def test_rows_name_what_the_front_ends_have(row):
    assert row.aten or row.onnx
    named = {name: one for name, one in row.settings.items() if isinstance(one, NamedSetting)}
    for operator in row.aten:
        arguments = [{argument.name for argument in schema.arguments} for schema in schemas(operator)]
        assert any({row.operands[0]} | {one.aten for one in named.values() if one.aten} <= names for names in arguments)
    for operator in row.onnx:
        attributes = onnx.defs.get_schema(operator, onnx.defs.onnx_opset_version()).attributes
        for one in named.values():
            if one.onnx is not None:
                default = onnx.helper.get_attribute_value(attributes[one.onnx].default_value)
                default = default.decode() if isinstance(default, bytes) else pytest.approx(default)
                assert one.default == default


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row.aten + row.onnx))
def test_settings_are_parameters_of_the_meaning(row):
    parameters = inspect.signature(row.meaning).parameters
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        assert row.settings.keys() <= parameters.keys()


def test_no_operator_is_lowered_twice():
    handlers = Handlers()
    handlers.lowers("Relu")(len)
    with pytest.raises(ValueError, match="Relu is lowered twice"):
        handlers.lowers("Relu")(len)


def test_only_smooth_operators_are_both_lowered_and_refused():
    smooth = {"gelu", "silu", "mish", "hardswish", "softplus", "sigmoid", "tanh"}
    smooth |= {"Gelu", "Swish", "Mish", "HardSwish", "Softplus", "Sigmoid", "Tanh"}
    smooth |= {"ArgMax", "ArgMin"}  # whose error has the name of what is loaded in their place
    assert {name for name in (*ATEN_HANDLERS, *ONNX_HANDLERS) if is_refused(name)} == smooth
