"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const say = (text) => { const live = one("#live"); if (live) live.textContent = text; };
  // Controls that do nothing without this script stay hidden without it.
  all("[data-needs-script]").forEach((part) => { part.hidden = false; });

  // The table of columns: sort by any heading, filter by name, or only those that changed.
  const table = one("#columns-table");
  if (table) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const headings = all("thead th", table);
    const key = (row, place) => {
      const cell = row.cells[place];
      const text = cell.dataset.sort;
      return text === undefined ? cell.textContent.trim().toLowerCase() : text === "" ? NaN : Number(text);
    };
    const compare = (p, q) => {
      if (typeof p === "string") return p.localeCompare(q);
      // Cells without a value come last in either direction.
      return Number.isNaN(p) ? (Number.isNaN(q) ? 0 : 1) : Number.isNaN(q) ? -1 : p - q;
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
        rows.sort((r, s) => {
          const p = key(r, place), q = key(s, place);
          const missing = typeof p === "number" && (Number.isNaN(p) || Number.isNaN(q));
          return (missing ? 1 : sign) * compare(p, q);
        });
        body.append(...rows);
        say("Sorted by " + button.textContent.trim() + ", " + now);
      });
    });
    const search = one("#columns-search");
    const only = one("#columns-changed");
    const count = one("#columns-count");
    const filter = () => {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row) => {
        const fits = one("th", row).textContent.toLowerCase().includes(wanted);
        row.hidden = !fits || (only.checked && !row.classList.contains("changed"));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = shown + " of " + rows.length + " columns shown";
    };
    if (search) {  // there is nothing to search among a few columns
      search.addEventListener("input", filter);
      only.addEventListener("change", filter);
      search.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && search.value) { search.value = ""; filter(); event.preventDefault(); }
      });
      filter();
    }
  }

  // A link to a drawing that is folded away unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (folded && !folded.open) { folded.open = true; target.scrollIntoView(); }
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

  // On paper everything is open.
  addEventListener("beforeprint", () => { all("details:not(.numbers)").forEach((part) => { part.open = true; }); });
})();
