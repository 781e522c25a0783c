"""The golden model of a MAC unit."""

from __future__ import annotations

import copy

import pytest

import guardbit
from conftest import DIGITS


def test_a_rail_is_reached_and_left():
    unit = guardbit.MacUnit("fpga-int14-os", terms=12)
    assert (unit.lanes, unit.terms, unit.levels) == (1, 12, ["acc"])
    held = []
    for weight in [100] * 6 + [-100] * 6:
        unit.step([20], [weight])
        held.append(unit.level(0).acc)
    # 14 bits end at 8191: the fifth addition saturates.
    assert held[:6] == [2000, 4000, 6000, 8000, 8191, 8191]
    assert (unit.sum, unit.exact, held[-1]) == (8191 - 12000, 0, 8191 - 12000)
    last = unit.level(0)
    assert (last.exact, last.updated, last.high, last.low, last.sticky) == (0, True, False, False, True)
    assert repr(last) == "LevelOutputs(acc=-3809, exact=0, updated=True, high=False, low=False, sticky=True)"


@pytest.mark.parametrize("duplicate", [guardbit.MacUnit.copy, copy.copy, copy.deepcopy])
def test_copies_go_their_own_way(duplicate):
    unit = guardbit.MacUnit("fpga-int14-os", terms=2, activation="uint8", activation_zero_point=128)
    unit.set_multiplier(0.5)
    unit.set_output(1, -128, 127)
    unit.step([100], [1])
    saved = duplicate(unit)
    unit.step([1], [1])
    assert (unit.sum, unit.code) == (101, 52)
    assert saved.sum is None
    saved.step([0], [1])
    assert (saved.sum, saved.code) == (100, 51)


def test_a_bundle_opens(images, tmp_path):
    bundle = guardbit.vectors(DIGITS / "digits_int8.tflite", "fpga-int14-os", 0, images[:1], cases=1, out=tmp_path / "bundle")
    assert guardbit.MacUnit.from_bundle(bundle.folder).terms == 9


def test_errors_say_why():
    unit = guardbit.MacUnit("fpga-int14-os", terms=1)
    for call, text in [
        (lambda: guardbit.MacUnit("fpga-int14", terms=1), "fpga-int14"),
        (lambda: guardbit.MacUnit("fpga-int14-os", terms=0), "0 terms"),
        (lambda: guardbit.MacUnit("fpga-int14-os", terms=1, weight="int9"), "int9"),
        (lambda: unit.step([1, 2], [1, 2]), "has 2 products; expected 1"),
        (lambda: unit.step([1], [1000]), "1000 does not fit 8 bits"),
        (lambda: unit.set_bias(2**40), "32 bits"),
        (lambda: unit.code, "without a multiplier"),
    ]:
        with pytest.raises(guardbit.GuardbitError, match=text):
            call()
    with pytest.raises(IndexError, match="1 levels"):
        unit.level(1)
