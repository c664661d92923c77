// Sorts tables and cards, and filters them. The page is whole without it.
"use strict";
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  // Numbers before words, words as people sort them.
  const compare = (a, b) => {
    const [x, y] = [a, b].map((value) => (value.trim() === "" ? NaN : Number(value)));
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return a.localeCompare(b, undefined, { numeric: true });
  };
  const tell = (name, shown, of, what) => {
    const status = document.querySelector(`[data-status="${name}"]`);
    if (status) status.textContent = `${shown} of ${of} ${what} shown`;
  };
  // On paper nothing can be opened, so all is open while it is printed.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));

  all(".controls").forEach((controls) => { controls.hidden = false; });

  // Tables: every heading of a sortable table becomes a button.
  all("table.sortable").forEach((table) => {
    const headings = all("thead th", table);
    const body = table.tBodies[0];
    const key = (row, column) => {
      const cell = row.cells[column];
      return cell ? cell.dataset.value ?? cell.textContent : "";
    };
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = heading.getAttribute("aria-sort");
        const numbers = heading.classList.contains("number");
        const order = before ? (before === "ascending" ? "descending" : "ascending") : numbers ? "descending" : "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = Array.from(body.rows);
        rows.sort((a, b) => sign * compare(key(a, column), key(b, column)));
        body.append(...rows);
      });
    });
  });

  // Tables with a field to filter them.
  all("input[data-filters]").forEach((field) => {
    const rows = Array.from(document.getElementById(field.dataset.filters).tBodies[0].rows);
    const filter = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
      tell(field.dataset.filters, rows.filter((row) => !row.hidden).length, rows.length, "groups");
    };
    field.addEventListener("input", filter);
    filter();
  });

  // The gallery.
  const list = document.getElementById("cards");
  const form = document.querySelector("form.controls");
  if (!list || !form) return;
  const cards = Array.from(list.children);
  const texts = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));
  const filters = all("select[data-filter]", form);
  filters.filter((filter) => filter.options.length === 1).forEach((filter) => {
    const values = new Set(cards.map((card) => card.dataset[filter.dataset.filter]).filter((value) => value !== ""));
    Array.from(values).sort(compare).forEach((value) => filter.add(new Option(value, value)));
  });
  const field = (name) => form.querySelector(`[${name}]`);
  const update = () => {
    const words = field("data-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    cards.forEach((card) => {
      const chosen = filters.every((filter) => !filter.value || card.dataset[filter.dataset.filter] === filter.value);
      card.hidden = !chosen || !words.every((word) => texts.get(card).includes(word));
    });
    const [key, sign] = [field("data-sort").value, field("data-order").value === "up" ? 1 : -1];
    const sorted = cards.slice().sort((a, b) => {
      const [x, y] = [a.dataset[key] ?? "", b.dataset[key] ?? ""];
      // What has no value comes last, whichever way the others go.
      if ((x === "") !== (y === "")) return x === "" ? 1 : -1;
      return sign * compare(x, y);
    });
    list.append(...sorted);
    tell("cards", cards.filter((card) => !card.hidden).length, cards.length, "inputs");
  };
  form.addEventListener("input", update);
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
})();
