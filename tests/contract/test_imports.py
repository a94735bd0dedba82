"""Imports point one way: what is nearer the records never imports what is nearer the user."""

import ast
from pathlib import Path

import privatree

ROOT = Path(privatree.__file__).parent

# What the package offers at its top.
SURFACE = (
    "audit",
    "baselines",
    "csv_dialect",
    "datasets",
    "errors",
    "estimators",
    "export",
    "model",
    "paper_estimator",
    "privacy",
    "report",
    "robustness",
    "schema",
    "sources",
)

# Each part of the package, and the parts of the package it may import besides itself.
ALLOWED = {
    "errors": set(),
    "privacy": {"compiling", "errors", "visible_text"},
    "atomic_files": set(),
    "near_names": set(),
    "visible_text": set(),
    "extras": {"errors"},
    "plotting": {"errors", "extras"},
    "json_files": {"errors"},
    "toml_files": {"atomic_files", "errors", "json_files", "visible_text"},
    "schema_values": {"errors"},
    "csv_dialect": {"errors", "near_names", "schema_values"},
    # Schema.infer opens frames
    "schema": {"csv_dialect", "errors", "schema_values", "sources", "toml_files"},
    "schema_draft": {"csv_dialect", "errors", "schema", "sources", "toml_files"},
    "sources": {
        "__init__",
        "compiling",
        "counts",
        "csv_dialect",
        "errors",
        "extras",
        "near_names",
        "privacy",
        "schema",
    },
    "candidates": {"errors", "schema"},
    "cache_folder": set(),
    "kernel_folder": {"cache_folder"},
    "compile_notice": set(),
    "compiling": {"compile_notice", "kernel_folder"},
    "count_kernels": {"compiling"},
    "counts": {"count_kernels"},
    "boxes": {"candidates", "counts"},
    "block_weights": {"candidates", "compiling", "privacy"},
    "block_precisely": {"block_weights", "boxes", "counts"},
    "block": {"block_precisely", "block_weights", "boxes", "counts", "privacy"},
    "upper_split": {"boxes", "compiling", "privacy"},
    "record_plan": {"privacy"},
    "gini": set(),
    "paper_budget": set(),
    "prediction": {"compiling", "errors", "tree"},  # tree: for the type only, never when running
    "tree": {"errors", "prediction", "schema"},
    "tree_building": {"errors", "schema", "tree"},
    "tree_json": {"errors", "schema", "tree", "tree_building"},
    "record_tree": {
        "block",
        "boxes",
        "candidates",
        "counts",
        "privacy",
        "record_plan",
        "schema",
        "tree",
        "tree_building",
        "upper_split",
    },
    "paper_tree": {"counts", "gini", "paper_budget", "privacy", "schema", "tree", "tree_building"},
    "release": {
        "atomic_files",
        "errors",
        "json_files",
        "privacy",
        "schema",
        "sources",
        "tree",
        "tree_json",
        "visible_text",
    },
    "model": {"errors", "export", "json_files", "release", "tree"},  # export: shown in a notebook
    "estimator_base": {"errors", "model", "privacy", "schema", "sources"},
    "estimators": {
        "candidates",
        "errors",
        "estimator_base",
        "model",
        "privacy",
        "record_plan",
        "record_tree",
        "schema",
        "sources",
        "tree",
    },
    "paper_estimator": {
        "errors",
        "estimator_base",
        "model",
        "paper_budget",
        "paper_tree",
        "privacy",
        "schema",
        "sources",
    },
    "baselines": {
        "counts",
        "errors",
        "estimator_base",
        "model",
        "privacy",
        "schema",
        "sources",
        "tree",
        "tree_building",
    },
    "audit": {
        "boxes",
        "candidates",
        "counts",
        "csv_dialect",
        "errors",
        "near_names",
        "privacy",
        "record_plan",
        "record_tree",
        "repetition",
        "schema",
        "sources",
        "tree",
        "tree_building",
    },
    "repetition": {"errors", "extras", "privacy"},
    "robustness": {
        "atomic_files",
        "compiling",
        "errors",
        "estimator_base",
        "json_files",
        "model",
        "plotting",
        "privacy",
        "repetition",
        "schema",
        "sources",
    },
    "export": {
        "__init__",
        "errors",
        "extras",
        "plotting",
        "privacy",
        "release",
        "schema",
        "sources",
        "tree",
        "visible_text",
    },
    "report": {
        "__init__",
        "errors",
        "export",
        "extras",
        "privacy",
        "release",
        "robustness",
        "schema",
        "tree",
        "visible_text",
    },
    "datasets": {"errors", "schema"},
    "experiments": {
        "__init__",
        "atomic_files",
        "baselines",
        "cache_folder",
        "datasets",
        "errors",
        "near_names",
        "paper_budget",
        "paper_tree",
        "plotting",
        "privacy",
        "robustness",
        "schema",
        "sources",
    },
    "cli": {
        "atomic_files",
        "audit",
        "compile_notice",
        "csv_dialect",
        "errors",
        "estimator_base",
        "privacy",
        "export",
        "extras",
        "datasets",
        "experiments",
        "near_names",
        "release",
        "repetition",
        "report",
        "robustness",
        "schema",
        "schema_draft",
        "sources",
        "visible_text",
        "__init__",
    },
    "__init__": set(SURFACE),
    "__main__": {"cli"},
}


def part_of(path):
    relative = path.relative_to(ROOT)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names = [node.module]
            if node.module == "privatree":
                names = [f"privatree.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == "privatree":
                part = name.split(".")[1] if "." in name else "__init__"
                is_part = (ROOT / part).is_dir() or (ROOT / f"{part}.py").exists()
                yield part if is_part else "__init__"


def test_every_part_is_named_and_imports_only_what_it_may():
    for path in sorted(ROOT.rglob("*.py")):
        part = part_of(path)
        assert part in ALLOWED, f"{part} is new: say what it may import"
        forbidden = set(imported_parts(path)) - ALLOWED[part] - {part}
        assert not forbidden, f"{path.relative_to(ROOT)} imports {sorted(forbidden)}"
