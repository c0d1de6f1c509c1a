#!/bin/sh
# Records RUNS runs (3) of train.py that differ in their seed alone: runs/, and the history runs.db.
# Arguments are further options of `rharness record`.
set -e
for seed in $(seq 1 "${RUNS:-3}"); do
  rharness --quiet record --out runs/mlp-$seed.json --run-id mlp-$seed --family mlp --code-file train.py \
    --data train=data/train.csv --data test=data/test.csv --weights model.safetensors --keep kept \
    --metrics metrics.json --metric test_accuracy,direction=higher,margin=0.01,primary,on=test \
    --metric test_loss,direction=lower,margin=0.005,primary,on=test \
    --seed init=$seed --python-hooks "$@" -- python3 train.py --seed $seed
done
rharness --quiet history add --history runs.db runs
