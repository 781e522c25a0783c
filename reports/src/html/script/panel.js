// The panel at the side: one layer, or one design. What is chosen is highlighted in every plot and table.

const panels = { layer: null, design: null };
const side = make('aside', { id: 'panel', hidden: '', tabindex: -1, 'aria-label': 'Details' });
let opener = null;

/** Chooses a layer or a design. */
function choose(kind, index) {
  opener = side.hidden ? document.activeElement : opener;
  Object.assign(chosen, { kind, index });
  highlight(chosen);
  const fill = { layer: layerPanel, design: designPanel }[kind];
  side.replaceChildren(make('button', { type: 'button', class: 'close', 'aria-label': 'Close', click: close }, '×'));
  side.hidden = false;
  document.body.classList.add('open');
  fill(index);
  side.scrollTop = 0;
  side.focus({ preventScroll: true });
  history.replaceState(null, '', `#${kind}=${index}`);
}

function close() {
  Object.assign(chosen, { kind: '', index: -1 });
  highlight(chosen);
  side.hidden = true;
  document.body.classList.remove('open');
  history.replaceState(null, '', location.pathname);
  opener?.focus?.({ preventScroll: true });
}

function highlight({ kind, index }) {
  all('.chosen').forEach(element => element.classList.remove('chosen'));
  if (index < 0) return;
  all(`[data-of${kind}="${index}"]`).forEach(element => element.classList.add('chosen'));
  all(`[data-${kind}="${index}"]`).forEach(element => (element.closest('tr') ?? element).classList.add('chosen'));
}

/** Makes the names of layers and designs open their panels. */
function links(kind) {
  all(`[data-${kind}]`).forEach(element => {
    const index = Number(element.dataset[kind]);
    const button = make('button', { type: 'button', class: 'open', click: () => choose(kind, index) }, ...element.childNodes);
    element.replaceChildren(button);
  });
}

/** Returns a list of names and values. */
const list = pairs => make('dl', {}, ...pairs.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));

/** Returns the values that the plots of the page show of a layer. */
const shownOf = index => plots.flatMap(({ spec, root }) => (spec.rows ?? []).filter(row => row.layer === index).map(row => {
  const view = spec.views?.length > 1 ? `, ${spec.views[row.view ?? 0]}` : '';
  const parts = present(row.values.map((value, at) => value === null ? null : `${spec.names[at]}: ${written(value, spec.x)}`));
  return [find('figcaption strong', root).textContent + view, parts.join(', ')];
})).filter(([, text]) => text);

function designPanel(number) {
  const { keys, designs } = panels.design;
  const design = designs.find(design => design.number === number);
  side.append(make('h2', {}, `Design ${number}`));
  if (!design) return side.append(make('p', {}, 'points.csv has this design.'));
  side.append(make('p', {}, design.about), make('h3', {}, 'Settings'), list(keys.map((key, at) => [key, design.settings[at] || '-'])));
  const sets = keys.map((key, at) => design.settings[at] ? ` --set ${key}=${design.settings[at]}` : '').join('');
  if (sets) side.append(make('pre', { tabindex: 0 }, sets.trim()));
  side.append(make('h3', {}, 'Figures'), list(design.facts));
  if (design.warnings.length) side.append(make('h3', {}, 'Warnings'), make('ul', {}, ...design.warnings.map(text => make('li', {}, text))));
}
