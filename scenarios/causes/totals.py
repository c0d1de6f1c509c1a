"""What a cause is worth: right or wrong of a case, and the totals of many with their intervals.

Role: pure. States of a case: "measured"; "unmoved", where the machine's kernels gave the same bits both ways; "skipped";
"broken", where the plant did not grow. Only what is measured counts.
"""

import math
import re

SAID = ("shown", "likely")
COUNTS = ("first", "three", "wrong")


def _text(cause):
    return "\n".join([cause["statement"], *cause.get("evidence", ())])


def _names(pattern, cause):
    return bool(pattern) and re.search(pattern, _text(cause), re.IGNORECASE) is not None


def is_right(case, cause):
    """Layer and word agree with what was planted."""
    return cause["layer"] in (case.layer, *case.layers) and _names(case.right, cause)


def is_wrong(case, cause):
    """Said as likely, and neither right, nor a true consequence, nor merely vague: of the layer that was planted, and
    without a fact that differs (which would be another subject: "KEY: X in A, Y in B")."""
    if cause.get("strength") not in SAID or is_right(case, cause) or any(_names(one, cause) for one in case.also):
        return False
    vague = cause["layer"] == case.layer and not _names(r": .* in A, .* in B", cause)
    return not vague or _names(case.innocent, cause)


def judged(case, found):
    """A row of the table."""
    row = {"number": case.number, "name": case.name, "layer": case.layer, "framework": case.framework,
           "planted": case.planted, "right": case.right, "half": "development" if case.number % 2 else "held-out"}
    if "skipped" in found or "broken" in found:
        state = "skipped" if "skipped" in found else "broken"
        return row | {"state": state, "why": found[state]}
    causes = found["causes"]
    row |= {key: found[key] for key in ("verdict", "headline", "seconds") if key in found}
    row |= {"state": "measured", "causes": causes[:3],
            "wrong": [cause for cause in causes if is_wrong(case, cause)]}
    if case.layer == "none":
        quiet = found["verdict"] == "identical" and not causes
        return row | {"first": quiet, "three": quiet}
    if found["verdict"] == "identical":
        if case.kernels:
            return row | {"state": "unmoved", "why": "the same bits both ways"}
        return row | {"state": "broken", "why": "what was planted moved nothing"}
    marks = [is_right(case, cause) for cause in causes[:3]]
    row |= {"first": marks[:1] == [True], "three": any(marks)}
    if case.isolate is not None:
        row |= {"isolated": found["isolated"], "isolated_right": found["isolated"] == sorted(case.isolate)}
        row["isolated_wrong"] = bool(found["isolated"]) and not row["isolated_right"]
    return row


def interval(successes, number):
    """Wilson's, 95 %."""
    if number == 0:
        return 0.0, 1.0
    z, share = 1.959963984540054, successes / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number)) / (1 + z * z / number)
    return max(0.0, middle - half), min(1.0, middle + half)


def _counted(rows):
    counted = [row for row in rows if row["state"] == "measured"]
    answer = {"cases": len(rows), "measured": len(counted)}
    for name in COUNTS:
        hits = sum(1 for row in counted if row[name])
        low, high = interval(hits, len(counted))
        answer[name] = {"cases": hits, "share": hits / len(counted) if counted else None, "low": low, "high": high}
    answer["first_by_reason"] = sum(1 for row in counted if row["first"] and row["causes"][:1] and "by_reason" in row["causes"][0])
    asked = [row for row in counted if "isolated_right" in row]
    hits = sum(1 for row in asked if row["isolated_right"])
    answer["isolate"] = {"asked": len(asked), "right": hits, "wrong": sum(row["isolated_wrong"] for row in asked)}
    return answer


def summary(rows):
    """The document of all rows with their totals, and the totals as text."""
    groups = {"all": rows}
    for key in ("half", "layer", "framework"):
        for value in dict.fromkeys(row[key] for row in rows):
            groups[f"{key} {value}"] = [row for row in rows if row[key] == value]
    totals = {name: _counted(group) for name, group in groups.items()}
    lines = [f"{'':24} cases measured  right first               in first three            wrong as likely           isolate"]
    for name, total in totals.items():
        cells = [f"{total[key]['cases']:3} ({total[key]['share'] or 0:4.0%}; {total[key]['low']:3.0%} to {total[key]['high']:4.0%})"
                 for key in COUNTS]
        lines.append(f"{name:24} {total['cases']:5} {total['measured']:8}  " + "   ".join(f"{cell:23}" for cell in cells)
                     + f"{total['isolate']['right']} of {total['isolate']['asked']}, {total['isolate']['wrong']} wrong")
    if totals["all"]["first_by_reason"]:
        lines.append(f"right first by the reason of a refusal, which no cause says again: {totals['all']['first_by_reason']}")
    for state in ("unmoved", "skipped", "broken"):
        for row in rows:
            if row["state"] == state:
                lines.append(f"{state}: {row['name']}: {row['why']}")
    return {"totals": totals, "cases": rows}, "\n".join(lines)


def lines_of(row):
    """A case for people."""
    if row["state"] != "measured":
        return f"{row['state']:8} {row['number']:3} {row['name']}: {row['why']}"
    mark = "first" if row["first"] else "three" if row["three"] else "MISSED"
    wrong = ", WRONG AS LIKELY" if row["wrong"] else ""
    isolated = f"\n             isolate: {', '.join(row['isolated']) or 'none'}" if "isolated" in row else ""
    lines = [f"{mark:8} {row['number']:3} {row['name']} ({row['layer']}, {row['framework']}): {row['planted']}{wrong}",
             f"             {row['verdict']}: {row['headline'][:140]}"]
    for cause in [*row["causes"], *(one for one in row["wrong"] if one not in row["causes"])]:
        sign = "!" if cause in row["wrong"] else " "
        lines.append(f"           {sign} {cause['layer']}, {'by its reason' if 'by_reason' in cause else cause.get('strength', '')} [{cause['code']}]: {cause['statement'][:150]}"
                     + (f" | {'; '.join(cause.get('evidence', ()))[:150]}" if cause.get("evidence") else ""))
    return "\n".join(lines) + isolated
