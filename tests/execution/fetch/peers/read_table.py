"""What delta-rs reads of a table: read_table.py FOLDER [VERSION] prints "VERSION SUM_OF_A"."""
import os
import sys

import pyarrow as pa
from deltalake import DeltaTable

table = DeltaTable(sys.argv[1], version=int(sys.argv[2])) if len(sys.argv) > 2 else DeltaTable(sys.argv[1])
rows = table.to_pyarrow_table()
print(table.version(), sum(pa.table(rows)["a"].to_pylist()), flush=True)
os._exit(0)  # its threads may outlive the interpreter, and abort
