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
  const name = `${root.dataset.name}.csv`;
  bar.append(make('button', { type: 'button', click: event => copy(csv(content(columns, rows)), name, event.target) }, 'Copy as CSV'));
  heads.forEach(own => own.forEach((head, at) => {
    const button = make('button', { type: 'button', click: () => sort(columns[at], heads, rows) }, ...head.childNodes);
    head.replaceChildren(button);
  }));
}

/** Returns a cell's value: a number with all its digits, or text. */
function value(cell, isText) {
  const full = cell.dataset.full ?? cell.textContent;
  if (isText) return full;
  const number = Number(full.replaceAll(',', ''));
  return full === '' ? null : Number.isNaN(number) ? full : number;
}

function content(columns, rows) {
  const shown = rows.filter(({ row }) => !row.hidden);
  const plain = (cell, column) => {
    const found = value(cell, column.text);
    return cell.dataset.full ?? (typeof found === 'number' ? cell.textContent.replaceAll(',', '') : found);
  };
  return [columns.map(column => column.name), ...shown.map(({ row }) => columns.map(column => plain(row.cells[column.at], column)))];
}

function sort(column, heads, rows) {
  const before = heads[0][column.at].getAttribute('aria-sort');
  // Numbers fall at first: the greatest are looked for.
  const order = column.text ? ['ascending', 'descending', null] : ['descending', 'ascending', null];
  const now = order[(order.indexOf(before) + 1) % 3];
  heads.flat().forEach(head => head.removeAttribute('aria-sort'));
  if (now) heads.forEach(own => own[column.at].setAttribute('aria-sort', now));
  const sign = now === 'descending' ? -1 : 1;
  const compare = (a, b) => {
    if (!now) return a.place - b.place;
    const [x, y] = [a, b].map(({ row }) => value(row.cells[column.at], column.text));
    if (x === null || x === '' || y === null || y === '') return (x === null || x === '') - (y === null || y === '') || a.place - b.place;
    const less = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
    return sign * less || a.place - b.place;
  };
  for (const body of new Set(rows.map(row => row.body))) {
    body.append(...rows.filter(row => row.body === body).sort(compare).map(({ row }) => row));
  }
  say(now ? `Sorted by ${column.name}, ${now}` : 'In the order of the network');
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
  const box = group => {
    const input = make('input', { type: 'checkbox', change: () => show(group, input.checked) });
    input.checked = true;
    return make('label', {}, input, group);
  };
  const show = (group, on) => {
    for (const { at } of columns.filter(column => column.group === group)) {
      heads.forEach(own => { own[at].hidden = !on; });
      rows.forEach(({ row }) => { row.cells[at].hidden = !on; });
    }
  };
  return make('fieldset', {}, make('legend', {}, 'Columns'), ...groups.map(box));
}
