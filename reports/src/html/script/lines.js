// Lines of y over x with intervals: uPlot draws, zooms and reads values.

drawings.lines = ({ spec, state, stage, title, redraw }) => {
  const log = state.log.y;
  const xs = [...new Set(spec.series.flatMap(series => series.points.map(point => point.x)))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, at) => [x, at]));
  const column = series => {
    const own = xs.map(() => null);
    series.points.forEach(({ x, y }) => { own[place.get(x)] = log && !(y > 0) ? null : y; });
    return own;
  };
  const ink = colour('--ink'), pale = colour('--line');
  const dashes = [[], [9, 4], [4, 4], [2, 3], [12, 3, 2, 3], [6, 2], [1, 3], [9, 2, 2, 2]];
  const series = spec.series.map((own, at) => ({
    label: own.name, show: !state.off.has(at), stroke: colour(`--c${at % 8}`), width: 2, dash: dashes[at % 8],
    points: { show: true, size: 6 }, value: (_, value) => value === null ? '' : written(value, spec.y),
  }));
  const levels = (spec.marks ?? []).map(mark => ({
    label: mark.name, stroke: colour('--soft'), width: 1, dash: [6, 4], points: { show: false }, value: (_, value) => value === null ? '' : written(value, spec.y),
  }));
  const whiskers = chart => {
    const { ctx } = chart;
    ctx.save();
    spec.series.forEach((own, at) => {
      if (state.off.has(at)) return;
      ctx.strokeStyle = colour(`--c${at % 8}`);
      ctx.lineWidth = devicePixelRatio;
      for (const { x, ends } of own.points) {
        if (!ends || x < chart.scales.x.min || x > chart.scales.x.max) continue;
        const [across, low, high] = [chart.valToPos(x, 'x', true), ...ends.map(end => chart.valToPos(log ? Math.max(end, 1e-9) : end, 'y', true))];
        ctx.beginPath();
        for (const y of [low, high]) {
          ctx.moveTo(across - 3 * devicePixelRatio, y);
          ctx.lineTo(across + 3 * devicePixelRatio, y);
        }
        ctx.moveTo(across, low);
        ctx.lineTo(across, high);
        ctx.stroke();
      }
    });
    ctx.restore();
  };
  const axis = own => ({ stroke: ink, grid: { stroke: pale, width: 1 }, ticks: { stroke: pale }, label: own.label, labelSize: 22, font: '12px system-ui, sans-serif', labelFont: '13px system-ui, sans-serif' });
  const heights = spec.series.flatMap(own => own.points.flatMap(({ y, ends }) => [y, ...(ends ?? [])])).concat((spec.marks ?? []).map(mark => mark.y));
  const [low, high] = range(heights.filter(value => value !== null), log, true);
  const top = spec.y.format === 'percent' && !log ? Math.min(high, 1.02) : high;
  const options = {
    width: stage.clientWidth, height: Math.min(420, Math.max(240, stage.clientWidth * 0.55)),
    series: [{ label: spec.x.label }, ...series, ...levels],
    scales: { x: { time: false, range: (_, from, to) => from === to ? [from - 1, to + 1] : [from - (to - from) * 0.02, to + (to - from) * 0.02] }, y: { distr: log ? 3 : 1, range: [low, top] } },
    axes: [{ ...axis(spec.x), values: (_, ticks) => ticks.map(value => tick(value, spec.x)), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6] },
      { ...axis(spec.y), size: 62, values: (_, ticks) => ticks.map(value => value === null ? '' : log && Math.abs(Math.log10(value) % 1) > 1e-9 ? '' : tick(value, spec.y)) }],
    legend: { live: true, show: true },
    cursor: { drag: { x: true, y: false }, focus: { prox: 24 } },
    hooks: { draw: [whiskers], setScale: [chart => { chart.zoomed = chart.data[0].length > 1 && (chart.scales.x.min > xs[0] || chart.scales.x.max < xs.at(-1)); }] },
  };
  const chart = new uPlot(options, [xs, ...spec.series.map(column), ...(spec.marks ?? []).map(mark => xs.map(() => mark.y))], stage);
  // The legend above the plot switches series; uPlot's shows values.
  const sheet = find('.u-wrap', stage);
  Object.entries({ tabindex: 0, role: 'img', 'aria-label': `${title}. Arrow keys walk through the values; drag to zoom, double-click for the whole range.` })
    .forEach(([key, text]) => sheet.setAttribute(key, text));
  let at = -1;
  sheet.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    at = Math.max(0, Math.min(xs.length - 1, at + step));
    chart.setCursor({ left: chart.valToPos(xs[at], 'x'), top: 0 });
    const parts = chart.series.slice(1).map((own, index) => [own, chart.data[index + 1][at]]).filter(([own, value]) => own.show && value !== null);
    say(`${spec.x.label} ${figure(xs[at])}: ${parts.map(([own, value]) => `${own.label} ${written(value, spec.y)}`).join(', ')}`);
  });
  stage.chart = chart;
};
