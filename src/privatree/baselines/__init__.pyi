from privatree.baselines._published_tree import PublishedClassifier
from privatree.baselines._random_tree import RandomTreeClassifier
from privatree.baselines.greedy._adiffp import ADiffP
from privatree.baselines.greedy._bdpt import BDPTClassifier
from privatree.baselines.greedy._diffgen import DiffGen
from privatree.baselines.greedy._diffpid3 import DiffPC45, DiffPID3
from privatree.baselines.greedy._dpdf import DPDF
from privatree.baselines.greedy._dpgdf import DPGDFClassifier
from privatree.baselines.greedy._dt_diff import DTDiff
from privatree.baselines.greedy._rana import RanaForest
from privatree.baselines.greedy._sulq_based_id3 import SuLQBasedID3
from privatree.baselines.greedy._sulq_id3 import SuLQID3
from privatree.baselines.greedy._train_single_tree import TrainSingleTree
from privatree.baselines.growing._method import PublishedMethod
from privatree.baselines.random_forests._dprf import DPRFMV, DPRFTA
from privatree.baselines.random_forests._private_rdt import PrivateRDT
from privatree.baselines.random_forests._smooth_random_trees import SmoothRandomTrees

__all__ = [
    "DPDF",
    "DPRFMV",
    "DPRFTA",
    "ADiffP",
    "BDPTClassifier",
    "DPGDFClassifier",
    "DTDiff",
    "DiffGen",
    "DiffPC45",
    "DiffPID3",
    "PrivateRDT",
    "PublishedClassifier",
    "PublishedMethod",
    "RanaForest",
    "RandomTreeClassifier",
    "SmoothRandomTrees",
    "SuLQBasedID3",
    "SuLQID3",
    "TrainSingleTree",
]
