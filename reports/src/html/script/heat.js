// Tables of shaded cells with the scale of their shades, and events per processing element.

/** Returns the shade of a value, 0 to 1. */
function shade(low, high, log) {
  const of = log ? Math.log10 : value => value;
  return value => log && value <= 0 ? 0 : high === low ? 1 : 0.12 + 0.88 * (of(value) - of(low)) / (of(high) - of(low));
}

/** Returns the scale below a table: its ends, the shades between them, and what they show. */
function shades(low, high, log, axis, left, y) {
  const steps = low === high ? [1] : [0, 0.2, 0.4, 0.6, 0.8, 1];
  const value = part => log ? low * (high / low) ** part : low + (high - low) * part;
  const start = left + 8 + 7.5 * tick(low, axis).length;
  return [label(left, y + 10, tick(low, axis)),
    ...steps.map((part, at) => make('rect', { class: 'cell', x: start + at * 20, y, width: 20, height: 12, 'fill-opacity': shade(low, high, log)(value(part)).toFixed(3) })),
    low === high ? null : label(start + steps.length * 20 + 6, y + 10, tick(high, axis)),
    label(left, y + 28, axis.label, { class: 'name' })];
}

drawings.heat = plot => {
  const { spec, state, stage } = plot;
  const rows = spec.views?.length > 1 ? spec.rows.filter(row => (row.view ?? 0) === state.view) : spec.rows;
  const left = gutter(stage, rows), width = stage.clientWidth, log = state.log.x;
  const size = Math.min((width - 12 - left) / spec.names.length, spec.square ? 26 : 220), high = spec.square ? Math.max(4, size) : 18, top = 34;
  const bottom = top + rows.length * high;
  const used = rows.flatMap(row => row.values).filter(value => value !== null && (!log || value > 0));
  const [low, most] = used.length ? [used.reduce((a, b) => Math.min(a, b)), used.reduce((a, b) => Math.max(a, b))] : [0, 0];
  const depth = shade(low, most, log);
  const every = step => Math.max(1, Math.ceil(step));
  canvas(plot, width, bottom + 46, add => [
    label(left + spec.names.length * size / 2, 12, spec.y.label, { 'text-anchor': 'middle', class: 'name' }),
    ...spec.names.map((name, at) => at % every(8 * Math.max(...spec.names.map(own => own.length), 3) / size) ? null : label(left + (at + 0.5) * size, top - 6, name, { 'text-anchor': 'middle' })),
    ...rows.flatMap((row, at) => {
      const y = top + at * high;
      const name = at % every(14 / high) ? null : add(make('g', { class: row.layer === undefined ? '' : 'link' }, make('rect', { class: 'band', x: 0, width, y, height: high }),
        label(left - 8, y + high / 2 + 4, cut(row.name, (left - 8) / 7.6), { 'text-anchor': 'end' })), row.name, row);
      const cells = row.values.map((value, column) => value === null ? null : add(make('rect', {
        class: 'cell', x: left + column * size, y: y + 0.5, width: Math.max(1, size - 1), height: high - 1, 'fill-opacity': depth(value).toFixed(3),
      }), `${row.name}\n${spec.y.label}: ${spec.names[column]}\n${spec.x.label}: ${written(value, spec.x)}`, row));
      const fence = row.fence === undefined ? null : make('line', { class: 'fence', x1: left + row.fence * size, x2: left + row.fence * size, y1: y, y2: y + high });
      return [name, ...cells, fence];
    }),
    ...used.length ? shades(low, most, log, spec.x, left, bottom + 8) : [],
  ]);
};

/** Returns the layers that have a map of elements, those with the most events first. */
const placed = () => (panels.layer?.layers ?? []).filter(layer => layer.places)
  .map(layer => ({ layer, events: layer.places.filled.reduce((sum, [, events]) => sum + events, 0) }))
  .sort((a, b) => b.events - a.events);

drawings.places = plot => {
  const layer = placed()[plot.state.view]?.layer;
  if (layer) elements(plot, layer);
};

/** Draws the elements of a layer as a table. */
function elements(plot, { places: { rows, cols, cell, filled } }) {
  const range = (at, step) => step === 1 ? `${at}` : `${at * step} to ${at * step + step - 1}`;
  const list = Array.from({ length: rows }, (_, at) => ({ name: `row ${range(at, cell[0])}`, values: Array(cols).fill(null) }));
  filled.forEach(([at, events]) => { list[Math.floor(at / cols)].values[at % cols] = events; });
  const names = Array.from({ length: cols }, (_, at) => range(at, cell[1]));
  drawings.heat({ ...plot, state: { log: {} }, spec: { kind: 'heat', square: true, x: { label: 'events' }, y: { label: 'column' }, names, rows: list } });
}
