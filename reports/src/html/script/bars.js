// Rows of bars, side by side or one after the other, and rows of dots.

function rowsOf(plot, drawRow, rowHeight, values) {
  const { spec, state, stage } = plot;
  const width = stage.clientWidth;
  const left = Math.min(230, Math.max(96, width * 0.28)), right = width - 26;
  const letters = Math.floor((left - 8) / 7.4);
  const top = 6, bottom = top + spec.rows.length * rowHeight;
  const log = state.log.x;
  const [low, high] = log ? range(values, true) : range(values, false, spec.kind === 'bars');
  const x = scale(log ? low : spec.kind === 'bars' ? Math.min(0, low) : low, high, left, right, log, Math.max(2, (right - left) / 80));
  canvas(plot, width, bottom + 42, add => [
    ...below(spec.x, x, top, bottom),
    ...spec.rows.flatMap((row, at) => {
      const y = top + at * rowHeight;
      const name = label(left - 8, y + rowHeight / 2 + 4, cut(row.name, letters), { 'text-anchor': 'end' });
      const band = make('rect', { class: 'band', x: 0, width, y, height: rowHeight });
      const lines = spec.names.map((own, index) => [own, row.values[index]]).filter(([, value]) => value !== null && value !== undefined && (value !== 0 || !spec.stacked));
      const text = [row.name, ...lines.map(([own, value]) => `${own}: ${written(value, spec.x)}`), row.text ?? ''].join('\n').trim();
      const mark = make('g', { class: row.layer === undefined ? '' : 'link' }, band, name, ...drawRow(row, y, x));
      return add(mark, text, row);
    }),
  ]);
}

drawings.bars = plot => {
  const { spec, state } = plot;
  const on = spec.names.map((_, at) => at).filter(at => !state.off.has(at));
  const values = spec.rows.flatMap(row => {
    const own = on.map(at => row.values[at] ?? 0);
    return spec.stacked ? [own.reduce((a, b) => a + b, 0)] : own;
  });
  const height = spec.stacked ? 19 : 7 + Math.max(1, on.length) * 8;
  rowsOf(plot, (row, y, x) => {
    const ground = x.at(Math.max(x.low, state.log.x ? x.low : 0));
    let end = ground;
    let sum = 0;
    return on.map((at, place) => {
      const value = row.values[at] ?? 0;
      if (state.log.x && value <= 0) return null;
      sum += value;
      const [from, to] = spec.stacked ? [end, x.at(sum)] : [ground, x.at(value)];
      end = to;
      const [a, b] = [Math.min(from, to), Math.abs(to - from)];
      const [up, size] = spec.stacked ? [y + 3, height - 6] : [y + 4 + place * 8, 7];
      return make('rect', { class: `fill ${look(at)}`, x: a, width: value ? Math.max(b, 1) : 0, y: up, height: size });
    }).filter(Boolean);
  }, Math.max(16, height), values);
};

drawings.dots = plot => {
  const { spec, state } = plot;
  const on = spec.names.map((_, at) => at).filter(at => !state.off.has(at));
  rowsOf(plot, (row, y, x) => {
    const places = on.map(at => row.values[at]).filter(value => value !== null);
    const middle = y + 10;
    const span = places.length ? [make('line', { class: 'span', x1: x.at(Math.min(...places)), x2: x.at(Math.max(...places)), y1: middle, y2: middle })] : [];
    return [...span, ...on.filter(at => row.values[at] !== null).map(at => point(at, x.at(row.values[at]), middle, 4.2))];
  }, 20, spec.rows.flatMap(row => on.map(at => row.values[at])));
};
