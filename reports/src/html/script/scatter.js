// Points with intervals and lines; a drag zooms.

drawings.scatter = plot => {
  const { spec, state, stage, redraw } = plot;
  const width = stage.clientWidth, height = Math.min(460, Math.max(280, width * 0.6));
  const [left, right, top, bottom] = [64, width - 14, 12, height - 44];
  const shown = spec.series.map((series, at) => ({ series, at })).filter(({ at }) => !state.off.has(at));
  const points = shown.flatMap(({ series, at }) => series.points.map(own => ({ ...own, at, name: series.name })));
  const lines = (spec.marks ?? []).filter(mark => mark.line).map(mark => mark.line);
  const usable = own => (!state.log.x || own.x > 0) && own.y !== null && (!state.log.y || own.y > 0);
  const ends = (axis, values) => state.zoom?.[axis] ?? range(values, state.log[axis], false);
  const [lowX, highX] = ends('x', points.map(own => own.x).concat(lines.flat().map(([x]) => x)));
  const [lowY, highY] = ends('y', points.flatMap(own => [own.y, ...(own.ends ?? [])]).concat(lines.flat().map(([, y]) => y)));
  const x = scale(lowX, highX, left, right, state.log.x, Math.max(2, width / 90));
  const y = scale(lowY, highY, bottom, top, state.log.y, 6);
  const inside = own => usable(own) && own.x >= lowX && own.x <= highX && own.y >= lowY && own.y <= highY;
  const clip = value => Math.max(top - 20, Math.min(bottom + 20, value));
  const sheet = canvas(plot, width, height, add => [
    ...below(spec.x, x, top, bottom),
    ...beside(spec.y, y, left, right),
    label(14, (top + bottom) / 2, spec.y.label, { class: 'name', 'text-anchor': 'middle', transform: `rotate(-90 14 ${(top + bottom) / 2})` }),
    ...lines.map(line => make('path', { class: 'roof', d: 'M' + line.map(([a, b]) => `${x.at(a)},${clip(y.at(b))}`).join('L') })),
    ...points.filter(inside).map(own => {
      const mark = make('g', {});
      if (own.ends) mark.append(make('line', { class: `whisker ${look(own.at)}`, x1: x.at(own.x), x2: x.at(own.x), y1: clip(y.at(own.ends[0])), y2: clip(y.at(own.ends[1])) }));
      mark.append(point(own.at, x.at(own.x), y.at(own.y), 5));
      const between = own.ends ? ` (${written(own.ends[0], spec.y)} to ${written(own.ends[1], spec.y)})` : '';
      const text = `${own.text ?? ''}\n${own.name}\n${spec.x.label}: ${written(own.x, spec.x)}\n${spec.y.label}: ${written(own.y, spec.y)}${between}`;
      return add(mark, text.trim(), own);
    }),
  ]);
  let start = null;
  const frame = make('rect', { class: 'frame', visibility: 'hidden' });
  sheet.append(frame);
  const corner = event => {
    const box = sheet.getBoundingClientRect();
    return [[event.clientX - box.left, left, right], [event.clientY - box.top, top, bottom]].map(([value, a, b]) => Math.max(a, Math.min(b, value)));
  };
  const dragged = event => corner(event).map((end, axis) => [Math.min(start[axis], end), Math.max(start[axis], end)]);
  sheet.addEventListener('pointerdown', event => { if (event.pointerType === 'mouse') start = corner(event); });
  sheet.addEventListener('pointermove', event => {
    if (!start) return;
    const [[x1, x2], [y1, y2]] = dragged(event);
    Object.entries({ x: x1, y: y1, width: x2 - x1, height: y2 - y1, visibility: 'visible' }).forEach(([key, value]) => frame.setAttribute(key, value));
  });
  sheet.addEventListener('pointerup', event => {
    if (!start) return;
    const [[x1, x2], [y1, y2]] = dragged(event);
    start = null;
    frame.setAttribute('visibility', 'hidden');
    if (x2 - x1 < 8 || y2 - y1 < 8) return;
    state.zoom = { x: [x1, x2].map(x.back), y: [y2, y1].map(y.back) };
    redraw();
  });
  sheet.addEventListener('dblclick', () => { state.zoom = null; redraw(); });
};
