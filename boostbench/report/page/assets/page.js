"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  /* ---- Theme: automatic, light, dark ---- */
  const theme = $("theme");
  const THEMES = ["automatic", "light", "dark"];
  const wear = (name) => {
    if (name === "automatic") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    theme.textContent = `Theme: ${name}`;
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? "automatic";
    wear(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
  });

  /* ---- Contents: open where they have a column of their own ---- */
  const wide = matchMedia("(min-width: 60.01rem)");
  const unfold = () => { $("contents").open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();
  $("contents").addEventListener("click", (event) => {
    if (event.target.closest("a") && !wide.matches) $("contents").open = false;
  });

  /* ---- Sorting: ascending, descending, the paper's order ---- */
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const words = new Intl.Collator("en", { numeric: true });
  const sort = (table, head) => {
    const order = NEXT[head.getAttribute("aria-sort")];
    for (const other of table.heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", order);
    const index = head.cellIndex;
    const sign = order === "descending" ? -1 : 1;
    const value = (row) => row.cells[index].dataset.value;
    const compare = (a, b) => {
      if (index === 0) return sign * words.compare(a.cells[0].textContent, b.cells[0].textContent);
      const [x, y] = [value(a), value(b)];
      // What has no number stands last in either direction.
      if (x === "" || y === "") return (x === "") - (y === "");
      return sign * (x - y);
    };
    const rows = order === "none" ? table.rows : table.rows.toSorted(compare);
    table.body.append(...rows);
  };
  const tables = all("table.cells").map((element) => {
    const table = {
      element,
      body: element.tBodies[0],
      rows: [...element.tBodies[0].rows],
      heads: all(".heads th", element),
      section: element.closest(".result"),
    };
    for (const head of table.heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, head));
    }
    return table;
  });

  /* ---- Details of a cell: on hover, focus and tap ---- */
  const narrow = matchMedia("(max-width: 36rem)");
  let kept = null; // the details that a click, tap or Enter keeps open
  let timer = 0;
  const place = (details, button) => {
    details.style.margin = 0;
    if (narrow.matches) {
      details.style.inset = "auto 0.5rem 0.5rem";
      return;
    }
    const at = button.getBoundingClientRect();
    const [width, height, gap] = [details.offsetWidth, details.offsetHeight, 6];
    const within = (start, length, room) => Math.max(8, Math.min(start, room - length - 8));
    const [right, bottom] = [document.documentElement.clientWidth, innerHeight];
    let left = within(at.left, width, right);
    let top = within(at.top, height, bottom);
    if (at.bottom + gap + height <= bottom) top = at.bottom + gap;
    else if (at.top - gap - height >= 0) top = at.top - gap - height;
    else left = at.right + gap + width <= right ? at.right + gap : Math.max(8, at.left - gap - width);
    details.style.inset = `${top}px auto auto ${left}px`;
  };
  const isOpen = (details) => details.matches(":popover-open");
  const show = (button) => {
    clearTimeout(timer);
    const details = button.popoverTargetElement;
    if (!isOpen(details)) details.showPopover();
    place(details, button);
  };
  const hide = (button) => {
    const details = button.popoverTargetElement;
    if (details !== kept && isOpen(details)) details.hidePopover();
  };
  for (const button of all("button.cell")) {
    const details = button.popoverTargetElement;
    button.addEventListener("click", (event) => {
      event.preventDefault();
      if (kept === details && isOpen(details)) details.hidePopover();
      else {
        kept = details;
        show(button);
      }
    });
    details.addEventListener("toggle", (event) => {
      if (event.newState === "closed" && kept === details) kept = null;
    });
    button.addEventListener("focus", () => { if (button.matches(":focus-visible")) show(button); });
    button.addEventListener("blur", () => hide(button));
    for (const element of [button, details]) {
      element.addEventListener("pointerenter", (event) => {
        clearTimeout(timer);
        if (event.pointerType !== "mouse" || kept) return;
        timer = setTimeout(show, isOpen(details) ? 0 : 150, button);
      });
      element.addEventListener("pointerleave", (event) => {
        clearTimeout(timer);
        if (event.pointerType === "mouse") timer = setTimeout(hide, 150, button);
      });
    }
  }
  // Details go with their cell, and away with it.
  addEventListener("scroll", (event) => {
    const details = document.querySelector(".details:popover-open");
    if (!details || narrow.matches || details.contains(event.target)) return;
    const button = details.previousElementSibling;
    const { top, bottom } = button.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight) place(details, button);
    else details.hidePopover();
  }, { capture: true, passive: true });

  /* ---- Arrow keys: one stop of the Tab key per table ---- */
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const stop = (table) => {
    const buttons = all("button.cell", table.body);
    const seen = buttons.filter((button) => !button.closest("tr[hidden], td[hidden], .other"));
    const current = seen.find((button) => button.tabIndex === 0) ?? seen[0];
    for (const button of buttons) button.tabIndex = button === current ? 0 : -1;
  };
  for (const table of tables) {
    for (const button of all("button.cell", table.body)) button.tabIndex = -1;
    table.body.addEventListener("focusin", (event) => {
      if (!event.target.matches("button.cell")) return;
      for (const button of all("button.cell[tabindex='0']", table.body)) button.tabIndex = -1;
      event.target.tabIndex = 0;
    });
    table.body.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || !event.target.matches("button.cell")) return;
      event.preventDefault();
      const [down, right] = step;
      let cell = event.target.closest("td");
      let row = cell.parentElement;
      const index = cell.cellIndex;
      do {
        if (down) {
          row = down > 0 ? row.nextElementSibling : row.previousElementSibling;
          cell = row?.cells[index];
        } else cell = right > 0 ? cell.nextElementSibling : cell.previousElementSibling;
      } while (cell && (row.hidden || !cell.matches("td:not([hidden], .other, .time)")));
      cell?.querySelector("button.cell").focus();
    });
    stop(table);
  }

  /* ---- Filter: every word must be in the names of a cell's row and column, or in its verdict;
     what stands in quotes must be there as whole words ---- */
  const query = $("query");
  const cells = tables.flatMap((table) => table.rows.flatMap((row) =>
    [...row.cells].slice(1).map((element, index) => ({
      element,
      counts: element.dataset.verdict !== undefined,
      text: [row.dataset.find, table.heads[index + 1].dataset.find, element.dataset.verdict].join(" "),
    }))));
  const total = cells.filter((cell) => cell.counts).length;
  const plural = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const filterTable = (table) => {
    const isOther = (row, index) => row.cells[index].classList.contains("other");
    for (const row of table.rows) {
      row.hidden = [...row.cells].slice(1).every((cell) => cell.classList.contains("other"));
    }
    const shown = table.heads.map(
      (_, index) => index === 0 || table.rows.some((row) => !isOther(row, index)));
    for (const row of [table.heads[0].parentElement, ...table.rows]) {
      shown.forEach((visible, index) => { row.cells[index].hidden = !visible; });
    }
    let start = 1;
    for (const group of all(".groups th", table.element)) {
      group.dataset.span ??= group.colSpan;
      const span = shown.slice(start, start += Number(group.dataset.span)).filter(Boolean).length;
      group.hidden = span === 0;
      group.colSpan = Math.max(span, 1);
    }
    table.section.hidden = table.rows.every((row) => row.hidden);
    document.querySelector(`[data-table="${CSS.escape(table.section.id)}"]`).hidden = table.section.hidden;
    stop(table);
  };
  const filter = () => {
    const asked = query.value.trim().toLowerCase();
    const tokens = (asked.match(/"[^"]*"|\S+/g) ?? []).map((token) => token.replaceAll('"', " "));
    const matches = (text) => tokens.every((token) => ` ${text} `.includes(token));
    for (const cell of cells) {
      cell.matches = matches(cell.text);
      cell.element.classList.toggle("other", !cell.matches);
    }
    tables.forEach(filterTable);
    for (const line of all(".compared [data-find], #runs [data-find]")) line.hidden = !matches(line.dataset.find);
    for (const paper of all(".paper")) {
      paper.hidden = all(".result", paper).every((section) => section.hidden);
      document.querySelector(`.contents a[href="#${paper.id}"]`).parentElement.hidden = paper.hidden;
    }
    const found = cells.filter((cell) => cell.counts && cell.matches).length;
    const within = tables.filter((table) => !table.section.hidden).length;
    const runs = all("#runs [data-find]");
    const shownRuns = runs.filter((line) => !line.hidden).length;
    const ofRuns = !runs.length ? "" : tokens.length
      ? `; ${shownRuns} of ${plural(runs.length, "run")}` : `; ${plural(runs.length, "run")}`;
    $("shown").textContent = (tokens.length
      ? `${found} of ${plural(total, "cell")}, in ${plural(within, "table")}`
      : `${plural(total, "cell")} in ${plural(tables.length, "table")}`) + ofRuns;
    $("asked").textContent = query.value.trim();
    $("empty").hidden = within > 0 || shownRuns > 0 || (tables.length === 0 && runs.length === 0);
    $("reset").disabled = tokens.length === 0;
  };
  const ask = (text) => {
    query.value = text;
    filter();
  };
  query.addEventListener("input", filter);
  query.addEventListener("keydown", (event) => { if (event.key === "Escape") ask(""); });
  $("search").addEventListener("submit", (event) => event.preventDefault());
  $("search").addEventListener("reset", (event) => {
    event.preventDefault();
    ask("");
    query.focus();
  });
  $("again").addEventListener("click", () => {
    ask("");
    query.focus();
  });
  for (const item of all("[data-search]")) {
    const word = item.querySelector(".word");
    const button = document.createElement("button");
    button.type = "button";
    button.title = `Show its cells only`;
    word.replaceWith(button);
    button.append(word);
    button.addEventListener("click", () => {
      ask(`"${item.dataset.search}"`);
      $("search").scrollIntoView();
      query.focus({ preventScroll: true });
    });
  }
  $("search").hidden = tables.length === 0 && all("#runs [data-find]").length === 0;
  filter();

  /* ---- Print: on paper nothing can be opened ---- */
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("main details:not([open])");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of folded) details.open = false; });
})();
