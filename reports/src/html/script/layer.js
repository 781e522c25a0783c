// The panel of a layer: datapath, sums against the rails, elements, time, first events, command.

function layerPanel(index) {
  const layers = panels.layer?.layers ?? [];
  const at = layers.findIndex(layer => layer.index === index);
  const layer = layers[at];
  const name = layer ? `#${index} ${layer.name}` : nameOf(index);
  side.append(make('h2', {}, name));
  if (!layer) {
    const found = shownOf(index);
    return side.append(found.length ? list(found) : make('p', {}, 'The CSV files have the figures of this layer.'));
  }
  const step = (text, other) => make('button', { type: 'button', disabled: other ? null : '', click: () => choose('layer', other.index) }, text);
  side.append(make('div', { class: 'tools' }, step('Previous layer', layers[at - 1]), step('Next layer', layers[at + 1])),
    make('p', {}, `${layer.op}: ${layer.about}`), make('p', { class: 'note' }, layer.full),
    make('h3', {}, 'Datapath'), datapath(layer));
  if (layer.sums) layer.sums.forEach(sums => section(`Sums of ${sums.level} against its rails`, stage => rails(stage, sums)));
  else layer.bits?.forEach(bits => section(`Required bits of the sums of ${bits.level}`, stage => bitBars(stage, bits)));
  if (layer.places) section('Events per processing element', stage => elements({ stage, title: 'Events per processing element' }, layer));
  if (layer.timeline) section('Events over the cycles', stage => overTime(stage, layer.timeline));
  if (layer.events) {
    const heads = ['level', 'addition', 'direction', 'stored', 'sample', 'output', 'k', 'cycle'];
    const rows = layer.events.map(event => make('tr', {}, ...event.map(cell => make('td', {}, cell))));
    side.append(make('h3', {}, 'First events'), make('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'First events' },
      make('table', {}, make('thead', {}, make('tr', {}, ...heads.map(head => make('th', { scope: 'col' }, head)))), make('tbody', {}, ...rows))));
  }
  side.append(make('h3', {}, 'Time and traffic of one inference'), list(layer.facts));
  if (panels.layer.command) {
    const command = `${panels.layer.command} --to '${layer.full.replaceAll("'", "'\\''")}' --stats full -o layer_${index}`;
    side.append(make('h3', {}, 'Reproduce'), make('p', {}, 'Runs the network up to this layer, with all statistics:'),
      make('pre', { tabindex: 0 }, command), make('button', { type: 'button', click: event => copy(command, `layer_${index}.sh`, event.target) }, 'Copy'));
  }
}

function nameOf(index) {
  const row = plots.flatMap(({ spec }) => spec.rows ?? []).find(row => row.layer === index);
  return row ? row.name : `Layer #${index}`;
}

function section(title, draw) {
  const stage = make('div', { class: 'stage' });
  side.append(make('h3', {}, title), stage);
  draw(stage);
}

/** Returns the stages in the order of the data, with the bits that are required of those available. */
function datapath({ stages, levels }) {
  const parts = [];
  const step = (name, text, more = null) => parts.push(make('li', {}, make('strong', {}, name), make('span', {}, text), more));
  const product = stages.findIndex(stage => stage.startsWith('product'));
  stages.slice(0, product + 1).forEach(stage => step(...apart(stage)));
  for (const level of levels) {
    const needs = level.required[1] ?? level.required[0];
    const bits = Number(level.bits);
    const meter = needs === null || !bits ? null : make('meter', { min: 0, max: Math.max(bits, needs), high: bits, value: needs, 'aria-label': `${needs} of ${bits} bits required` });
    const text = [level.stage || `${level.bits} bits ${level.overflow}`, level.events === null ? '' : `${figure(level.events)} events`,
      needs === null ? '' : `requires ${level.required[0] ?? '-'} bits for final sums, ${level.required[1] ?? '-'} for prefixes`].filter(Boolean).join('; ');
    step(level.name, text, meter);
    if (level.events) parts.at(-1).classList.add('overflows');
  }
  stages.slice(product + 1).forEach(stage => step(...apart(stage)));
  return make('ol', { class: 'datapath' }, ...parts);
}

/** Splits a stage into its name and the rest. */
const apart = stage => /^(zero point|model's requantization|\S+) ?(.*)$/.exec(stage).slice(1);

/** Draws bars over an axis of numbers, with marks across it. */
function histogram(stage, title, bars, axis, marks, log) {
  const width = stage.clientWidth || 480, height = 190;
  const [left, right, top, bottom] = [52, width - 10, 16, height - 42];
  const x = scale(...axis.ends, left, right, false, Math.max(2, width / 110));
  const heights = bars.flatMap(bar => bar.counts).filter(count => count > 0);
  const y = scale(...(log ? range(heights.concat(0.5), true) : [0, Math.max(1, ...heights)]), bottom, top, log, 4);
  canvas({ stage, title }, width, height, add => [
    ...below({ label: axis.label }, x, top, bottom),
    ...y.ticks.map(value => make('g', {}, make('line', { class: 'grid', x1: left, x2: right, y1: y.at(value), y2: y.at(value) }), label(left - 5, y.at(value) + 4, tick(value, {}), { 'text-anchor': 'end' }))),
    ...bars.flatMap(bar => bar.counts.map((count, series) => count > 0 ? add(make('rect', {
      class: `fill ${look(series)} thin`, x: x.at(bar.from) + series * (x.at(bar.to) - x.at(bar.from)) / bar.counts.length,
      width: Math.max(1, (x.at(bar.to) - x.at(bar.from)) / bar.counts.length - 0.5), y: y.at(count), height: bottom - y.at(count),
    }), `${bar.text}\n${axis.series[series]}: ${figure(count)}`) : null).filter(Boolean)),
    ...marks.map(([value, text]) => make('g', {}, make('line', { class: 'fence', x1: x.at(value), x2: x.at(value), y1: top, y2: bottom }), label(x.at(value), top - 4, text, { 'text-anchor': 'middle' }))),
  ]);
  if (axis.series.length > 1) stage.append(make('p', { class: 'legend' }, ...axis.series.map((name, at) => make('span', { class: `key ${look(at)}` }, make('i', { class: 'box' }), name))));
}

function rails(stage, { low, width, rails, counts }) {
  const bins = counts[0].length - 2;
  const edge = at => low + (at - 1) * width;
  const bars = Array.from({ length: bins + 2 }, (_, at) => {
    const inside = at > 0 && at <= bins;
    const text = inside ? `${figure(edge(at))} to ${figure(edge(at + 1) - 1)}` : at ? `above ${figure(edge(at))}` : `below ${figure(low)}`;
    return { from: edge(at), to: edge(at + 1), counts: counts.map(own => own[at]), text };
  });
  const axis = { label: 'sum', ends: [edge(0), edge(bins + 2)], series: ['final sums', 'least prefixes', 'greatest prefixes'] };
  histogram(stage, 'Sums', bars, axis, [[rails[0], figure(rails[0])], [rails[1], figure(rails[1])]], true);
}

function bitBars(stage, { bits, finals, prefixes }) {
  const most = Math.max(finals.length, prefixes.length, (bits ?? 0) + 2);
  const bars = Array.from({ length: most }, (_, at) => ({ from: at - 0.5, to: at + 0.5, counts: [finals[at] ?? 0, prefixes[at] ?? 0], text: `${at} bits` }));
  const axis = { label: 'required bits', ends: [0, most], series: ['final sums', 'prefixes'] };
  histogram(stage, 'Required bits', bars, axis, bits ? [[bits + 0.5, `${bits} bits`]] : [], true);
}

function overTime(stage, { cycles, parts, tiles }) {
  const step = cycles / parts.length;
  const bars = parts.map((events, at) => ({ from: at * step, to: (at + 1) * step, counts: [events], text: `cycles ${figure(Math.ceil(at * step))} to ${figure(Math.ceil((at + 1) * step) - 1)}` }));
  const borders = tiles > 1 && tiles <= 40 ? Array.from({ length: tiles - 1 }, (_, at) => [(at + 1) * cycles / tiles, '']) : [];
  histogram(stage, 'Events over the cycles', bars, { label: 'cycle', ends: [0, Math.max(1, cycles)], series: ['events'] }, borders, false);
  if (tiles > 1) stage.append(make('p', { class: 'note' }, tiles <= 40 ? `Lines: borders of ${tiles} tiles, as if all were equally long.` : `${figure(tiles)} tiles.`));
}
