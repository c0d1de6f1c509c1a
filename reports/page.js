"use strict";
(function () {
  const bar = document.querySelector(".filter");
  const bodies = Array.from(document.querySelectorAll(".runs > tbody"));
  if (!bar || bodies.length === 0) return;
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
  text.addEventListener("input", apply);
  verdict.addEventListener("change", apply);
  bar.querySelector("button").addEventListener("click", openAll);
  window.addEventListener("beforeprint", openAll);
  window.addEventListener("hashchange", openTarget);
  bar.hidden = false;
  apply();
  openTarget();
})();
