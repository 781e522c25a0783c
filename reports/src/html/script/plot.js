// Frame of every plot: legend with switches, scales, values as a table. The drawing is one of `drawings`.

const drawings = {};
const plots = [];

function plot(root) {
  const spec = JSON.parse(find('script', root).textContent);
  const names = spec.series ? spec.series.map(series => series.name) : spec.names ?? [];
  const state = { off: new Set(), log: { x: spec.x?.log === true, y: spec.y?.log === true }, view: 0, zoom: null };
  const title = find('figcaption strong', root).textContent;
  const stage = make('div', { class: 'stage' });
  const bar = make('div', { class: 'tools' });
  let width = 0;
  const draw = () => {
    if (!stage.clientWidth) return;
    stage.replaceChildren();
    width = stage.clientWidth;
    drawings[spec.kind]({ spec, state, stage, title, redraw: draw });
    reset.hidden = !state.zoom;
  };
  const reset = make('button', { type: 'button', hidden: '', click: () => { state.zoom = null; draw(); } }, 'Whole range');
  const shades = spec.kind === 'heat' || spec.kind === 'places';
  if (!shades && (names.length > 1 || spec.series)) bar.append(legend(names, state, draw, spec));
  if (spec.views?.length > 1) bar.append(choice('Rows', spec.views, state.view, at => { state.view = at; draw(); }));
  if (spec.kind === 'places') bar.append(choice('Layer', placed().map(({ layer, events }) => `#${layer.index} ${layer.name}: ${figure(events)} events`), 0, at => { state.view = at; draw(); }));
  for (const axis of ['x', 'y']) {
    if (typeof spec[axis]?.log === 'boolean') bar.append(logSwitch(axis, spec, state, draw));
  }
  bar.append(reset);
  find('figcaption', root).after(bar, stage);
  if (spec.kind !== 'places') root.append(values(spec, title));
  plots.push({ root, draw, spec });
  // Drawing changes heights: never within the observer, which would loop.
  const redraw = () => { if (stage.clientWidth !== width) draw(); };
  new ResizeObserver(() => { if (width) later(redraw); }).observe(stage);
}

/** Draws the plots that the window shows, and the others one after the other, so that the page answers meanwhile. */
const drawAll = () => plots.forEach(({ root, draw }) => {
  if (root.getBoundingClientRect().top < innerHeight + 400) draw();
  else later(draw);
});
const later = draw => (globalThis.requestIdleCallback ?? setTimeout)(draw, { timeout: 2000 });

/** Classes of a series: colour, and shape of its points. */
const look = at => `s${at % 8}`;

function legend(names, state, draw, spec) {
  const press = at => ({ currentTarget }) => {
    const on = state.off.delete(at);
    if (!on) state.off.add(at);
    currentTarget.setAttribute('aria-pressed', String(on));
    draw();
  };
  const buttons = names.map((name, at) => make('button', { type: 'button', class: `key ${look(at)}`, 'aria-pressed': 'true', click: press(at) }, swatch(at, spec), name));
  const marks = (spec.marks ?? []).map(mark => make('span', { class: 'key' }, make('i', { class: 'dash' }), mark.name));
  return make('div', { class: 'legend', role: 'group', 'aria-label': 'Series' }, ...buttons, ...marks);
}

function swatch(at, spec) {
  if (spec.kind === 'bars') return make('i', { class: 'box' });
  if (spec.kind === 'lines') return make('svg', { width: 26, height: 12, 'aria-hidden': 'true' }, make('line', { class: `stroke ${look(at)}`, x1: 0, x2: 26, y1: 6, y2: 6, 'stroke-dasharray': DASHES[at % 8].join(' ') }));
  return make('svg', { width: 14, height: 12, viewBox: '-7 -6 14 12', 'aria-hidden': 'true' }, point(at, 0, 0, 4.5));
}

function choice(label, names, at, change) {
  const select = make('select', { 'aria-label': label, change: () => change(select.selectedIndex) }, ...names.map(name => make('option', {}, name)));
  select.selectedIndex = at;
  return select;
}

function logSwitch(axis, spec, state, draw) {
  const name = spec.kind === 'heat' ? 'shades' : spec.kind === 'scatter' ? `${axis} axis` : 'axis';
  return check(`logarithmic ${name}`, state.log[axis], on => { state.log[axis] = on; state.zoom = null; draw(); });
}

/** Returns the rows of the table of a plot's values. */
function cells(spec) {
  const head = spec.series ? ['series', spec.x.label, spec.y.label, 'from', 'to', 'what'] : ['rows', 'row', ...spec.names];
  const rows = spec.series
    ? spec.series.flatMap(({ name, points }) => points.map(({ x, y, ends, text }) => [name, x, y, ...(ends ?? ['', '']), text ?? '']))
    : spec.rows.map(row => [spec.views?.[row.view ?? 0] ?? '', row.name, ...row.values]);
  const used = head.map((_, at) => rows.some(row => row[at] !== ''));
  return [head, ...rows].map(row => row.filter((_, at) => used[at]));
}

/** Returns the values of a plot as a table, made when it is opened. */
function values(spec, title) {
  const details = make('details', { class: 'values', toggle: () => {
    if (!details.open || find('table', details)) return;
    const [head, ...rows] = cells(spec);
    const shown = rows.slice(0, 500);
    details.append(make('div', { class: 'tools' }, copyButton(() => [head, ...rows], title)), framed(`Values: ${title}`, head, shown));
    if (rows.length > shown.length) details.append(make('p', { class: 'note' }, `The first ${shown.length} of ${figure(rows.length)} rows; the copy has all.`));
  } }, make('summary', {}, 'Values'));
  return details;
}

/** Returns a marker whose shape and colour belong to a series. */
function point(at, x, y, size) {
  const [a, b] = [size * 0.9, size * 1.15];
  const shapes = [
    `M${-size},0A${size},${size} 0 1 1 ${size},0A${size},${size} 0 1 1 ${-size},0Z`,
    `M${-a},${-a}H${a}V${a}H${-a}Z`,
    `M0,${-b}L${b},${a}H${-b}Z`,
    `M0,${-b}L${b},0L0,${b}L${-b},0Z`,
    `M${-a},${-a}L${a},${a}M${-a},${a}L${a},${-a}`,
    `M0,${-b}V${b}M${-b},0H${b}`,
  ];
  return make('path', { class: `point ${look(at)}`, d: shapes[at % 6], transform: `translate(${x},${y})` });
}

/** Returns the drawing area of a plot, with marks that answer to the pointer and to arrow keys. */
function canvas({ stage, title }, width, height, content) {
  const marks = [];
  const sheet = make('svg', { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: 'img', 'aria-label': `${title}. Arrow keys walk through the values.` });
  const add = (node, text, subject = {}) => {
    node.dataset.at = marks.length;
    for (const kind of ['layer', 'design']) {
      if (subject[kind] !== undefined) {
        node.dataset[`of${kind}`] = subject[kind];
        if (isChosen(kind, subject[kind])) node.classList.add('chosen');
      }
    }
    marks.push({ node, text, subject });
    return node;
  };
  sheet.append(...present(content(add)));
  const mark = event => marks[event.target.closest?.('[data-at]')?.dataset.at];
  const follow = found => {
    if (found?.subject.layer !== undefined) choose('layer', found.subject.layer);
    if (found?.subject.design !== undefined) choose('design', found.subject.design);
  };
  let current = -1;
  const walk = step => {
    marks[current]?.node.classList.remove('current');
    current = (current + step + marks.length) % marks.length;
    const { node, text } = marks[current];
    node.classList.add('current');
    const { left, bottom } = node.getBoundingClientRect();
    tip(text, left, bottom);
    say(text);
  };
  sheet.addEventListener('pointermove', event => tip(mark(event)?.text, event.clientX, event.clientY));
  sheet.addEventListener('pointerleave', () => tip());
  sheet.addEventListener('blur', () => { marks[current]?.node.classList.remove('current'); tip(); });
  sheet.addEventListener('click', event => follow(mark(event)));
  sheet.addEventListener('keydown', event => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (!marks.length || !(event.key in steps || event.key === 'Enter')) return;
    event.preventDefault();
    if (event.key === 'Enter') follow(marks[current]);
    else walk(current < 0 ? (steps[event.key] > 0 ? 1 : 0) : steps[event.key]);
  });
  stage.append(sheet);
  return sheet;
}

const label = (x, y, text, more = {}) => make('text', { x, y, ...more }, text);

/** Returns text cut to a number of characters. */
const cut = (text, most) => text.length > most ? text.slice(0, Math.floor(most) - 1) + '…' : text;

/** Returns the width of the names of rows. */
const gutter = (stage, rows) => Math.min(stage.clientWidth * 0.42, 16 + 7.6 * rows.reduce((most, row) => Math.max(most, row.name.length), 4));

/** Returns the grid and numbers of an axis beside the drawing. */
const beside = (axis, y, left, right) => y.ticks.map(value => make('g', {}, make('line', { class: 'grid', x1: left, x2: right, y1: y.at(value), y2: y.at(value) }),
  label(left - 6, y.at(value) + 4, tick(value, axis), { 'text-anchor': 'end' })));

/** Returns an axis below the drawing, with its grid. */
function below(axis, x, top, bottom) {
  const ticks = x.ticks.map(value => make('g', {}, make('line', { class: 'grid', x1: x.at(value), x2: x.at(value), y1: top, y2: bottom }),
    label(x.at(value), bottom + 16, tick(value, axis), { 'text-anchor': 'middle' })));
  return [...ticks, label((x.at(x.low) + x.at(x.high)) / 2, bottom + 34, axis.label, { 'text-anchor': 'middle', class: 'name' })];
}
