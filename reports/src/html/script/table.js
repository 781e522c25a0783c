// Tables: sort by a column, filter rows, show groups of columns, copy.

function table(root) {
  const tables = all('table', root);
  const heads = tables.map(own => all('thead th', own));
  const columns = heads[0].map((head, at) => ({ name: head.textContent, group: head.dataset.group, text: head.classList.contains('text'), at }));
  const rows = tables.flatMap(own => all('tbody tr', own).map((row, place) => ({ row, place, body: row.parentElement })));
  const bar = make('div', { class: 'tools' });
  root.prepend(bar);
  if (rows.length > 8) bar.append(filterBox(root, rows));
  const groups = [...new Set(columns.map(column => column.group).filter(Boolean))];
  if (groups.length > 1) bar.append(groupBoxes(groups, columns, heads, rows));
  bar.append(copyButton(() => content(columns, rows), root.dataset.name));
  heads.forEach(own => own.forEach((head, at) => {
    const button = make('button', { type: 'button', click: () => sort(columns[at], heads, rows) }, ...head.childNodes);
    head.replaceChildren(button);
  }));
}

/** Returns the text of a cell with all its digits, and its value: a number, text, or nothing. */
const full = (cell, column) => column.text ? cell.title || cell.textContent : (cell.title || cell.textContent).replaceAll(',', '');
function value(cell, column) {
  const text = full(cell, column);
  return text === '' ? null : column.text || Number.isNaN(Number(text)) ? text : Number(text);
}

const content = (columns, rows) => [columns.map(column => column.name),
  ...rows.filter(({ row }) => !row.hidden).map(({ row }) => columns.map(column => full(row.cells[column.at], column)))];

function sort(column, heads, rows) {
  // Numbers fall at first: the greatest are looked for.
  const order = column.text ? ['ascending', 'descending', null] : ['descending', 'ascending', null];
  const now = order[(order.indexOf(heads[0][column.at].getAttribute('aria-sort')) + 1) % 3];
  heads.flat().forEach(head => head.removeAttribute('aria-sort'));
  if (now) heads.forEach(own => own[column.at].setAttribute('aria-sort', now));
  const sign = now === 'descending' ? -1 : 1;
  const less = (x, y) => typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
  const compare = (a, b) => {
    const [x, y] = [a, b].map(({ row }) => now && value(row.cells[column.at], column));
    const order = x === null || y === null ? (x === null) - (y === null) : sign * less(x, y);
    return order || a.place - b.place;
  };
  for (const body of new Set(rows.map(row => row.body))) {
    body.append(...rows.filter(row => row.body === body).sort(compare).map(({ row }) => row));
  }
  say(now ? `Sorted by ${column.name}, ${now}` : 'In the order of the network');
}

/** Returns a table in a frame that scrolls. */
function framed(name, head, rows) {
  const part = tag => cell => make(tag, tag === 'th' ? { scope: 'col' } : {}, typeof cell === 'number' ? figure(cell) : String(cell ?? ''));
  return make('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': name }, make('table', {},
    make('thead', {}, make('tr', {}, ...head.map(part('th')))), make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map(part('td')))))));
}

function filterBox(root, rows) {
  const texts = rows.map(({ row }) => row.textContent.toLowerCase());
  const input = make('input', { type: 'search', placeholder: 'Filter rows', 'aria-label': 'Filter rows', input: () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach(({ row }, at) => { row.hidden = !words.every(word => texts[at].includes(word)); });
    if (words.length) all('details', root).forEach(details => { details.open = true; });
    say(`${rows.filter(({ row }) => !row.hidden).length} of ${rows.length} rows`);
  } });
  return input;
}

function groupBoxes(groups, columns, heads, rows) {
  const show = group => on => {
    for (const { at } of columns.filter(column => column.group === group)) {
      [...heads.map(own => own[at]), ...rows.map(({ row }) => row.cells[at])].forEach(cell => { cell.hidden = !on; });
    }
  };
  return make('fieldset', {}, make('legend', {}, 'Columns'), ...groups.map(group => check(group, true, show(group))));
}
