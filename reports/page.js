"use strict";
(function () {
  function say(button, word) {
    const before = button.textContent;
    button.textContent = word;
    setTimeout(() => { button.textContent = before; }, 1500);
  }
  function select(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const chosen = window.getSelection();
    chosen.removeAllRanges();
    chosen.addRange(range);
  }
  document.querySelectorAll("pre.cmd").forEach((pre) => {
    const command = pre.textContent;
    const code = document.createElement("span");
    code.textContent = command;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this command");
    button.addEventListener("click", () => {
      const failed = () => { select(code); say(button, "Selected"); };
      if (!navigator.clipboard) return failed();
      navigator.clipboard.writeText(command).then(() => say(button, "Copied"), failed);
    });
    pre.replaceChildren(button, code);
  });
})();
(function () {
  const bar = document.querySelector(".filter");
  const bodies = Array.from(document.querySelectorAll(".runs > tbody"));
  if (!bar || bodies.length === 0) return;
  const table = bodies[0].parentNode;
  const kSeconds = { ms: 0.001, s: 1, min: 60, h: 3600, d: 86400 };
  const text = bar.querySelector("input");
  const verdict = bar.querySelector("select");
  const shown = bar.querySelector("output");
  const words = bodies.map((body) => body.rows[0].textContent.toLowerCase());
  function apply() {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    bodies.forEach((body, i) => {
      const hit = (verdict.value === "" || body.classList.contains(verdict.value)) && words[i].includes(wanted);
      body.hidden = !hit;
      if (hit) count += 1;
    });
    shown.textContent = count + " of " + bodies.length + " shown";
  }
  function openAll() {
    document.querySelectorAll(".runs > tbody:not([hidden]) details").forEach((d) => { d.open = true; });
  }
  function openTarget() {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    const details = target && target.querySelector("details");
    if (details) details.open = true;
  }
  // A column of verdicts sorts by severity, which is the order of the page; numbers may be durations.
  function keyOf(column, numeric) {
    return (body, i) => {
      if (bodies[0].rows[0].cells[column].querySelector(".b")) return i;
      const cell = body.rows[0].cells[column].textContent;
      if (!numeric) return cell;
      const parts = Array.from(cell.replace(/,/g, "").matchAll(/([\d.]+) ?(ms|s|min|h|d)?\b/g));
      if (parts.length === 0) return null;
      return parts.reduce((sum, part) => sum + part[1] * (kSeconds[part[2]] || 1), 0);
    };
  }
  function sortBy(head, column) {
    const down = head.getAttribute("aria-sort") === "ascending";
    const key = keyOf(column, head.classList.contains("n"));
    const rows = bodies.map((body, i) => ({ body: body, key: key(body, i), i: i }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.i - b.i;
      const order = typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true });
      return (down ? -order : order) || a.i - b.i;
    });
    head.parentNode.querySelectorAll("th").forEach((th) => { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.forEach((row) => { table.appendChild(row.body); });
  }
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sortBy(head, column));
    head.replaceChildren(button);
  });
  text.addEventListener("input", apply);
  verdict.addEventListener("change", apply);
  bar.querySelector("button").addEventListener("click", openAll);
  window.addEventListener("beforeprint", openAll);
  window.addEventListener("hashchange", openTarget);
  bar.hidden = false;
  apply();
  openTarget();
})();
