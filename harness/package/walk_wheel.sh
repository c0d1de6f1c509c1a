#!/bin/sh
# What the wheel brings beside the programs, with a virtual environment that has it first on the PATH: the module, the
# plugin of pytest where pytest is, and observation. After walk.sh.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "walk: wheel of $(rharness --version) with $(python3 -c 'import platform; print(platform.python_version(), *platform.libc_ver())')"
[ "$(python3 -m rharness --version)" = "$(rharness --version)" ]
python3 -c 'import rharness; assert rharness.command("--version").stdout.strip() == rharness.__version__'
cat >train.py <<'EOT'
import random, sys, rharness
random.seed(int(sys.argv[1]))
with rharness.run() as run:
    run.curve("loss", [1 / (k + 1) + 1e-3 * random.random() for k in range(50)])
    run.metric("accuracy", 0.9 + 0.01 * random.random())
    run.states("end")
EOT
rharness --quiet record --out runs/a.json --family module --root . --code-file train.py --metrics auto --python-hooks \
  --metric accuracy,direction=higher,margin=0.01,primary --seed init=1 -- python3 train.py 1
grep -q '"state.random.end"' runs/a.json
grep -q 'random.seed' runs/a.json
rharness history add --history runs.db runs
rharness drill --history runs.db --out first
if python3 -c 'import pytest' 2>/dev/null; then
  cat >test_reproducible.py <<'EOT'
import random
import pytest

@pytest.mark.reproducible
def test_seeded(reproducible_run):
    random.seed(1)
    reproducible_run.metric("accuracy", random.random())

@pytest.mark.reproducible
def test_unseeded():
    return {"accuracy": random.random()}
EOT
  python3 -m pytest -q -p no:cacheprovider test_reproducible.py -k test_seeded
  code=0
  python3 -m pytest -q -p no:cacheprovider test_reproducible.py -k test_unseeded >failed.txt || code=$?
  [ "$code" = 1 ] && grep -q 'rharness compare ends with 1' failed.txt ||
    { cat failed.txt; echo "walk: the unseeded test did not fail as expected" >&2; exit 1; }
else
  echo "walk: no pytest here; its plugin was not tried"
fi
echo "walk: the wheel does"
