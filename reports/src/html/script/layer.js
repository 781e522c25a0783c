// The panel of a layer: datapath, sums against the rails, elements, time, first events, command.

function layerPanel(index) {
  const layers = panels.layer?.layers ?? [];
  const at = layers.findIndex(layer => layer.index === index);
  const layer = layers[at];
  const name = layer ? `#${index} ${layer.name}` : index < 0 ? 'Unknown layer' : nameOf(index);
  side.append(make('h2', {}, name));
  const found = shownOf(index);
  const link = other => make('li', {}, make('button', { type: 'button', class: 'open', click: () => choose('layer', other.index) }, `#${other.index} ${other.name}`));
  if (!layer) return side.append(found.length ? list(found) : make('p', {}, 'This report has no panel of this layer. It has panels of:'), make('ul', {}, ...layers.map(link)));
  const step = (text, other) => make('button', { type: 'button', disabled: other ? null : '', click: () => choose('layer', other.index) }, text);
  side.append(make('div', { class: 'tools' }, step('Previous layer', layers[at - 1]), step('Next layer', layers[at + 1])),
    make('p', {}, `${layer.op}: ${layer.about}`), make('p', { class: 'note' }, layer.full),
    make('h3', {}, 'Datapath'), datapath(layer));
  layer.plots.forEach(plot => section(plot.title, stage => histogram(stage, plot)));
  if (layer.places) section('Events per processing element', stage => elements({ stage, title: 'Events per processing element' }, layer));
  if (layer.events) side.append(make('h3', {}, 'First events'), framed('First events', ['level', 'addition', 'direction', 'stored', 'sample', 'output', 'k', 'cycle'], layer.events));
  side.append(make('h3', {}, 'Time and traffic of one inference'), list(layer.facts));
  if (panels.layer.command) {
    const command = `${panels.layer.command} --to '${layer.full.replaceAll("'", "'\\''")}' --stats full -o layer_${index}`;
    side.append(make('h3', {}, 'Reproduce'), make('p', {}, 'Runs the network up to this layer, with all statistics:'),
      make('pre', { tabindex: 0 }, command), make('button', { type: 'button', click: event => copy(command, `layer_${index}.sh`, event.target) }, 'Copy'));
  }
}

const nameOf = index => plots.flatMap(({ spec }) => spec.rows ?? []).find(row => row.layer === index)?.name ?? `Layer #${index}`;

function section(title, draw) {
  const stage = make('div', { class: 'stage' });
  side.append(make('h3', {}, title), stage);
  draw(stage);
}

/** Returns the stages in the order of the data, with the bits that are required of those available. */
function datapath({ stages }) {
  const stage = ({ name, text, bits, events }) => {
    const [needs, available] = bits ?? [];
    const meter = bits ? make('meter', { min: 0, max: Math.max(needs, available), high: available, value: needs, 'aria-label': `${needs} of ${available} bits required` }) : null;
    return make('li', { class: events ? 'overflows' : null }, make('strong', {}, name), make('span', {}, text), meter);
  };
  return make('ol', { class: 'datapath' }, ...stages.map(stage));
}

/** Draws counts of equal parts of an axis on a logarithmic scale, with marks across it. */
function histogram(stage, { title, label: name, low, step, counts, series, fences, open, unit, note }) {
  const width = stage.clientWidth || 480, height = 190;
  const [left, right, top, bottom] = [52, width - 10, 16, height - 42];
  const parts = counts[0].length;
  const x = scale(low, low + parts * step, left, right, false, Math.max(2, width / 110));
  const most = counts.flat().reduce((a, b) => Math.max(a, b), 1);
  const y = scale(0.5, 10 ** Math.ceil(Math.log10(most * 1.0001)), bottom, top, true, 4);
  const each = step * (x.at(1) - x.at(0)) / counts.length;
  const text = at => {
    const [from, to] = [Math.ceil(low + at * step), Math.ceil(low + (at + 1) * step) - 1].map(figure);
    return open && at === 0 ? `below ${figure(Math.ceil(low + step))}` : open && at === parts - 1 ? `from ${from} on` : from === to ? `${from} ${unit}`.trim() : `${from} to ${to}`;
  };
  const bar = (count, index, at) => make('rect', { class: `fill ${look(index)} thin`, x: x.at(low + at * step) + index * each, width: Math.max(1, each - 0.5), y: y.at(count), height: bottom - y.at(count) });
  canvas({ stage, title }, width, height, add => [
    ...below({ label: name }, x, top, bottom), ...beside({}, y, left, right),
    ...counts.flatMap((own, index) => own.map((count, at) => count > 0 ? add(bar(count, index, at), `${text(at)}\n${series[index]}: ${figure(count)}`) : null)),
    ...fences.map(([value, text]) => make('g', {}, make('line', { class: 'fence', x1: x.at(value), x2: x.at(value), y1: top, y2: bottom }), label(x.at(value), top - 4, text, { 'text-anchor': x.at(value) + 4 * text.length > width ? 'end' : 'middle' }))),
  ]);
  if (series.length > 1) stage.append(make('p', { class: 'legend' }, ...series.map((name, at) => make('span', { class: `key ${look(at)}` }, make('i', { class: 'box' }), name))));
  if (note) stage.append(make('p', { class: 'note' }, note));
}
