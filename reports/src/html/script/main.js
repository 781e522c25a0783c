// Starts everything: tables, plots, panels, the switch of the scheme, contents, print.

function schemes() {
  const root = document.documentElement;
  const dark = () => (root.dataset.scheme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const button = make('button', { type: 'button', class: 'scheme', click: () => {
    root.dataset.scheme = dark() ? 'light' : 'dark';
    shown();
  } });
  // Canvases do not follow styles by themselves.
  const shown = () => {
    button.textContent = dark() ? 'Light' : 'Dark';
    plots.filter(({ spec, root }) => spec.kind === 'lines' && find('canvas', root)).forEach(({ draw }) => draw());
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', shown);
  find('#top').append(button);
  shown();
}

/** Marks the section that is read. */
function contents() {
  const links = new Map(all('nav a').map(link => [link.getAttribute('href').slice(1), link]));
  const seen = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      links.forEach(link => link.removeAttribute('aria-current'));
      links.get(target.id || 'main')?.setAttribute('aria-current', 'true');
    }
  }, { rootMargin: '-5% 0px -70% 0px' });
  all('.answer, main > section[id]').forEach(section => seen.observe(section));
}

function printing() {
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('main details:not([open], .values)');
    closed.forEach(details => { details.open = true; });
    plots.forEach(({ draw }) => draw());
  });
  addEventListener('afterprint', () => closed.forEach(details => { details.open = false; }));
}

document.body.append(probe, voice, bubble, side);
document.documentElement.classList.add('script');
Object.assign(panels, { layer: read('layers-data'), design: read('designs-data') });
all('.tables').forEach(table);
all('figure.plot').forEach(plot);
drawAll();
['layer', 'design'].forEach(kind => links(kind));
schemes();
contents();
printing();
addEventListener('keydown', event => { if (event.key === 'Escape' && !side.hidden) close(); });
const [, kind, which] = /^#(layer|design)=(.+)$/.exec(location.hash) ?? [];
const named = (panels.layer?.layers ?? []).find(({ name }) => name === which);
if (kind) choose(kind, named?.index ?? (/^\d+$/.test(which) ? Number(which) : -1));
