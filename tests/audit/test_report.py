import dataclasses
import json

import pytest

from privatree.audit import AuditReport, Finding

NAMED = Finding(
    "purity",
    "stopping where all records have one class",
    2.8881,
    "the root splits on f0",
    learned=False,
    counts=(150, 0),
    runs=150,
    sizes=(200, 201),
)
NOTHING = Finding("outlier", "ranges taken from the records", 0.0, "the tree: always 0",
                  learned=True, counts=(75, 74), runs=75, sizes=(40, 41))  # fmt: skip


def report(*findings, claimed=1.0, **more):
    return AuditReport(findings or (NAMED, NOTHING), 150, 0.99, claimed, **more)


def test_the_worst_finding_is_what_counts():
    for one in (report(NAMED, NOTHING), report(NOTHING, NAMED)):
        assert (one.worst, one.lower_bound) == (NAMED, 2.8881)
        assert one.event == "the root splits on f0"
        assert one["outlier"] is NOTHING
        assert one.refuted
    with pytest.raises(KeyError):
        report()["other"]


@pytest.mark.parametrize(
    ("claimed", "refuted"), [(1.0, True), (2.888, True), (2.8881, False), (3, False), (None, False)]
)
def test_a_claim_is_refuted_by_a_bound_above_it(claimed, refuted):
    assert report(claimed=claimed).refuted is refuted


def test_the_text_says_what_was_looked_for_found_and_follows():
    expected = """\
purity: epsilon >= 2.88
  looks for: stopping where all records have one class
  tables: 200 and 201 records
  event, named by theory: the root splits on f0
  seen: 150 times in 150 trainings on the first table, 0 times in 150 on the second
outlier: epsilon >= 0.00
  looks for: ranges taken from the records
  tables: 40 and 41 records
  no event told the tables apart

With 99% confidence, the real epsilon is at least 2.88: the claim of 1 is false for whole records.
"""
    assert f"{report()}\n" == expected
    assert repr(report()) == "<AuditReport: epsilon >= 2.88, 2 pairs>"


def test_a_learned_event_and_replaced_records_are_said_to_be_so():
    replaced = dataclasses.replace(NAMED, learned=True, sizes=(40, 40))
    assert "event, learned from other trainings: the root" in str(report(replaced))
    assert "tables: 40 records each, one of them replaced\n" in str(report(replaced))
    twice = dataclasses.replace(replaced, changes=2)
    assert "one of them replaced, which counts as one removed and one added\n" in str(report(twice))


def test_lines_are_no_longer_than_a_screen_is_wide():
    long = dataclasses.replace(NAMED, event="the tree: " + "if x <= 0.5 then 0 else 1; or " * 30)
    lines = str(report(long)).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.startswith("    ") for line in lines[4:10])


def test_the_verdict_never_says_that_a_claim_is_proved():
    assert report(claimed=3).verdict == (
        "With 99% confidence, the real epsilon is at least 2.88. That does not contradict the "
        "claim of 3, and does not prove it either: an audit finds mistakes, it cannot show that "
        "there are none. With so many trainings no bound much above 2.9 can come out: more are "
        "needed to test this claim."
    )
    assert report(claimed=None).verdict == (
        "With 99% confidence, the real epsilon is at least 2.88."
    )
    assert "the real epsilon with delta 1e-05 is at least" in report(delta=1e-5).verdict


@pytest.mark.parametrize(
    ("bound", "claimed", "printed"),
    [
        (0.0, 1.0, "0.00"),
        (1.9999, 2.0, "1.99"),
        (1.0034, 1.0, "1.003"),
        (0.02357, 0.01, "0.0235"),
        (0.00002, None, "0.0000"),
        (1.0 + 2**-50, 1.0, "1.000000000000000"),
        (12.345, 1.0, "12.34"),
    ],
)
def test_bounds_are_rounded_down_and_stay_above_a_claim_that_they_refute(bound, claimed, printed):
    verdict = report(dataclasses.replace(NAMED, lower_bound=bound), claimed=claimed).verdict
    shown = verdict.split("at least ")[1].split()[0].rstrip(".:")
    assert shown.startswith(printed)
    assert float(shown) <= bound
    assert claimed is None or bound <= claimed or float(shown) > claimed


def test_a_pair_of_units_is_told_by_the_unit_on_one_line():
    printed = report(dataclasses.replace(NAMED, unit="person\nid"))
    assert "200 and 201 records, which differ by all records of one person id" in str(printed)
    assert printed.verdict.endswith(" is false for all records of one person id.")


def test_it_can_be_written_as_json():
    written = json.loads(json.dumps(report(skipped=("first-row",)).to_dict()))
    assert {name: value for name, value in written.items() if name != "findings"} == {
        "format": "privatree-audit",
        "version": 1,
        "claimed_epsilon": 1.0,
        "delta": 0.0,
        "lower_bound": 2.8881,
        "refuted": True,
        "confidence": 0.99,
        "runs": 150,
        "skipped": ["first-row"],
    }
    assert written["findings"][0] == {
        "pair": "purity",
        "after": "stopping where all records have one class",
        "lower_bound": 2.8881,
        "event": "the root splits on f0",
        "learned": False,
        "counts": [150, 0],
        "runs": 150,
        "sizes": [200, 201],
        "changes": 1,
        "unit": None,
    }
