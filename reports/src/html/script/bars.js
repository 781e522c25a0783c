// Rows of bars, side by side or one after the other, and rows of dots.

drawings.bars = drawings.dots = plot => {
  const { spec, state, stage } = plot;
  const log = state.log.x, dots = spec.kind === 'dots', width = stage.clientWidth;
  const on = spec.names.map((_, at) => at).filter(at => !state.off.has(at));
  const valuesOf = row => on.map(at => [at, row.values[at]]).filter(([, value]) => value !== null && (!log || value > 0));
  const values = spec.rows.flatMap(row => {
    const own = valuesOf(row).map(([, value]) => value);
    return spec.stacked ? [own.reduce((a, b) => a + b, 0)] : own;
  });
  const height = dots || spec.stacked ? 20 : Math.max(16, 7 + on.length * 8);
  const [left, right, top] = [gutter(stage, spec.rows), width - 26, 6];
  const bottom = top + spec.rows.length * height;
  const ends = range(values, log, !dots), most = Math.max(2, (right - left) / 80);
  // Bits and counts have no parts.
  const x = scale(...ends, left, right, log, !log && values.every(Number.isInteger) ? Math.min(most, ends[1] - ends[0]) : most);
  const dotsOf = (row, y) => {
    const places = valuesOf(row).map(([at, value]) => [at, x.at(value)]);
    const ends = places.map(([, place]) => place);
    return [make('line', { class: 'span', x1: Math.min(...ends), x2: Math.max(...ends), y1: y + 10, y2: y + 10 }), ...places.map(([at, place]) => point(at, place, y + 10, 4.2))];
  };
  const barsOf = (row, y) => {
    const ground = x.at(log ? x.low : 0);
    let [sum, end] = [0, ground];
    return valuesOf(row).map(([at, value]) => {
      sum += value;
      const [from, to] = spec.stacked ? [end, x.at(sum)] : [ground, x.at(value)];
      end = to;
      const [up, size] = spec.stacked ? [y + 3, height - 6] : [y + 4 + on.indexOf(at) * 8, 7];
      return make('rect', { class: `fill ${look(at)}`, x: Math.min(from, to), width: value ? Math.max(Math.abs(to - from), 1) : 0, y: up, height: size });
    });
  };
  canvas(plot, width, bottom + 42, add => [
    ...below(spec.x, x, top, bottom),
    ...spec.rows.map((row, at) => {
      const y = top + at * height;
      const lines = spec.names.map((own, index) => [own, row.values[index]]).filter(([, value]) => value !== null && (value !== 0 || !spec.stacked));
      const text = [row.name, ...lines.map(([own, value]) => `${own}: ${written(value, spec.x)}`), row.text ?? ''].join('\n').trim();
      return add(make('g', { class: row.layer === undefined ? '' : 'link' }, make('rect', { class: 'band', x: 0, width, y, height }),
        label(left - 8, y + height / 2 + 4, cut(row.name, (left - 8) / 7.6), { 'text-anchor': 'end' }), ...valuesOf(row).length ? (dots ? dotsOf : barsOf)(row, y) : []), text, row);
    }),
  ]);
};
