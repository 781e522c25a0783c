// Tables of shaded cells, and events per processing element.

/** Returns the shade of a value, 0 to 1. */
function shade(low, high, log) {
  if (!log) return value => high === low ? 1 : 0.12 + 0.88 * (value - low) / (high - low);
  const [a, b] = [Math.log10(low), Math.log10(high)];
  return value => value <= 0 ? 0 : b === a ? 1 : 0.12 + 0.88 * (Math.log10(value) - a) / (b - a);
}

drawings.heat = plot => {
  const { spec, state, stage } = plot;
  const rows = spec.rows.filter(row => (row.view ?? 0) === state.view || !(spec.views?.length > 1));
  const width = stage.clientWidth;
  const left = Math.min(230, Math.max(96, width * 0.28)), right = width - 12;
  const size = (right - left) / spec.names.length, high = 18, top = 34;
  const bottom = top + rows.length * high;
  const used = rows.flatMap(row => row.values).filter(value => value !== null && (!state.log.x || value > 0));
  const depth = shade(Math.min(...used), Math.max(...used), state.log.x);
  const every = Math.max(1, Math.ceil(30 / size));
  canvas(plot, width, bottom + 8, add => [
    label((left + right) / 2, 12, spec.y.label, { 'text-anchor': 'middle', class: 'name' }),
    ...spec.names.map((name, at) => at % every ? null : label(left + (at + 0.5) * size, top - 6, name, { 'text-anchor': 'middle' })).filter(Boolean),
    ...rows.flatMap((row, at) => {
      const y = top + at * high;
      const name = add(make('g', { class: row.layer === undefined ? '' : 'link' }, make('rect', { class: 'band', x: 0, width, y, height: high }),
        label(left - 8, y + 13, cut(row.name, Math.floor((left - 8) / 7.4)), { 'text-anchor': 'end' })), row.name, row);
      const cells = row.values.map((value, column) => value === null ? null : add(make('rect', {
        class: 'cell', x: left + column * size, y: y + 1, width: Math.max(1, size - 1), height: high - 2, 'fill-opacity': depth(value).toFixed(3),
      }), `${row.name}\n${spec.y.label}: ${spec.names[column]}\n${spec.x.label}: ${written(value, spec.x)}`, row)).filter(Boolean);
      const fence = row.fence === undefined ? [] : [make('line', { class: 'fence', x1: left + row.fence * size, x2: left + row.fence * size, y1: y, y2: y + high })];
      return [name, ...cells, ...fence];
    }),
  ]);
};

/** Returns the layers that have a map of elements, those with the most events first. */
const placed = () => (panels.layer?.layers ?? []).filter(layer => layer.places)
  .map(layer => ({ layer, events: layer.places.filled.reduce((sum, [, events]) => sum + events, 0) }))
  .sort((a, b) => b.events - a.events);

function layerChoice(state, draw) {
  return choice('Layer', placed().map(({ layer, events }) => `#${layer.index} ${layer.name}: ${figure(events)} events`), 0, at => { state.view = at; draw(); });
}

drawings.places = plot => {
  const layer = placed()[plot.state.view]?.layer;
  if (layer) elements(plot, layer);
};

/** Draws the elements of a layer. */
function elements(plot, { places }) {
  const { stage } = plot;
  const width = Math.min(stage.clientWidth, 560);
  const [left, top] = [36, 20];
  const size = Math.min(26, (width - left - 8) / places.cols);
  const counts = places.filled.map(([, events]) => events);
  const depth = shade(0, Math.max(...counts), false);
  const [down, across] = places.cell;
  const range = (at, step) => step === 1 ? `${at}` : `${at * step} to ${at * step + step - 1}`;
  canvas(plot, width, top + places.rows * size + 8, add => [
    label(left + places.cols * size / 2, 12, `columns 0 to ${places.cols * across - 1}`, { 'text-anchor': 'middle' }),
    label(14, top + places.rows * size / 2, 'rows', { 'text-anchor': 'middle', transform: `rotate(-90 14 ${top + places.rows * size / 2})` }),
    make('rect', { class: 'array', x: left, y: top, width: places.cols * size, height: places.rows * size }),
    ...places.filled.map(([at, events]) => {
      const [row, column] = [Math.floor(at / places.cols), at % places.cols];
      return add(make('rect', { class: 'cell', x: left + column * size, y: top + row * size, width: Math.max(1, size - 0.5), height: Math.max(1, size - 0.5), 'fill-opacity': depth(events).toFixed(3) }),
        `row ${range(row, down)}, column ${range(column, across)}\nevents: ${figure(events)}`);
    }),
  ]);
}
