"""For the test of dashboards: each file through the models that Grafana publishes, and back.

    grafana_models.py FILE...

Prints a sentence for whatever of a file those models do not hold, or hold otherwise.
"""

import json
import pathlib
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard, Panel


def lost(where, ours, theirs):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in ours.items():
            if value is None and name not in theirs:
                continue  # what is null is as if it were not there
            if name not in theirs:
                yield f"{where}.{name}: no member of that name"
            else:
                yield from lost(f"{where}.{name}", value, theirs[name])
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (one, other) in enumerate(zip(ours, theirs)):
            yield from lost(f"{where}[{at}]", one, other)
    elif ours != theirs:
        yield f"{where}: {ours!r} became {theirs!r}"


register_default_plugins()
for name in sys.argv[1:]:
    data = json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
    dashboard = Dashboard.from_json(data)
    back = json.loads(JSONEncoder(sort_keys=True).encode(dashboard))
    for sentence in lost(pathlib.Path(name).name, data, back):
        print(sentence)
    newest = Dashboard().schema_version
    if data["schemaVersion"] != newest:
        print(f"{name}: schema version {data['schemaVersion']}, and {newest} is the newest")
    # A panel whose type has no model is an open dictionary, of which nothing is held to anything.
    for panel in dashboard.panels:
        if not isinstance(panel, Panel) or isinstance(panel.options, dict):
            print(f"{name}: {getattr(panel, 'title', panel)} is no panel that is known")
