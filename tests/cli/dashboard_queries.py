"""For the test of dashboards: asks a real Prometheus whatever Grafana would ask it for them.

    dashboard_queries.py PROMETHEUS FOLDER

Prints one JSON object: how many panels, variables and queries there are, the names of the series that are asked for, and
a sentence for whatever is empty, or asks for a label that is not there.
"""

import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

server, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []
asked = {"panels": 0, "variables": 0, "queries": 0, "names": set()}
SELECTOR = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
NOBODY = "no such family"
# Totals, which have no label family: to ask for any family finds them, and to ask for one does not.
OF_ALL = "rharness_slo_all_"


def ask(path, **parameters):
    url = f"{server}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        failures.append(f"{parameters}: {error.read().decode()}")
        return []


def quoted(value):
    """One value of a variable in a matcher, as Grafana puts it there: for a regular expression in a string."""
    return re.sub(r"([\\^$*+?.()|\[\]{}/])", r"\\\\\1", value)


def with_values(query, values):
    for name, value in values.items():
        query = re.sub(rf"\$({name}\b|\{{{name}\}})", value.replace("\\", "\\\\"), query)
    return query


def series_of(target, query):
    """The series of a query, each with its labels and whether any of its samples is a number."""
    if target.get("instant"):
        got = ask("query", query=query)
        rows = [(one["metric"], [one["value"]]) for one in got["result"]] if got else []
    else:
        now = time.time()
        got = ask("query_range", query=query, start=now - 10, end=now, step=1)
        rows = [(one["metric"], one["values"]) for one in got["result"]] if got else []
    return [(labels, any(value != "NaN" for _, value in samples)) for labels, samples in rows]


def look_at_labels(where, query):
    for name, matchers in SELECTOR.findall(query):
        asked["names"].add(name)
        there = {label for one in ask("series", **{"match[]": name}) for label in one}
        for label in MATCHER.findall(matchers):
            if label not in there and not (label == "family" and name.startswith(OF_ALL)):
                failures.append(f"{where}: no series of {name} has a label {label}")


def look_at_panel(where, panel, values):
    for target in panel["targets"]:
        expression = target["expr"]
        here = f"{where}, {panel['title']}, {target['refId']}"
        look_at_labels(here, expression)
        for choice in ({name: ".*" for name in values}, {name: quoted(one[0]) for name, one in values.items() if one}):
            asked["queries"] += 1
            query = with_values(expression, choice)
            rows = series_of(target, query)
            if "$" in query:
                failures.append(f"{here}: of a variable that is not there: {query}")
            if not any(number for _, number in rows):
                failures.append(f"{here}: {'no number' if rows else 'nothing'} for {query}")
            for label in re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")):
                if any(label not in labels for labels, _ in rows):
                    failures.append(f"{here}: the legend names {label}, which not all have")
        if "$family" in expression:
            rows = series_of(target, with_values(expression, {"history": ".*", "family": NOBODY}))
            if any(number for _, number in rows):
                failures.append(f"{here}: is the same for a family that is not there")


def values_of(where, variable, values):
    asked["variables"] += 1
    match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
    if not match:
        failures.append(f"{where}: {variable['query']}")
        return []
    selector = with_values(match[1], {name: quoted(one[0]) for name, one in values.items() if one})
    found = ask(f"label/{match[2]}/values", **{"match[]": selector})
    if not found:
        failures.append(f"{where}: no value of ${variable['name']} in {selector}")
    return found


files = sorted(folder.glob("*.json"))
for path in files:
    dashboard = json.loads(path.read_text(encoding="utf-8"))
    values = {}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            values[variable["name"]] = values_of(path.name, variable, values)
    for panel in dashboard["panels"]:
        asked["panels"] += 1
        look_at_panel(path.name, panel, values)
print(json.dumps({"files": len(files), **asked, "names": sorted(asked["names"]), "failures": failures}, indent=1))
