"""Published methods that choose splits by the records.

::

    _sulq_id3.py            SuLQ ID3: the best counts under Gaussian noise
    _sulq_based_id3.py      SuLQ-based ID3: the best counts under Laplace noise
    _diffpid3.py            DiffPID3 and DiffP-C4.5: splits by the exponential mechanism
    _diffgen.py             DiffGen: a table is generalised, then specialised
    _dt_diff.py             DT-Diff: the same with one draw for each step
    _dpdf.py                DPDF: a sensitivity at noisy counts
    _rana.py                the forest of Rana and others: every tree spends all of epsilon
    _adiffp.py              ADiffP: the budget of a split follows from a noisy size
    _dpgdf.py               DPGDF: labels by smooth sensitivity
    _bdpt.py                BDPT: a sensitivity at a noisy size
    _train_single_tree.py   TrainSingleTree of DPBoost: gains of gradients
"""
