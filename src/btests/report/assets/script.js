"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const say = (text) => { const live = one("#live"); if (live) live.textContent = text; };
  // Controls that do nothing without this script stay hidden without it.
  all("[data-needs-script]").forEach((part) => { part.hidden = false; });

  // The table of columns, a body for each: sort by any heading, filter by name, or only those that changed, in pages.
  const table = one("#columns-table");
  let reveal = () => {};
  if (table) {
    const bodies = Array.from(table.tBodies);
    const headings = all("thead th", table).slice(0, bodies.length ? bodies[0].rows[0].cells.length : 0);
    const key = (body, place) => {
      const cell = body.rows[0].cells[place];
      const data = one("data", cell);
      const text = cell.dataset.sort || (data ? data.value : cell.textContent.trim().toLowerCase());
      const isNumber = headings[place].classList.contains("n");
      return !isNumber ? text : text === "" || Number.isNaN(Number(text)) ? NaN : Number(text);
    };
    const compare = (p, q) => {
      if (typeof p === "string") return p.localeCompare(q);
      // Cells without a value come last in either direction.
      return Number.isNaN(p) ? (Number.isNaN(q) ? 0 : 1) : Number.isNaN(q) ? -1 : p - q;
    };
    const search = one("#columns-search");
    const only = one("#columns-changed");
    const count = one("#columns-count");
    const more = one(".more-rows");
    const step = more ? Number(more.dataset.rows) : bodies.length;
    let limit = step;
    const show = () => {
      const wanted = search ? search.value.trim().toLowerCase() : "";
      let fitting = 0;
      bodies.forEach((body) => {
        const fits = one("th", body).textContent.toLowerCase().includes(wanted)
          && !(only && only.checked && !body.classList.contains("changed"));
        fitting += fits ? 1 : 0;
        body.hidden = !fits || fitting > limit;
      });
      const shown = Math.min(fitting, limit);
      if (count) count.textContent = shown + " of " + bodies.length + " columns shown";
      if (more) {
        more.hidden = shown === fitting;
        one("#columns-left").textContent = fitting - shown + " more. ";
        one("#columns-next").textContent = "Show " + Math.min(step, fitting - shown);
      }
    };
    headings.forEach((heading, place) => {
      const button = one("button", heading);
      if (!button) return;
      button.addEventListener("click", () => {
        const was = heading.getAttribute("aria-sort");
        const first = heading.dataset.first || "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const now = was === first ? other : first;
        headings.forEach((h) => { if (one("button", h)) h.setAttribute("aria-sort", "none"); });
        heading.setAttribute("aria-sort", now);
        const sign = now === "ascending" ? 1 : -1;
        bodies.sort((r, s) => {
          const p = key(r, place), q = key(s, place);
          const missing = typeof p === "number" && (Number.isNaN(p) || Number.isNaN(q));
          return (missing ? 1 : sign) * compare(p, q);
        });
        table.append(...bodies);
        show();
        say("Sorted by " + button.textContent.trim() + ", " + now);
      });
    });
    const again = () => { limit = step; show(); };
    if (search) {  // there is nothing to search among a few columns
      search.addEventListener("input", again);
      only.addEventListener("change", again);
      search.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && search.value) { search.value = ""; again(); event.preventDefault(); }
      });
    }
    if (more) {
      one("#columns-next").addEventListener("click", () => { limit += step; show(); });
      one("#columns-all").addEventListener("click", () => { limit = bodies.length; show(); });
    }
    reveal = (body) => {
      if (!body.hidden) return;
      if (search) { search.value = ""; only.checked = false; }
      limit = bodies.length;
      show();
    };
    show();
  }

  // A link to a drawing that is folded away unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (!folded) return;
    const body = target.closest("#columns-table > tbody");
    if (body) reveal(body);
    if (!folded.open) { folded.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  unfold();

  const copy = one("#copy");
  if (copy) {
    copy.addEventListener("click", async () => {
      const text = one("#command");
      try {
        await navigator.clipboard.writeText(text.textContent);
        say("Command copied");
        copy.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(text);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        copy.textContent = "Selected: press Ctrl+C";
      }
    });
  }

  const save = one("#save");
  if (save) {
    save.addEventListener("click", () => {
      const text = JSON.stringify(JSON.parse(one("#comparison").textContent), null, 2) + "\n";
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = "comparison.json";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  }

  // On paper what changed most is open.
  addEventListener("beforeprint", () => { all("details.print").forEach((part) => { part.open = true; }); });
})();
