// Lines of y over x with intervals: uPlot draws and zooms.

const DASHES = [[], [9, 4], [4, 4], [2, 3], [12, 3, 2, 3], [6, 2], [1, 3], [9, 2, 2, 2]];

drawings.lines = ({ spec, state, stage, title }) => {
  const log = state.log.y;
  const marks = spec.marks ?? [];
  const xs = [...new Set(spec.series.flatMap(series => series.points.map(point => point.x)))].sort((a, b) => a - b);
  const column = ({ points }) => {
    const own = new Map(points.map(({ x, y }) => [x, log && !(y > 0) ? null : y]));
    return xs.map(x => own.get(x) ?? null);
  };
  const series = spec.series.map((own, at) => ({
    label: own.name, show: !state.off.has(at), stroke: colour(`--c${at % 8}`), width: 2, dash: DASHES[at % 8], points: { show: true, size: 6 },
  }));
  const levels = marks.map(mark => ({ label: mark.name, stroke: colour('--soft'), width: 1, dash: [6, 4], points: { show: false } }));
  const whiskers = chart => {
    const { ctx } = chart, cap = 3 * devicePixelRatio;
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineWidth = devicePixelRatio;
    spec.series.filter((_, at) => !state.off.has(at)).forEach(own => {
      ctx.strokeStyle = colour(`--c${spec.series.indexOf(own) % 8}`);
      ctx.beginPath();
      for (const { x, ends } of own.points) {
        if (!ends || x < chart.scales.x.min || x > chart.scales.x.max) continue;
        const [across, low, high] = [chart.valToPos(x, 'x', true), ...ends.map(end => chart.valToPos(log ? Math.max(end, 1e-9) : end, 'y', true))];
        [[across - cap, low], [across + cap, low], [across, low], [across, high], [across - cap, high], [across + cap, high]]
          .forEach(([a, b], step) => ctx[step % 2 ? 'lineTo' : 'moveTo'](a, b));
      }
      ctx.stroke();
    });
    ctx.restore();
  };
  const heights = spec.series.flatMap(own => own.points.flatMap(({ y, ends }) => [y, ...(ends ?? [])])).concat(marks.map(mark => mark.y)).filter(value => value !== null);
  const percent = spec.y.format === 'percent' && !log;
  // Shares fill the plot; other values start at 0.
  let [low, high] = range(heights, log, !percent);
  if (percent) [low, high] = [low < high * 0.2 ? 0 : low, Math.min(high, 1.02)];
  const axis = own => ({ stroke: colour('--ink'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') }, label: own.label, labelSize: 22, font: '12px system-ui, sans-serif', labelFont: '13px system-ui, sans-serif' });
  const cut = percent && low > 0 ? `, from ${figure(Math.round(low * 100))} %` : '';
  const told = at => [`${spec.x.label}: ${figure(xs[at])}`, ...chart.series.slice(1).flatMap((own, index) => {
    const value = chart.data[index + 1][at], ends = spec.series[index]?.points.find(({ x }) => x === xs[at])?.ends;
    return own.show && value !== null ? `${own.label}: ${written(value, spec.y)}${ends ? ` (${ends.map(end => written(end, spec.y)).join(' to ')})` : ''}` : [];
  })];
  const follow = ({ cursor: { idx, left, top }, over }) => {
    const box = over.getBoundingClientRect();
    tip(left >= 0 && xs[idx] !== undefined ? told(idx).join('\n') : '', box.left + left, box.top + Math.max(0, top));
  };
  const chart = new uPlot({
    width: stage.clientWidth, height: Math.min(420, Math.max(240, stage.clientWidth * 0.55)),
    series: [{ label: spec.x.label }, ...series, ...levels],
    scales: { x: { time: false, range: (_, from, to) => from === to ? [from - 1, to + 1] : [from - (to - from) * 0.02, to + (to - from) * 0.02] }, y: { distr: log ? 3 : 1, range: [low, high] } },
    axes: [{ ...axis(spec.x), size: 32, values: (_, ticks) => ticks.map(value => tick(value, spec.x)), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6] },
      { ...axis({ label: spec.y.label + cut }), size: 62, values: (_, ticks) => ticks.map(value => value === null || log && Math.abs(Math.log10(value) % 1) > 1e-9 ? '' : tick(value, spec.y)) }],
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, focus: { prox: 24 } },
    hooks: { draw: [whiskers], setCursor: [follow] },
  }, [xs, ...spec.series.map(column), ...marks.map(mark => xs.map(() => mark.y))], stage);
  const sheet = find('.u-wrap', stage);
  Object.entries({ tabindex: 0, role: 'img', 'aria-label': `${title}. Arrow keys walk through the values; drag to zoom, double-click for the whole range.` })
    .forEach(([key, text]) => sheet.setAttribute(key, text));
  let at = -1;
  sheet.addEventListener('blur', () => tip());
  sheet.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    at = Math.max(0, Math.min(xs.length - 1, at + step));
    chart.setCursor({ left: chart.valToPos(xs[at], 'x'), top: 0 });
    say(told(at).join(', '));
  });
};
